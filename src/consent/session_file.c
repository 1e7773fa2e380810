#include "consent/session_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/list.h"
#include "base/words.h"
#include "path/pattern.h"
#include "policy/peer.h"
#include "policy/text.h"
#include "sys/beneath.h"

#define MARK "#@"
#define PROJECT "project "

struct sb_kept_file sb_kept_file_of(int fd)
{
	struct sb_kept_file file = {0};
	struct sb_sys_file look;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return file;
	file.known = true;
	file.inode = info.st_ino;
	file.device = info.st_dev;
	if (sb_sys_look(fd, "", &look) == 0) {
		file.has_birth = look.born.tv_sec || look.born.tv_nsec;
		file.birth_s = look.born.tv_sec;
		file.birth_ns = (uint32_t)look.born.tv_nsec;
	}
	return file;
}

bool sb_kept_same(const struct sb_kept_file *a, const struct sb_kept_file *b)
{
	if (!a->known || !b->known || a->inode != b->inode || a->has_birth != b->has_birth)
		return false;
	if (a->has_birth)
		return a->birth_s == b->birth_s && a->birth_ns == b->birth_ns;
	return a->device == b->device;
}

void sb_kept_list_done(struct sb_kept_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		free(list->entries[i].path);
	free(list->entries);
	*list = (struct sb_kept_list){0};
}

/* Reading and changing are answered apart (grants.h): an answer about one leaves what was said of the other. */
static struct sb_access both(const struct sb_access *said, const struct sb_access *now)
{
	bool about_reading = now->verdict[SB_MODIFY] == SB_ASK;
	struct sb_access all = about_reading ? *said : *now;

	all.verdict[SB_READ] = (about_reading ? now : said)->verdict[SB_READ];
	return all;
}

int sb_kept_list_put(struct sb_kept_list *list, const char *path, const struct sb_access *access,
		     const struct sb_kept_file *file, struct sb_error *err)
{
	bool project;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->entries[i].path, path) == 0) {
			list->entries[i].access = sb_kept_same(&list->entries[i].file, file)
							  ? both(&list->entries[i].access, access)
							  : *access;
			project = list->entries[i].file.project &&
				  sb_kept_same(&list->entries[i].file, file);
			list->entries[i].file = *file;
			list->entries[i].file.project |= project;
			return SB_OK;
		}
	if (list->count == SB_SESSION_MAX)
		return sb_fail(err, SB_E_REFUSED, 0, "a session keeps at most %d answers",
			       SB_SESSION_MAX);
	if (!SB_GROW(list->entries, list->count))
		return sb_no_memory(err);
	list->entries[list->count] =
		(struct sb_kept_answer){.path = strdup(path), .access = *access, .file = *file};
	if (!list->entries[list->count].path)
		return sb_no_memory(err);
	list->count++;
	return SB_OK;
}

bool sb_kept_list_drop(struct sb_kept_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->entries[i].path, path) != 0)
			continue;
		free(list->entries[i].path);
		memmove(list->entries + i, list->entries + i + 1,
			(--list->count - i) * sizeof *list->entries);
		return true;
	}
	return false;
}

/* --- reading ----------------------------------------------------------------- */

