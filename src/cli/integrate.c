/*
 * integrate.c - --setup: an agent's own settings get the hook and the server, and lose them
 * again.
 *
 * Everything is looked at before anything is written, so what is not understood stays whole, all
 * of it. Then file by file, under a lock: read again, copy beside, replace by a rename.  A crash
 * or a full disk leaves each file as it was or as it was to be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/settings.h"
#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "base/words.h"
#include "base/write.h"
#include "cli/cli.h"
#include "config/file.h"
#include "path/path.h"

#define LEFT_ALONE 1                      /* exit status: not understood, or not ours */
#define FILE_LIMIT (64 * 1024 * 1024)     /* claude's state grows with every project */
#define BACKUP ".sandbash-backup-"        /* behind the name, before the date */
#define CHECK_WORD "sandbash-setup-check" /* the command that a tried hook is asked about */

struct plan {
	const struct sb_command_line *line;
	const struct sb_agent *agent;
	struct sb_pieces pieces;
	struct sb_buf said; /* for standard output */
};

/* One file of the agent's, and what becomes of it. */
struct change {
	const char *file;
	bool found, changed, gone;
	struct sb_buf old, new;
	enum sb_piece_state states[SB_MAX_PIECES]; /* of the pieces that are in it */
};

static void change_done(struct change *change)
{
	sb_buf_done(&change->old);
	sb_buf_done(&change->new);
}

#define AUTO_CHANGE __attribute__((cleanup(change_done)))
#define CHANGE(name)                                                                               \
	((struct change){.file = (name), .old = SB_BUF(FILE_LIMIT), .new = SB_BUF(FILE_LIMIT)})

/* Nothing was done to the file, and why. */
static int leave(const char *file, const char *why, struct sb_error *err)
{
	return sb_fail(err, SB_E_CONFLICT, 0, "'%s' is left alone: %s", file, why);
}

/* --- planning ------------------------------------------------------------------------------- */

/* Ours to replace by a rename? */
static int check_file(const char *file, struct sb_error *err)
{
	struct stat info;

	if (lstat(file, &info) != 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? SB_OK
			       : sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", file);
	if (S_ISLNK(info.st_mode))
		return leave(file, "it is a link", err);
	if (!S_ISREG(info.st_mode))
		return leave(file, "it is no regular file", err);
	if (info.st_uid != geteuid())
		return leave(file, "it belongs to somebody else", err);
	return SB_OK;
}

/* The newest copy beside the file that does not have the piece: what was there before it came. */
static void find_before(const struct plan *plan, const struct sb_piece *piece, struct sb_buf *out)
{
	SB_AUTO_FREE char *dir = sb_path_parent(piece->file);
	SB_AUTO_FREE char *prefix = NULL;
	struct dirent **names = NULL;
	int count = dir ? scandir(dir, &names, NULL, alphasort) : 0;
	bool done = false;

	if (asprintf(&prefix, "%s" BACKUP, strrchr(piece->file, '/') + 1) < 0)
		prefix = NULL;
	for (int i = count - 1; i >= 0; i--) {
		SB_AUTO_FREE char *path = NULL;
		enum sb_piece_state state;
		bool found = false;

		if (prefix && !done && strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0) {
			path = sb_path_join(dir, names[i]->d_name);
			out->length = 0;
			if (path && sb_config_read(path, out, &found, NULL) == SB_OK && found &&
			    sb_piece_look(plan->agent, piece, out->data, out->length, &state,
					  NULL) == SB_OK)
				done = state == SB_PIECE_NONE;
		}
		free(names[i]);
	}
	free(names);
	if (!done) {
		sb_buf_done(out);
		*out = SB_BUF(FILE_LIMIT);
	}
}

/* One piece in change->new, which becomes another text. */
static int plan_piece(const struct plan *plan, size_t index, struct change *change,
		      struct sb_error *err)
{
	const struct sb_piece *piece = &plan->pieces.all[index];
	SB_AUTO_BUF struct sb_buf next = SB_BUF(FILE_LIMIT);
	SB_AUTO_BUF struct sb_buf before = SB_BUF(FILE_LIMIT);
	enum sb_piece_state *state = &change->states[index];
	struct sb_buf *text = &change->new;
	char why[sizeof err->message];
	int status = sb_piece_look(plan->agent, piece, text->data, text->length, state, err);

	if (status == SB_OK && *state == SB_PIECE_THEIRS) {
		snprintf(why, sizeof why,
			 "it has a %s for sandbash that is not as --setup writes it", piece->what);
		return leave(piece->file, why, err);
	}
	if (status == SB_OK && !plan->line->undo && *state != SB_PIECE_SAME)
		status = sb_piece_add(plan->agent, piece, text->data, text->length, &next, err);
	else if (status == SB_OK && plan->line->undo && *state != SB_PIECE_NONE) {
		find_before(plan, piece, &before);
		status = sb_piece_remove(plan->agent, piece, text, &before, &next, err);
		change->gone = !next.length;
	} else if (status == SB_OK)
		return SB_OK;
	if (status == SB_E_INVALID) {
		snprintf(why, sizeof why, "%s", err->message);
		return leave(piece->file, why, err);
	}
	if (status == SB_OK) {
		struct sb_buf swap = change->new;

		change->new = next;
		next = swap;
		change->changed = true;
	}
	return status;
}

static bool is_in(const struct plan *plan, size_t index, const char *file)
{
	return strcmp(plan->pieces.all[index].file, file) == 0;
}

/* What the file is to be, from what it is now. */
static int plan_file(const struct plan *plan, struct change *change, struct sb_error *err)
{
	int status = check_file(change->file, err);

	if (status == SB_OK)
		status = sb_config_read(change->file, &change->old, &change->found, err);
	if (status == SB_OK)
		sb_buf_append(&change->new, change->old.data, change->old.length);
	for (size_t i = 0; i < plan->pieces.count && status == SB_OK; i++)
		if (is_in(plan, i, change->file))
			status = plan_piece(plan, i, change, err);
	return status;
}

/* --- telling -------------------------------------------------------------------------------- */

static void say_file(struct plan *plan, const char *file)
{
	sb_escape_put_name(&plan->said, "", file, "\n");
}

/* The lines of a piece, as they are written to a file that has nothing else. */
static void say_lines(struct plan *plan, const struct sb_piece *piece)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(FILE_LIMIT);
	struct sb_text_lines line;

	if (sb_piece_add(plan->agent, piece, "", 0, &text, NULL) != SB_OK)
		return;
	line = sb_text_lines(text.data, text.length);
	while (sb_next_line(&line)) {
		sb_buf_puts(&plan->said, "    ");
		sb_escape_append(&plan->said, line.text, line.length);
		sb_buf_putc(&plan->said, '\n');
	}
}

