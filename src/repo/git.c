#include "repo/git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "config/file.h"
#include "path/path.h"

#define PATIENCE_MS (10 * 60 * 1000) /* for a server that says nothing */
#define MAX_DEPTH 8                  /* of what git makes in a directory of its own */
#define MAX_SAID (1024 * 1024)       /* of a command whose answer is a few words */

/* --- a git directory of our own --------------------------------------------------------------------- */

/* Does it lie in one of them, behind a link too? */
static bool is_in_any(const char *path, const char *const *directories)
{
	SB_AUTO_FREE char *file = realpath(path, NULL);

	for (; directories && *directories; directories++)
		if (sb_path_within(*directories, path) ||
		    (file && sb_path_within(*directories, file)))
			return true;
	return !file;
}

int sb_git_find(const char *search, const char *const *projects, char **out, struct sb_error *err)
{
	while (search && *search) {
		size_t length = strcspn(search, ":");
		SB_AUTO_FREE char *directory = strndup(search, length);
		SB_AUTO_FREE char *file =
			directory && directory[0] == '/' ? sb_path_join(directory, "git") : NULL;

		if (file && access(file, X_OK) == 0 && !is_in_any(file, projects)) {
			*out = sb_take_ptr(&file);
			return SB_OK;
		}
		search += length + (search[length] == ':');
	}
	sb_fail(err, SB_E_MISSING, 0, "there is no git on the PATH");
	return sb_hint(err, "install git; one that lies in a project is not used");
}

static int write_file(const char *directory, const char *name, const char *text,
		      struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, name);
	SB_AUTO_FD int fd =
		path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot write '%s/%s'", directory, name);
	return SB_OK;
}

static int make_directory(const char *directory, const char *name, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, name);

	return path && mkdir(path, 0700) == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, errno, "cannot make '%s/%s'", directory, name);
}

/* Nothing but what git has made in it; no link is followed. */
static void remove_tree(int parent, const char *name, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	SB_AUTO_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory && depth && (entry = readdir(directory)))
		if (!sb_is_dots(entry->d_name) && unlinkat(dirfd(directory), entry->d_name, 0) != 0)
			remove_tree(dirfd(directory), entry->d_name, depth - 1);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* What was left by those that were killed: who lives holds a lock on its own. */
static void sweep(const char *directory)
{
	SB_AUTO_DIR DIR *all = opendir(directory);
	const struct dirent *entry;

	while (all && (entry = readdir(all))) {
		SB_AUTO_FD int fd =
			strncmp(entry->d_name, "own-", 4) == 0
				? openat(dirfd(all), entry->d_name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				: -1;

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_tree(dirfd(all), entry->d_name, MAX_DEPTH);
	}
}

int sb_git_make_own(struct sb_git *git, const char *directory, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, "own-XXXXXX");
	SB_AUTO_FD int all = -1;
	int status = sb_config_make_dirs(directory, 0700, err);

	if (status != SB_OK)
		return status;
	/* nobody sweeps between the making of one and its lock */
	all = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all >= 0)
		flock(all, LOCK_EX);
	if (all < 0 || !path || !mkdtemp(path))
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a directory in '%s'",
			       directory);
	git->own = sb_take_ptr(&path);
	git->lock = open(git->own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git->lock < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot open '%s'", git->own);
	flock(git->lock, LOCK_EX); /* where there are no locks nobody else gets one either */
	sweep(directory);
	status = write_file(git->own, "HEAD", "ref: refs/heads/staged\n", err);
	if (status == SB_OK)
		status = make_directory(git->own, "refs", err);
	return status == SB_OK ? make_directory(git->own, "objects", err) : status;
}

int sb_git_set_format(const struct sb_git *git, const char *format, struct sb_error *err)
{
	static const char sha1[] = "[core]\n\tbare = true\n\trepositoryformatversion = 0\n",
			  sha256[] = "[core]\n\tbare = true\n\trepositoryformatversion = 1\n"
				     "[extensions]\n\tobjectFormat = sha256\n";
	bool is_sha1 = strcmp(format, "sha1") == 0;

	if (!is_sha1 && strcmp(format, "sha256") != 0)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "objects of another format than sha1 and sha256");
	return write_file(git->own, "config", is_sha1 ? sha1 : sha256, err);
}

void sb_git_close(struct sb_git *git)
{
	if (git->own)
		remove_tree(AT_FDCWD, git->own, MAX_DEPTH);
	if (git->own && git->lock >= 0)
		close(git->lock);
	free(git->program);
	free(git->own);
	free(git->directory);
	free(git->objects);
	free(git->url);
	free(git->login);
	*git = (struct sb_git){0};
}

/* --- talking to it -------------------------------------------------------------------------------- */

