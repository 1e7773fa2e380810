#include "repo/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"

#define PATIENCE_MS (60 * 1000)
#define MAX_ANSWER (64 * 1024)

/* "https://host:1"; not in the clear, but to this machine */
static bool is_safe(const char *url)
{
	return sb_words_begin("https:// http://127.0.0.1: http://localhost: http://localhost/",
			      url);
}

_Noreturn static void become_helper(const struct sb_git *git, const char *search, int in, int out)
{
	SB_AUTO_BUF struct sb_buf home = SB_BUF(8192), path = SB_BUF(64 * 1024), own = SB_BUF(8192);
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	sb_buf_printf(&home, "HOME=%s", git->home);
	sb_buf_printf(&path, "PATH=%s", search);
	sb_buf_printf(&own, "GIT_DIR=%s", git->own);
	if (sb_buf_failed(&home) || sb_buf_failed(&path) || sb_buf_failed(&own) || nothing < 0 ||
	    dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(nothing, 2) < 0 || chdir(git->own) != 0)
		_exit(125);
	signal(SIGPIPE, SIG_DFL);
	execve(git->program, (char *const[]){git->program, "credential", "fill", NULL},
	       (char *const[]){home.data, path.data, own.data, "GIT_TERMINAL_PROMPT=0",
			       "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false", "LC_ALL=C",
			       NULL});
	_exit(125);
}

/* All that it says; false: too much, or nothing for a minute. */
static bool read_answer(int fd, struct sb_buf *out)
{
	struct pollfd wait = {fd, POLLIN, 0};
	char bytes[4096];
	ssize_t got = 1;

	while (got > 0) {
		int ready = poll(&wait, 1, PATIENCE_MS);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		got = read(fd, bytes, sizeof bytes);
		if (got > 0)
			sb_buf_append(out, bytes, (size_t)got);
	}
	return got == 0 && !sb_buf_failed(out);
}

/* Ask "git credential", and have its answer; "": it has none. */
static int ask(const struct sb_git *git, const char *search, struct sb_buf *out,
	       struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf question = SB_BUF(64 * 1024);
	int in[2] = {-1, -1}, said[2] = {-1, -1}, status = 0;
	bool whole = false;
	pid_t child;

	sb_buf_printf(&question, "url=%s\n\n", git->url);
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot ask for a login");
	child = fork();
	if (child == 0)
		become_helper(git, search, in[0], said[1]);
	close(in[0]);
	close(said[1]);
	/* shorter than a pipe is */
	if (child > 0 &&
	    sb_git_put(in[1], question.data, question.length) == (ssize_t)question.length) {
		close(in[1]);
		in[1] = -1;
		whole = read_answer(said[0], out);
	}
	sb_auto_close(&in[1]);
	close(said[0]);
	if (child > 0 && !whole)
		kill(child, SIGKILL);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!whole || !WIFEXITED(status) || WEXITSTATUS(status))
		out->length = 0;
	return SB_OK;
}

/* The value of "name=" on a line of its own; NULL: there is none. */
static char *line_of(const struct sb_buf *text, const char *name)
{
	struct sb_text_lines line = sb_text_lines(text->data, text->length);
	size_t length = strlen(name);

	while (sb_next_line(&line))
		if (strncmp(line.text, name, length) == 0)
			return strndup(line.text + length, line.length - length);
	return NULL;
}

int sb_git_log_in(struct sb_git *git, const char *search, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(MAX_ANSWER), both = SB_BUF(MAX_ANSWER);
	struct sb_buf header = SB_BUF(4 * MAX_ANSWER);
	SB_AUTO_FREE char *name = NULL, *password = NULL;
	int status;

	if (!is_safe(git->url))
		return SB_OK;
	status = ask(git, search, &said, err);
	if (status != SB_OK || !said.length)
		return status;
	name = line_of(&said, "username=");
	password = line_of(&said, "password=");
	if (!name || !password)
		return SB_OK;
	sb_buf_printf(&both, "%s:%s", name, password);
	sb_buf_puts(&header, "Authorization: Basic ");
	sb_base64_append(&header, both.data, both.length);
	git->login = sb_buf_take(&header);
	return git->login ? SB_OK : sb_no_memory(err);
}