/* words: what is, or would be, done to a piece in each state. */
static void say_pieces(struct plan *plan, const struct change *change)
{
	bool done = plan->line->apply || plan->line->undo, undo = plan->line->undo;
	const char *const words[] = {
		[SB_PIECE_NONE] = undo   ? "was not there"
				  : done ? "added"
					 : "would be added",
		[SB_PIECE_SAME] = undo ? "removed" : "is there",
		[SB_PIECE_OURS] =
			undo   ? "removed"
			: done ? "replaced: it was for another path or other options"
			       : "would be replaced: it is for another path or other options",
	};

	say_file(plan, change->file);
	for (size_t i = 0; i < plan->pieces.count; i++) {
		const struct sb_piece *piece = &plan->pieces.all[i];

		if (!is_in(plan, i, change->file))
			continue;
		sb_buf_printf(&plan->said, "  %s: %s\n", piece->what, words[change->states[i]]);
		if (!undo && change->states[i] != SB_PIECE_SAME)
			say_lines(plan, piece);
	}
}

/* --- writing -------------------------------------------------------------------------------- */

static int write_copy(const char *path, mode_t mode, const struct sb_buf *text)
{
	SB_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int status;

	if (fd < 0)
		return -errno;
	status = sb_write_all(fd, text->data, text->length);
	if (status == 0 && (fchmod(fd, mode) != 0 || fsync(fd) != 0))
		status = -errno;
	if (status < 0)
		unlink(path);
	return status;
}