/* SIGPIPE is ours to hear: the program's handlers stay as they are. */
ssize_t sb_git_put(int pipe, const void *bytes, size_t length)
{
	const struct timespec now = {0};
	sigset_t only, old;
	ssize_t put;
	int why;

	sigemptyset(&only);
	sigaddset(&only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &only, &old);
	put = write(pipe, bytes, length);
	why = errno;
	if (put < (ssize_t)length) /* a part may have been taken before */
		sigtimedwait(&only, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = why;
	return put;
}

int sb_git_write(struct sb_git_child *child, const void *bytes, size_t length, struct sb_error *err)
{
	for (size_t at = 0; at < length;) {
		ssize_t put = sb_git_put(child->in, (const char *)bytes + at, length - at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return sb_fail(err, SB_E_SYSTEM, errno, "git reads no more");
		at += (size_t)put;
	}
	return SB_OK;
}

/* More bytes; none: that was all. */
static int fill(struct sb_git_child *child, struct sb_error *err)
{
	struct pollfd wait = {child->out, POLLIN, 0};
	ssize_t got;
	int ready;

	do
		ready = poll(&wait, 1, PATIENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "git has said nothing for ten minutes");
	do
		got = read(child->out, child->bytes, sizeof child->bytes);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read what git says");
	child->at = 0;
	child->end = (size_t)got;
	return SB_OK;
}

int sb_git_read_to(struct sb_git_child *child, char end, struct sb_buf *out, bool *out_more,
		   struct sb_error *err)
{
	if (out->length)
		out->data[0] = '\0';
	out->length = 0;
	*out_more = true;
	for (;;) {
		const char *start = child->bytes + child->at, *found;
		size_t length = child->end - child->at;

		found = memchr(start, end, length);
		if (found)
			length = (size_t)(found - start);
		sb_buf_append(out, start, length);
		child->at += length + (found != NULL);
		if (sb_buf_failed(out))
			return sb_fail(err, SB_E_SYSTEM, 0, "git says more than is believed");
		if (found)
			return SB_OK;
		if (fill(child, err) != SB_OK)
			return err->code;
		if (!child->end) {
			*out_more = out->length > 0;
			return SB_OK;
		}
	}
}

int sb_git_read(struct sb_git_child *child, char *out, size_t length, struct sb_error *err)
{
	while (length) {
		size_t now = child->end - child->at;

		if (now > length)
			now = length;
		memcpy(out, child->bytes + child->at, now);
		child->at += now;
		out += now;
		length -= now;
		if (!length)
			break;
		if (fill(child, err) != SB_OK)
			return err->code;
		if (!child->end)
			return sb_fail(err, SB_E_SYSTEM, 0, "git ended in the middle of a file");
	}
	return SB_OK;
}

int sb_git_read_all(struct sb_git_child *child, struct sb_buf *out, bool *out_cut,
		    struct sb_error *err)
{
	for (;;) {
		size_t length = child->end - child->at, room = out->limit - out->length - 1;

		*out_cut = length > room;
		sb_buf_append(out, child->bytes + child->at, *out_cut ? room : length);
		if (sb_buf_failed(out))
			return sb_no_memory(err);
		if (*out_cut)
			return SB_OK;
		if (fill(child, err) != SB_OK)
			return err->code;
		if (!child->end)
			return SB_OK;
	}
}

void sb_git_end_input(struct sb_git_child *child)
{
	sb_auto_close(&child->in);
	child->in = -1;
}

static int reap(struct sb_git_child *child)
{
	int status = 0;

	sb_git_end_input(child);
	sb_auto_close(&child->out);
	child->out = -1;
	while (waitpid(child->process, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void sb_git_kill(struct sb_git_child *child)
{
	kill(child->process, SIGKILL);
	reap(child);
	sb_auto_close(&child->errors);
	child->errors = -1;
}

/* The last of its lines that tells something, as one line of ours. */
static void quote_errors(int fd, char *out, size_t size)
{
	static const char *const starts[] = {"fatal: ", "error: ", "remote: "};
	char text[2048], *line = text, *best = text;
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	for (char *next; *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
			if (strncmp(line, starts[i], strlen(starts[i])) == 0 && best == text)
				best = line + strlen(starts[i]);
	}
	sb_escape_line(out, size, *best ? best : "it gives no reason");
}

int sb_git_finish(struct sb_git_child *child, const char *what, int *out_status,
		  struct sb_error *err)
{
	int status = reap(child);
	char said[180];

	quote_errors(child->errors, said, sizeof said);
	sb_auto_close(&child->errors);
	child->errors = -1;
	if (WIFSIGNALED(status))
		return sb_fail(err, SB_E_SYSTEM, 0, "git %s was ended by signal %d", what,
			       WTERMSIG(status));
	status = WEXITSTATUS(status);
	if (status == SB_GIT_NOT_STARTED) {
		sb_fail(err, SB_E_UNSUPPORTED, 0, "git is not started: %s", said);
		return sb_hint(err, "--best-effort, before --git, starts it with less around it; "
				    "sandbash --doctor says what is missing");
	}
	if (status && (!out_status || status > SB_GIT_NOT_STARTED))
		return sb_fail(err, SB_E_SYSTEM, 0, "git %s: %s", what, said);
	if (out_status)
		*out_status = status;
	return SB_OK;
}

int sb_git_end(struct sb_git_child *child, const char *what, int status, struct sb_error *err)
{
	if (status == SB_OK)
		return sb_git_finish(child, what, NULL, err);
	sb_git_kill(child);
	return status;
}

int sb_git_say(const struct sb_git *git, enum sb_git_use use, const char *const *args,
	       struct sb_buf *out, int *out_status, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	SB_AUTO_BUF struct sb_buf said = SB_BUF(MAX_SAID);
	bool cut = false;
	int status = child ? sb_git_start(git, use, args, child, err) : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	sb_git_end_input(child);
	status = sb_git_read_all(child, &said, &cut, err);
	if (status == SB_OK && cut)
		status = sb_fail(err, SB_E_SYSTEM, 0, "git %s says more than is believed", args[0]);
	if (status != SB_OK) {
		sb_git_kill(child);
		return status;
	}
	if (said.length && said.data[said.length - 1] == '\n')
		said.length--;
	if (out)
		sb_buf_append(out, said.data, said.length);
	return sb_git_finish(child, args[0], out_status, err);
}
