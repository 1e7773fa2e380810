#include "cli/agent_report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/json.h"
#include "base/write.h"
#include "cli/cli.h"

#define MARK "sandbash-report: "
#define ENTRIES 20 /* of what was refused: a model reads them all */

static int check(const struct sb_command_line *line, const struct sb_policy *policy,
		 struct sb_error *err)
{
	int flags;

	if (!sb_is_supervised(line) || sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "cannot report what is refused: that takes a supervised run");
	if (line->agent_fd == STDERR_FILENO && line->keep_background)
		return sb_fail(err, SB_E_INVALID, 0,
			       "--agent-report is the last line, and --keep-background may write "
			       "more; use --agent-report=FD");
	for (size_t i = 0; i < line->keep_fd_count; i++)
		if (line->keep_fds[i] == line->agent_fd)
			return sb_fail(err, SB_E_INVALID, 0,
				       "--keep-fd would give the command the report's descriptor");
	flags = fcntl(line->agent_fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return sb_fail(err, SB_E_INVALID, flags < 0 ? errno : 0,
			       "--agent-report: descriptor %d cannot be written to",
			       line->agent_fd);
	if (line->agent_fd != STDERR_FILENO)
		fcntl(line->agent_fd, F_SETFD, FD_CLOEXEC);
	return SB_OK;
}

int sb_agent_report_check(struct sb_command_line *line, const struct sb_policy *policy,
			  struct sb_error *err)
{
	if (!line->agent_report || check(line, policy, err) == SB_OK)
		return SB_OK;
	line->agent_report = false;
	return line->agent_auto ? SB_OK : err->code;
}

/*
 * SECURITY: the report is the last line, whatever the command did to the descriptor that it shares with us.
 *
 * Danger: it writes a report of its own and goes back to the beginning of the file, or fills a pipe and makes it one
 * that does not wait; then its own line is the last.  All that it started has ended by now.
 * Held by: tests/cli/agent_report.py
 */
static void take_back(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && (flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	lseek(fd, 0, SEEK_END); /* of a pipe it fails */
}

int sb_agent_report_write(const struct sb_command_line *line, const struct sb_summary *summary,
			  struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_json json;
	int status;

	/* the command may have left a line without its end, which would hide the mark */
	if (line->agent_fd == STDERR_FILENO)
		sb_buf_putc(&text, '\n');
	sb_buf_puts(&text, MARK);
	sb_json_init_compact(&json, &text);
	if (sb_summary_is_empty(summary)) /* after most commands: a model need not read more */
		sb_buf_puts(&text, "{\"refused\":0,\"entries\":[]}\n");
	else
		sb_summary_json(summary, ENTRIES, &json);
	if (sb_buf_failed(&text))
		return sb_no_memory(err);
	signal(SIGPIPE, SIG_IGN);
	take_back(line->agent_fd);
	status = sb_write_all(line->agent_fd, text.data, text.length);
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status, "cannot write the report") : SB_OK;
}