/* A copy of the file as it is, under a name of its own. */
static int back_up(struct plan *plan, const struct change *change, struct sb_error *err)
{
	time_t now = time(NULL);
	struct tm utc;
	struct stat info;
	char date[32];
	int status = -EEXIST;

	if (!gmtime_r(&now, &utc) || !strftime(date, sizeof date, "%Y%m%d-%H%M%S", &utc) ||
	    stat(change->file, &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", change->file);
	for (int number = 0; status == -EEXIST && number < 100; number++) {
		SB_AUTO_FREE char *path = NULL;

		if (asprintf(&path, "%s" BACKUP "%s-%02d", change->file, date, number) < 0)
			return sb_no_memory(err);
		status = write_copy(path, info.st_mode & 07777, &change->old);
		if (status == 0) {
			sb_buf_puts(&plan->said, "  as it was: ");
			say_file(plan, path);
		}
	}
	return status == 0 ? SB_OK
			   : sb_fail(err, SB_E_SYSTEM, -status, "cannot copy '%s'", change->file);
}

/*
 * claude itself writes ~/.claude.json, all the time, and keeps others out by a directory of this
 * name. One that was left behind it takes for stale after ten seconds; so do we.
 */
static int lock_claude(const char *file, char **out, struct sb_error *err)
{
	const struct timespec pause = {0, 20 * 1000000L};
	char *lock = NULL;

	*out = NULL;
	if (strcmp(strrchr(file, '/'), "/.claude.json") != 0)
		return SB_OK;
	if (asprintf(&lock, "%s.lock", file) < 0)
		return sb_no_memory(err);
	for (int tries = 0; mkdir(lock, 0700) != 0; tries++) {
		struct stat info;
		int error = errno;

		if (error == EEXIST && lstat(lock, &info) == 0 && info.st_mtime + 10 < time(NULL) &&
		    rmdir(lock) == 0)
			continue;
		if (error != EEXIST || tries > 600) { /* longer than a stale one lasts */
			free(lock);
			return sb_fail(err, SB_E_SYSTEM, error, "cannot lock '%s'", file);
		}
		nanosleep(&pause, NULL);
	}
	*out = lock;
	return SB_OK;
}

static int write_change(struct plan *plan, struct change *change, struct sb_error *err)
{
	int status = change->found && !change->gone ? back_up(plan, change, err) : SB_OK;

	if (status == SB_OK && change->gone && unlink(change->file) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot remove '%s'", change->file);
	if (status == SB_OK && !change->gone)
		status = sb_config_replace(change->file, change->new.data, change->new.length, err);
	return status;
}

/* Read, changed and written with nobody else of ours in between. */
static int write_file(struct plan *plan, const char *file, struct sb_error *err)
{
	AUTO_CHANGE struct change change = CHANGE(file);
	SB_AUTO_FD int held = -1;
	SB_AUTO_FREE char *lock = NULL;
	size_t before = plan->said.length;
	int status = sb_config_lock(file, &held, err);

	if (status == SB_OK)
		status = lock_claude(file, &lock, err);
	if (status == SB_OK)
		status = plan_file(plan, &change, err);
	if (status == SB_OK) {
		say_pieces(plan, &change);
		if (change.changed)
			status = write_change(plan, &change, err);
	}
	if (status != SB_OK && plan->said.length > before) { /* nothing was added */
		plan->said.length = before;
		plan->said.data[before] = '\0';
	}
	if (lock)
		rmdir(lock);
	return status;
}

/* --- checking ------------------------------------------------------------------------------- */

static void read_end(int fd, struct sb_buf *out)
{
	char chunk[4096];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			sb_buf_append(out, chunk, (size_t)got);
}

/* Does the hook, started as the agent starts it, hand a command back that sandbash runs? */
static bool hook_answers(const struct plan *plan, const char *program, char *const *options)
{
	SB_AUTO_BUF struct sb_buf event = SB_BUF(FILE_LIMIT);
	SB_AUTO_BUF struct sb_buf answer = SB_BUF(FILE_LIMIT);
	SB_AUTO_BUF struct sb_buf wanted = SB_BUF(FILE_LIMIT);
	int in[2], out[2], status = -1;
	pid_t pid;

	sb_tool_event_sample(plan->agent, "/", CHECK_WORD, &event);
	if (sb_buf_failed(&event) || pipe2(in, O_CLOEXEC) != 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	pid = fork();
	if (pid == 0) {
		if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
			_exit(SB_EXIT_FAILURE);
		if (plan->pieces.command) {
			execl("/bin/sh", "sh", "-c", plan->pieces.command, (char *)NULL);
		} else {
			size_t count = sb_list_count(options);
			char **words = calloc(count + 4, sizeof *words);

			if (words) {
				words[0] = (char *)program;
				words[1] = (char *)"--hook";
				words[2] = (char *)sb_agent_name(plan->agent);
				memcpy(words + 3, options, count * sizeof *words);
				execv(program, words);
			}
		}
		_exit(SB_EXIT_NOT_FOUND);
	}
	close(in[0]);
	close(out[1]);
	/* far less than a pipe holds, so nobody waits for the other */
	signal(SIGPIPE, SIG_IGN);
	if (pid > 0 && write(in[1], event.data, event.length) != (ssize_t)event.length)
		event.failed = true;
	close(in[1]);
	if (pid > 0)
		read_end(out[0], &answer);
	close(out[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sb_agent_quote(&wanted, program, strlen(program));
	return pid > 0 && !sb_buf_failed(&event) && status == 0 &&
	       strstr(answer.data, wanted.data) && strstr(answer.data, CHECK_WORD) &&
	       strstr(answer.data, " -- bash -c ");
}

/* What the file itself says about whether the hook is called. */
static void say_trust(struct plan *plan)
{
	const struct sb_piece *piece = &plan->pieces.all[0];
	SB_AUTO_BUF struct sb_buf text = SB_BUF(FILE_LIMIT);
	struct sb_buf *out = &plan->said;
	struct sb_hook_state hook = {0};
	bool found;

	if (sb_config_read(piece->file, &text, &found, NULL) != SB_OK ||
	    sb_hook_look(plan->agent, &plan->pieces, piece->file, &text, &hook, NULL) != SB_OK)
		return;
	switch (hook.trust) {
	case SB_HOOK_OFF:
		sb_buf_printf(out, "NOT IN FORCE: the hook is never called: %s\n", hook.why);
		break;
	case SB_HOOK_UNTRUSTED:
	case SB_HOOK_CHANGED:
		sb_buf_printf(out,
			      "NOT IN FORCE YET: %s.  codex skips such a hook without a word.\n"
			      "  Start codex, type /hooks, choose this hook and trust it; then "
			      "'sandbash --setup codex', with the\n  same options, says whether it "
			      "counts.\n",
			      hook.trust == SB_HOOK_CHANGED
				      ? "codex was told to trust something else in this place"
				      : "you have not told codex to trust the hook");
		break;
	case SB_HOOK_TRUSTED:
		sb_buf_puts(out, "checked: codex's settings have the hook as trusted\n");
		break;
	case SB_HOOK_ON:
		if (plan->pieces.command)
			sb_buf_puts(out, "checked: nothing in that file turns hooks off\n");
		break;
	}
}

/* What the project that we stand in says about it. */
static void say_project(struct plan *plan)
{
	const char *const *files = sb_agent_project_files(plan->agent);

	for (size_t i = 0; files[i]; i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(FILE_LIMIT);
		struct sb_hook_state hook;
		bool found;

		if (sb_config_read(files[i], &text, &found, NULL) == SB_OK && found &&
		    sb_hook_look(plan->agent, &plan->pieces, files[i], &text, &hook, NULL) ==
			    SB_OK &&
		    hook.trust == SB_HOOK_OFF)
			sb_buf_printf(&plan->said,
				      "NOT IN FORCE in this directory: '%s' turns it off: %s\n",
				      files[i], hook.why);
	}
}

static void say_checks(struct plan *plan, const char *program, char *const *options)
{
	struct sb_buf *out = &plan->said;

	if (hook_answers(plan, program, options))
		sb_buf_puts(out, "checked: the hook, as it is written, answers\n");
	else
		sb_buf_puts(out, "NOT IN FORCE: the hook, as it is written, does not answer\n");
	say_trust(plan);
	say_project(plan);
	sb_buf_printf(out,
		      "not checked: that %s calls it.  Start it anew and have it run "
		      "'sandbash --status', which says whether it is inside\n",
		      sb_agent_name(plan->agent));
}

/* --- the command ---------------------------------------------------------------------------- */

/* The server lies beside this program, as --mcp finds it; NULL: it is not there. */
static char *find_server(const char *program)
{
	SB_AUTO_FREE char *dir = sb_path_parent(program);

	for (size_t i = 0; dir && sb_server_places[i]; i++) {
		SB_AUTO_FREE char *path = sb_path_join(dir, sb_server_places[i]);
		char *real = path && access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

		if (real)
			return real;
	}
	return NULL;
}

/* Files that options name are looked for where the agent will be, not where we are. */
static int check_options(const struct sb_command_line *line, struct sb_error *err)
{
	for (size_t i = 0; i < line->given_count; i++)
		if (line->given[i].option->is_file && line->given[i].value[0] != '/')
			return sb_fail(err, SB_E_USAGE, 0, "--%s has to be an absolute path here",
				       line->given[i].option->name);
	return SB_OK;
}

static const char *absolute_variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value && value[0] == '/' ? value : NULL;
}

static int make_plan(struct plan *plan, const char *program, const char *server,
		     char *const *options, struct sb_error *err)
{
	SB_AUTO_FREE char *other = NULL;
	struct sb_agent_places places = {
		.home = absolute_variable("HOME"),
		.config_home = absolute_variable("XDG_CONFIG_HOME"),
		.agent_home = absolute_variable(sb_agent_variable(plan->agent)),
		.program = program,
		.server = server ? server : "",
		.options = (const char *const *)options,
	};
	int status;

	if (!places.home)
		return sb_fail(err, SB_E_MISSING, 0, "no home directory: $HOME is not set");
	if (asprintf(&other, "%s%s/opencode/opencode.jsonc",
		     places.config_home ? places.config_home : places.home,
		     places.config_home ? "" : "/.config") < 0) {
		other = NULL;
		return sb_no_memory(err);
	}
	places.other_file = access(other, F_OK) == 0;
	status = sb_pieces_make(plan->agent, &places, &plan->pieces, err);
	if (status == SB_OK && !server)
		plan->pieces.count = 1;
	return status;
}

/* Is this the first piece in its file? */
static bool is_first(const struct plan *plan, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_in(plan, i, plan->pieces.all[index].file))
			return false;
	return true;
}

/* All files looked at, then all written. */
static int carry_out(struct plan *plan, bool *out_there, struct sb_error *err)
{
	bool writes = plan->line->apply || plan->line->undo;
	int status = SB_OK;

	*out_there = true;
	for (size_t i = 0; i < plan->pieces.count && status == SB_OK; i++) {
		AUTO_CHANGE struct change change = CHANGE(plan->pieces.all[i].file);

		if (!is_first(plan, i))
			continue;
		status = plan_file(plan, &change, err);
		if (status == SB_OK && !writes)
			say_pieces(plan, &change);
		*out_there &= !change.changed;
	}
	for (size_t i = 0; i < plan->pieces.count && status == SB_OK && writes; i++) {
		const char *file = plan->pieces.all[i].file;

		/* nothing is made where there is nothing to take away */
		if (is_first(plan, i) && (!plan->line->undo || access(file, F_OK) == 0))
			status = write_file(plan, file, err);
	}
	return status;
}

static int integrate(struct plan *plan, const char *program, const char *server,
		     char *const *options)
{
	const char *name = sb_agent_name(plan->agent);
	struct sb_error err;
	bool there;
	int status = make_plan(plan, program, server, options, &err), printed;

	if (status == SB_OK)
		status = carry_out(plan, &there, &err);
	if (status == SB_OK && !server)
		sb_buf_puts(&plan->said, "no server: sandbash-mcp is not beside this program\n");
	if (status == SB_OK && !plan->line->undo && (plan->line->apply || there))
		say_checks(plan, program, options);
	else if (status == SB_OK && !plan->line->undo)
		sb_buf_printf(&plan->said,
			      "nothing was written: 'sandbash --setup %s --apply' does\n", name);
	else if (status == SB_OK && there)
		sb_buf_puts(&plan->said, "nothing to take back\n");
	/* what was done before a failure was done */
	printed = sb_print(&plan->said);
	if (status == SB_OK)
		return printed;
	sb_report(&err);
	return status == SB_E_CONFLICT ? LEFT_ALONE : SB_EXIT_FAILURE;
}

int sb_cli_integrate(const struct sb_command_line *line)
{
	struct plan plan = {.line = line, .said = SB_BUF(SB_OUTPUT_LIMIT)};
	const char *program = sb_own_program();
	char **options = sb_options_given(line);
	SB_AUTO_FREE char *server = program ? find_server(program) : NULL;
	struct sb_error err;
	int status;

	plan.agent = sb_agent_find(line->action_value);
	if (!plan.agent) {
		status = sb_end_with(SB_E_USAGE, "--setup knows claude, codex, gemini and opencode",
				     "no agent '%s'", line->action_value);
	} else if (check_options(line, &err) != SB_OK) {
		status = sb_report(&err);
	} else if (!program || !options) {
		status = sb_end_with(SB_E_SYSTEM, NULL, "cannot find this program's own path");
	} else {
		status = integrate(&plan, program, server, options);
	}
	sb_list_free(options);
	sb_pieces_done(&plan.pieces);
	sb_buf_done(&plan.said);
	return status;
}
