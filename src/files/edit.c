#include "files/edit.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "files/encoding.h"

/*
 * Bytes compared to find out whether the text is there with other white space.  What nearly
 * matches everywhere would take the product of both lengths, and this is for advice only.
 */
#define NEAR_EFFORT ((size_t)16 << 20)

/* One edit, with the line ends that the text has. */
struct needle {
	struct sb_buf old, new;
};

static const char *find(const char *text, size_t length, const struct sb_buf *what)
{
	return what->length > length ? NULL : memmem(text, length, what->data, what->length);
}

static size_t count_matches(const struct sb_buf *text, const struct sb_buf *what)
{
	const char *end = text->data + text->length, *at = text->data;
	size_t count = 0;

	while ((at = find(at, (size_t)(end - at), what))) {
		count++;
		at += what->length;
	}
	return count;
}

static uint64_t line_of(const struct sb_buf *text, const char *at)
{
	uint64_t line = 1;

	for (const char *here = text->data; here < at; here++)
		line += *here == '\n';
	return line;
}

/*
 * Is there a place that differs only in white space?  Its line number, for the advice; 0: no.
 * Bounded: a model waits for it.
 */
static bool is_near(const char *at, const char *end, const struct sb_buf *what, size_t *effort)
{
	const char *want = what->data, *want_end = want + what->length;

	while (want < want_end && *effort) {
		--*effort;
		while (want < want_end && isspace((unsigned char)*want))
			want++;
		for (; at < end && isspace((unsigned char)*at) && *effort; --*effort)
			at++;
		if (want == want_end)
			return true;
		if (!*effort || at == end || *at++ != *want++)
			return false;
	}
	return want == want_end;
}

static uint64_t find_near(const struct sb_buf *text, const struct sb_buf *what)
{
	const char *end = text->data + text->length;
	size_t skip = 0, effort = NEAR_EFFORT;
	char first;

	while (skip < what->length && isspace((unsigned char)what->data[skip]))
		skip++;
	if (skip == what->length || text->length > (size_t)4 << 20)
		return 0;
	first = what->data[skip];
	for (const char *at = text->data; at < end && effort; at++) {
		at = memchr(at, first, (size_t)(end - at));
		if (!at)
			return 0;
		if (is_near(at, end, what, &effort))
			return line_of(text, at);
	}
	return 0;
}

static int no_match(struct sb_job *job, const char *path, size_t number, const struct sb_buf *text,
		    const struct sb_buf *what)
{
	uint64_t near = find_near(text, what);

	sb_refuse(job->err, SB_FILES_NO_MATCH, 0, "edit %zu of '%s': its old text does not occur",
		  number, path);
	if (near)
		return sb_advise(
			job->err,
			"The old text of edit %zu occurs at line %llu with other white space. "
			"Read those lines and copy them exactly.",
			number, (unsigned long long)near);
	return sb_advise(
		job->err,
		"The old text of edit %zu is not in the file. Read the file again and copy "
		"the lines exactly, with their white space.",
		number);
}

static int ambiguous(struct sb_job *job, const char *path, size_t number, size_t matches)
{
	sb_refuse(job->err, SB_FILES_AMBIGUOUS_MATCH, 0,
		  "edit %zu of '%s': its old text occurs %zu times", number, path, matches);
	return sb_advise(
		job->err,
		"The old text of edit %zu occurs %zu times. Add lines before or after it until "
		"it occurs once, or ask to replace all.",
		number, matches);
}

/* text with what[0..limit) of the matches replaced, into out. */
static void substitute(const struct sb_buf *text, const struct needle *needle, size_t limit,
		       struct sb_buf *out)
{
	const char *at = text->data, *end = at + text->length;

	while (limit--) {
		const char *match = find(at, (size_t)(end - at), &needle->old);

		if (!match)
			break;
		sb_buf_append(out, at, (size_t)(match - at));
		sb_buf_append(out, needle->new.data, needle->new.length);
		at = match + needle->old.length;
	}
	sb_buf_append(out, at, (size_t)(end - at));
}

static int replace_text(struct sb_job *job, const struct sb_files_edit *edit, size_t number,
			const struct needle *needle, struct sb_edited *edited)
{
	struct sb_buf *text = edited->text;
	SB_AUTO_BUF struct sb_buf made = SB_BUF(text->limit);
	size_t matches = count_matches(text, &needle->old);
	struct sb_buf was;

	if (matches == 0)
		return no_match(job, edited->path, number, text, &needle->old);
	if (matches > 1 && edit->occurrence == SB_FILES_THE_ONLY)
		return ambiguous(job, edited->path, number, matches);
	if (edit->occurrence != SB_FILES_ALL)
		matches = 1;
	substitute(text, needle, matches, &made);
	was = *text;
	*text = made;
	made = was;
	edited->count += matches;
	return 0;
}