/* A number at *at, which moves behind it. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
	const char *start = *at;
	uint64_t number = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(**at - '0'), &number))
			return false;
	*out = number;
	return *at > start;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	++*at;
	return true;
}

static bool parse_mark(const char *at, const char *end, struct sb_kept_file *out)
{
	struct sb_kept_file file = {.known = true};
	uint64_t seconds, nanoseconds;
	bool before_1970;

	if (!take_char(&at, end, ' '))
		return false;
	file.project = (size_t)(end - at) > strlen(PROJECT) &&
		       memcmp(at, PROJECT, strlen(PROJECT)) == 0;
	at += file.project ? strlen(PROJECT) : 0;
	if (take_char(&at, end, '-')) {
		*out = (struct sb_kept_file){0};
		return at == end;
	}
	if (!take_number(&at, end, &file.inode) || !take_char(&at, end, ' ') ||
	    !take_number(&at, end, &file.device) || !take_char(&at, end, ' '))
		return false;
	before_1970 = take_char(&at, end, '-');
	if (!before_1970 || at != end) {
		if (!take_number(&at, end, &seconds) || seconds > INT64_MAX ||
		    !take_char(&at, end, '.') || !take_number(&at, end, &nanoseconds) ||
		    nanoseconds > 999999999)
			return false;
		file.has_birth = true;
		file.birth_s = before_1970 ? -(int64_t)seconds : (int64_t)seconds;
		file.birth_ns = (uint32_t)nanoseconds;
	}
	*out = file;
	return at == end;
}

static int put_host(const struct sb_line *line, struct sb_kept_list *list, struct sb_error *err)
{
	struct sb_peer_pattern pattern;
	int status = sb_peer_pattern_parse(line->text, &pattern, err);

	if (status == SB_OK && (line->value == SB_ASK || pattern.beneath))
		status = sb_fail(err, SB_E_INVALID, 0, "a session keeps yes and no to one host");
	return status == SB_OK ? sb_kept_list_put(list, pattern.text,
						  line->value == SB_DENY ? &sb_access_deny
									 : &sb_access_write,
						  &(struct sb_kept_file){0}, err)
			       : status;
}

static int parse_rule(const char *bytes, size_t length, const struct sb_kept_file *file,
		      struct sb_kept_list *list, struct sb_error *err)
{
	struct sb_pattern pattern = {0};
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	int status = sb_line_parse(bytes, length, &line, err);

	if (status != SB_OK)
		return status;
	if (line.kind == SB_LINE_CONNECT) {
		status = put_host(&line, list, err);
	} else if (line.kind != SB_LINE_EMPTY) {
		if (line.kind != SB_LINE_RULE)
			status = sb_fail(err, SB_E_INVALID, 0, "a session keeps nothing but rules");
		if (status == SB_OK)
			status = sb_pattern_parse(line.text, &pattern, err);
		if (status == SB_OK && pattern.glob)
			status = sb_fail(err, SB_E_INVALID, 0,
					 "a session keeps no rules with wildcards");
		if (status == SB_OK)
			status = sb_kept_list_put(list, pattern.prefix, &line.access, file, err);
		sb_pattern_done(&pattern);
	}
	return status;
}

int sb_session_parse(const char *bytes, size_t length, struct sb_kept_list *out,
		     struct sb_error *err)
{
	struct sb_kept_list list = {0};
	struct sb_kept_file file = {0};
	struct sb_text_lines line = sb_text_lines(bytes, length);
	int status = SB_OK;

	for (size_t number = 1; status == SB_OK && sb_next_line(&line); number++) {
		struct sb_error why;

		if (line.length >= strlen(MARK) && memcmp(line.text, MARK, strlen(MARK)) == 0) {
			if (!parse_mark(line.text + strlen(MARK), line.text + line.length, &file))
				status = sb_fail(&why, SB_E_INVALID, 0, "what file is this?");
		} else {
			status = parse_rule(line.text, line.length, &file, &list, &why);
			file = (struct sb_kept_file){0};
		}
		if (status != SB_OK)
			status = sb_fail(err, status, 0, "line %zu: %s", number, why.message);
	}
	if (status == SB_OK)
		*out = list;
	else
		sb_kept_list_done(&list);
	return status;
}

/* --- writing ----------------------------------------------------------------- */

static void print_mark(const struct sb_kept_file *file, struct sb_buf *out)
{
	if (!file->known) {
		sb_buf_puts(out, MARK " -\n");
		return;
	}
	sb_buf_printf(out, MARK " %s%" PRIu64 " %" PRIu64 " ", file->project ? PROJECT : "",
		      file->inode, file->device);
	if (file->has_birth)
		sb_buf_printf(out, "%" PRId64 ".%09" PRIu32 "\n", file->birth_s, file->birth_ns);
	else
		sb_buf_puts(out, "-\n");
}

void sb_session_print(const struct sb_kept_list *list, struct sb_buf *out)
{
	sb_buf_puts(out, "# Answers kept by sandbash --session.  Above each rule: the file it was "
			 "about.\n");
	for (size_t i = 0; i < list->count; i++) {
		const struct sb_kept_answer *kept = &list->entries[i];
		SB_AUTO_FREE char *pattern = sb_pattern_escape(kept->path);

		if (!pattern) {
			out->failed = true;
			return;
		}
		print_mark(&kept->file, out);
		if (kept->path[0] != '/') {
			sb_buf_printf(out, "%sconnect %s\n",
				      sb_access_equal(&kept->access, &sb_access_deny) ? "deny "
										      : "",
				      kept->path);
			continue;
		}
		sb_rule_print(&kept->access, pattern, out);
		sb_buf_putc(out, '\n');
	}
}