/* Where line begins; NULL: the text has not so many. */
static const char *find_line(const struct sb_buf *text, uint64_t line)
{
	const char *at = text->data, *end = at + text->length;

	while (--line) {
		const char *lf = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		if (!lf) /* behind the last line, which has no end: one more */
			return line == 1 && at < end ? end : NULL;
		at = lf + 1;
	}
	return at;
}

static int insert_text(struct sb_job *job, const struct sb_files_edit *edit, size_t number,
		       const struct needle *needle, struct sb_edited *edited)
{
	struct sb_buf *text = edited->text;
	SB_AUTO_BUF struct sb_buf made = SB_BUF(text->limit);
	const char *end = text->data + text->length,
		   *at = edit->line ? find_line(text, edit->line) : end;
	const struct sb_buf *new = &needle->new;
	struct sb_buf was;

	if (!at) {
		sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
			  "edit %zu of '%s': there is no line %llu", number, edited->path,
			  (unsigned long long)edit->line);
		return sb_advise(job->err,
				 "The file has %llu lines; use a number from 1 to that plus one.",
				 (unsigned long long)(line_of(text, end) -
						      (text->length && end[-1] == '\n')));
	}
	sb_buf_append(&made, text->data, (size_t)(at - text->data));
	/* a last line without end gets one, so that the new text begins on a line of its own */
	if (at == end && text->length && end[-1] != '\n')
		sb_buf_putc(&made, '\n');
	sb_buf_append(&made, new->data, new->length);
	if (at < end && new->length &&new->data[new->length - 1] != '\n')
		sb_buf_putc(&made, '\n');
	sb_buf_append(&made, at, (size_t)(end - at));
	was = *text;
	*text = made;
	made = was;
	edited->count++;
	return 0;
}

/*
 * The caller may write \n or \r\n for the end of a line, whatever the file has.  In a file
 * that has both, the text is looked for as it is, and then with \r\n.
 */
static void prepare(const struct sb_files_edit *edit, enum sb_files_eol eol,
		    const struct sb_buf *text, struct needle *needle)
{
	const char *old = edit->old_text ? edit->old_text : "";

	if (eol == SB_FILES_EOL_CRLF || eol == SB_FILES_EOL_LF) {
		sb_eol_to_lf(old, edit->old_length, &needle->old);
		sb_eol_to_lf(edit->new_text, edit->new_length, &needle->new);
		return;
	}
	sb_buf_append(&needle->old, old, edit->old_length);
	sb_buf_append(&needle->new, edit->new_text, edit->new_length);
	if (eol != SB_FILES_EOL_MIXED || !edit->old_text ||
	    find(text->data, text->length, &needle->old))
		return;
	sb_buf_done(&needle->old);
	sb_buf_done(&needle->new);
	sb_eol_to_crlf(old, edit->old_length, &needle->old);
	sb_eol_to_crlf(edit->new_text, edit->new_length, &needle->new);
}

static int apply_one(struct sb_job *job, const struct sb_files_edit *edit, size_t number,
		     struct sb_edited *edited)
{
	const struct sb_buf *text = edited->text;
	struct needle needle = {SB_BUF(text->limit), SB_BUF(text->limit)};
	int status;

	if (edit->old_text && edit->old_length == 0)
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
				 "edit %zu of '%s': its old text is empty", number, edited->path);
	prepare(edit, edited->eol, text, &needle);
	if (sb_buf_failed(&needle.old) || sb_buf_failed(&needle.new)) {
		status = sb_refuse_memory(job->err);
	} else if (edit->old_text) {
		status = replace_text(job, edit, number, &needle, edited);
	} else {
		status = insert_text(job, edit, number, &needle, edited);
	}
	sb_buf_done(&needle.old);
	sb_buf_done(&needle.new);
	if (status == 0 && sb_buf_failed(text))
		status = sb_refuse(job->err, SB_FILES_TOO_LARGE, 0,
				   "edit %zu of '%s': the text gets too long", number,
				   edited->path);
	return status;
}

int sb_edit_apply(struct sb_job *job, const struct sb_files_edit *edits, size_t count,
		  struct sb_edited *edited)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		if (sb_job_cancelled(job))
			return sb_refuse_errno(job->err, ECANCELED, "edit", edited->path);
		status = apply_one(job, &edits[i], i + 1, edited);
	}
	return status;
}
