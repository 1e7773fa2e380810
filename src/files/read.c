/*
 * read.c - the text of a file, or a part of it.
 *
 * A file within the limit is read whole and cut in memory, whatever its encoding.  Of a
 * larger one only the wanted lines are kept: it is read in chunks, forward to the first line
 * or backward from the end, as long as its lines end in the byte \n (all but UTF-16).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "files/content.h"

#define CHUNK ((size_t)64 * 1024)
#define MOST_EFFORT ((uint64_t)2 << 30) /* a second or two */

struct reading {
	struct sb_job *job;
	const struct sb_files_read_request *request;
	const struct sb_place *place;
	size_t limit;
	struct sb_stream stream;
	struct sb_buf data; /* becomes out->data */
	struct sb_files_text *out;
	char *chunk;     /* for files over the limit, and bytes */
	uint64_t effort; /* bytes looked through so far */
};

static ssize_t read_chunk(struct reading *reading, size_t size, uint64_t offset)
{
	struct sb_files_backend *backend = reading->job->view->backend;

	if (sb_job_cancelled(reading->job))
		return -ECANCELED;
	/* a file with holes can be as long as it likes to be */
	if (reading->effort > MOST_EFFORT)
		return -EFBIG;
	reading->effort += CHUNK;
	return backend->ops->read(backend, &reading->stream, reading->chunk,
				  size < CHUNK ? size : CHUNK, offset);
}

static int fail_read(struct reading *reading, ssize_t error)
{
	if (error == -EFBIG) {
		sb_refuse(reading->job->err, SB_FILES_TOO_LARGE, 0,
			  "'%s' has %llu bytes; that many are not looked through for lines",
			  reading->place->path, (unsigned long long)reading->stream.bytes);
		return sb_advise(
			reading->job->err,
			"The file is too long to look for lines. Ask for a range of bytes.");
	}
	return sb_refuse_errno(reading->job->err, (int)error, "read", reading->place->path);
}

static int too_much(struct reading *reading)
{
	sb_refuse(reading->job->err, SB_FILES_TOO_LARGE, 0,
		  "'%s' has %llu bytes; a result holds %zu", reading->place->path,
		  (unsigned long long)reading->stream.bytes, reading->limit);
	return sb_advise(
		reading->job->err,
		"Ask for a part: a range of lines, head, tail or a range of bytes of at most "
		"%zu bytes.",
		reading->limit);
}

/* Keep no more than the limit, and no half character. */
static int cut(struct reading *reading)
{
	struct sb_buf *data = &reading->data;
	size_t at = reading->limit;

	if (data->length <= at)
		return 0;
	if (!reading->request->cut)
		return too_much(reading);
	while (!reading->request->raw && at > reading->limit - 3 &&
	       ((unsigned char)data->data[at] & 0xc0) == 0x80)
		at--;
	data->length = at;
	data->data[at] = '\0';
	reading->out->truncated = true;
	return 0;
}

static uint64_t count_lines(const char *text, size_t length)
{
	struct sb_text_lines line = sb_text_lines(text, length);
	uint64_t lines = 0;

	while (sb_next_line(&line))
		lines++;
	return lines;
}

/* The byte behind the first count lines of text, or its end. */
static size_t skip_lines(const char *text, size_t length, uint64_t count)
{
	struct sb_text_lines line = sb_text_lines(text, length);

	while (count && sb_next_line(&line))
		count--;
	return length - (size_t)(line.end - line.at);
}

static bool wants_lines(const struct sb_files_read_request *request)
{
	return request->first_line || request->line_count || request->head || request->tail;
}

/* --- a file within the limit --------------------------------------------------------------- */

static void keep_part(struct sb_buf *data, size_t from, size_t to)
{
	memmove(data->data, data->data + from, to - from);
	data->length = to - from;
	if (data->length || data->capacity)
		data->data[data->length] = '\0';
}

static void choose_lines(struct reading *reading)
{
	const struct sb_files_read_request *request = reading->request;
	struct sb_files_text *out = reading->out;
	struct sb_buf *data = &reading->data;
	uint64_t total = count_lines(data->data, data->length), first = 1, count = total;
	size_t from, to;

	if (request->tail) {
		first = request->tail < total ? total - request->tail + 1 : 1;
	} else if (request->head) {
		count = request->head;
	} else {
		first = request->first_line ? request->first_line : 1;
		count = request->line_count ? request->line_count : total;
	}
	from = skip_lines(data->data, data->length, first - 1);
	to = from + skip_lines(data->data + from, data->length - from, count);
	out->truncated = to < data->length;
	out->total_lines = total;
	out->first_line = first;
	keep_part(data, from, to);
}

static int is_binary(struct reading *reading)
{
	return sb_refuse(reading->job->err, SB_FILES_BINARY, 0, "'%s' is binary, not text",
			 reading->place->path);
}

static int read_whole(struct reading *reading, size_t limit)
{
	struct sb_job *job = reading->job;
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(limit);
	int status = sb_content_stream(job, reading->place, &reading->stream, limit, &bytes);
	enum sb_files_encoding encoding;

	if (status < 0)
		return status;
	encoding = sb_encoding_detect(bytes.data, bytes.length, true);
	reading->out->encoding = encoding;
	reading->out->file_bytes = bytes.length;
	if (encoding == SB_FILES_BINARY_DATA)
		return is_binary(reading);
	if (encoding == SB_FILES_UTF8) { /* what is there is what is wanted */
		reading->data = bytes;
		bytes = SB_BUF(0);
	} else {
		sb_encoding_decode(encoding, bytes.data, bytes.length, &reading->data);
	}
	if (sb_buf_failed(&reading->data))
		return sb_refuse_memory(job->err);
	choose_lines(reading);
	return 0;
}

/* --- parts of a large one ------------------------------------------------------------------- */

/* Where line number first begins; the end of the file if it has less. */
static int find_line(struct reading *reading, uint64_t first, uint64_t *out_offset)
{
	uint64_t line = 1, at = 0;

	while (line < first) {
		ssize_t got = read_chunk(reading, CHUNK, at);
		const char *here = reading->chunk, *end = here + (got > 0 ? got : 0);

		if (got < 0)
			return fail_read(reading, got);
		if (got == 0)
			break;
		while (line < first) {
			const char *lf = memchr(here, '\n', (size_t)(end - here));

			here = lf ? lf + 1 : end;
			if (!lf)
				break;
			line++;
		}
		at += (uint64_t)(here - reading->chunk);
	}
	*out_offset = at;
	return 0;
}

/* Where the last count lines begin, looking back from the end. */
static int find_tail(struct reading *reading, uint64_t count, uint64_t *out_offset)
{
	uint64_t end = reading->stream.bytes, at = end;

	while (at > 0) {
		size_t size = at < CHUNK ? (size_t)at : CHUNK;
		ssize_t got = read_chunk(reading, size, at - size);

		if (got < 0)
			return fail_read(reading, got);
		if ((size_t)got < size)
			return fail_read(reading, -ESTALE);
		for (size_t i = size; i > 0; i--) {
			const char *lf = memrchr(reading->chunk, '\n', i);

			if (!lf)
				break;
			i = (size_t)(lf - reading->chunk) + 1;
			/* the \n that ends the file begins no line */
			if (at - size + i != end && --count == 0) {
				*out_offset = at - size + i;
				return 0;
			}
		}
		at -= size;
	}
	*out_offset = 0;
	return 0;
}

/* Bytes from offset on, up to count lines (0: all there are), a little over the limit. */
static int collect_lines(struct reading *reading, uint64_t offset, uint64_t count,
			 struct sb_buf *out)
{
	bool open = count > 0;

	while (out->length <= reading->limit) {
		ssize_t got = read_chunk(reading, CHUNK, offset);
		size_t take = got > 0 ? (size_t)got : 0;

		if (got < 0)
			return fail_read(reading, got);
		if (got == 0)
			return 0;
		if (open) {
			const char *here = reading->chunk, *end = here + got;

			while (count && here < end) {
				const char *lf = memchr(here, '\n', (size_t)(end - here));

				here = lf ? lf + 1 : end;
				count -= lf != NULL;
			}
			take = (size_t)(here - reading->chunk);
		}
		sb_buf_append(out, reading->chunk, take);
		offset += take;
		if (open && !count)
			break;
	}
	reading->out->truncated = offset < reading->stream.bytes;
	return 0;
}

static int give_piece(struct reading *reading, enum sb_files_encoding encoding,
		      struct sb_buf *bytes)
{
	enum sb_files_encoding piece;

	/* the beginning told what the file is, unless this part tells better */
	if (bytes->length > reading->limit && !reading->request->cut)
		return too_much(reading);
	piece = sb_encoding_detect(bytes->data, bytes->length, false);
	if (piece == SB_FILES_BINARY_DATA || encoding == SB_FILES_BINARY_DATA)
		return is_binary(reading);
	if (piece == SB_FILES_LATIN1)
		encoding = SB_FILES_LATIN1;
	reading->out->encoding = encoding;
	sb_encoding_decode(encoding, bytes->data, bytes->length, &reading->data);
	return 0;
}

static int read_lines(struct reading *reading, enum sb_files_encoding encoding)
{
	const struct sb_files_read_request *request = reading->request;
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(reading->limit + 2 * CHUNK);
	uint64_t first = request->first_line ? request->first_line : 1, offset = 0;
	uint64_t count = request->head ? request->head : request->line_count;
	int status = request->tail ? find_tail(reading, request->tail, &offset)
				   : find_line(reading, request->head ? 1 : first, &offset);

	if (status == 0)
		status = collect_lines(reading, offset, request->tail ? 0 : count, &bytes);
	if (status < 0)
		return status;
	reading->out->first_line = request->tail ? 0 : request->head ? 1 : first;
	return give_piece(reading, encoding, &bytes);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int collect_bytes(struct reading *reading, uint64_t offset, uint64_t count,
			 struct sb_buf *out)
{
	uint64_t end = count && count < UINT64_MAX - offset ? offset + count : UINT64_MAX;

	while (offset < end && out->length <= reading->limit) {
		ssize_t got = read_chunk(
			reading, end - offset < CHUNK ? (size_t)(end - offset) : CHUNK, offset);

		if (got < 0)
			return fail_read(reading, got);
		if (got == 0)
			break;
		sb_buf_append(out, reading->chunk, (size_t)got);
		offset += (uint64_t)got;
	}
	reading->out->truncated = offset < reading->stream.bytes;
	return 0;
}

/* Cut between characters at both ends. */
static void trim(struct sb_buf *bytes, enum sb_files_encoding encoding, uint64_t offset)
{
	size_t from = 0, to = bytes->length;
	bool wide = encoding >= SB_FILES_UTF16_LE && encoding <= SB_FILES_UTF16_BE_BARE;

	if (wide) {
		from = offset % 2 && to ? 1 : 0;
		to -= (to - from) % 2;
	} else if (encoding != SB_FILES_LATIN1) {
		while (offset && from < 3 && from < to &&
		       ((unsigned char)bytes->data[from] & 0xc0) == 0x80)
			from++;
		for (size_t back = 1; back <= 3 && back <= to - from; back++) {
			unsigned char byte = (unsigned char)bytes->data[to - back];

			if ((byte & 0xc0) == 0x80)
				continue;
			if (byte >= 0xc2 && sb_utf8_length(bytes->data + to - back, back) == 0)
				to -= back;
			break;
		}
	}
	keep_part(bytes, from, to);
}

static int read_bytes(struct reading *reading, enum sb_files_encoding encoding)
{
	const struct sb_files_read_request *request = reading->request;
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(reading->limit + 2 * CHUNK);
	int status = collect_bytes(reading, request->byte_offset, request->byte_count, &bytes);

	if (status < 0)
		return status;
	if (request->raw) {
		reading->out->encoding = encoding;
		reading->data = bytes;
		bytes = SB_BUF(0);
		return 0;
	}
	trim(&bytes, encoding, request->byte_offset);
	if (encoding >= SB_FILES_UTF16_LE && encoding <= SB_FILES_UTF16_BE_BARE) {
		reading->out->encoding = encoding;
		sb_encoding_decode(encoding, bytes.data, bytes.length, &reading->data);
		return 0;
	}
	return give_piece(reading, encoding, &bytes);
}

/* --- which way --------------------------------------------------------------------------------- */

static int check_request(struct sb_job *job, const struct sb_files_read_request *request)
{
	int kinds = (request->first_line || request->line_count) + (request->head != 0) +
		    (request->tail != 0) + request->by_bytes;

	if (kinds > 1)
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
				 "lines, head, tail and bytes exclude each other");
	if (request->raw && wants_lines(request))
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
				 "raw bytes have no lines: ask for a range of bytes");
	return 0;
}

static int read_open(struct reading *reading)
{
	const struct sb_files_read_request *request = reading->request;
	bool small = reading->stream.bytes <= reading->limit, wide;
	enum sb_files_encoding encoding;
	ssize_t got;

	if (small && !request->raw && !request->by_bytes)
		return read_whole(reading, reading->limit);
	reading->chunk = malloc(CHUNK);
	got = reading->chunk ? read_chunk(reading, CHUNK, 0) : -ENOMEM;
	if (got < 0)
		return fail_read(reading, got);
	encoding = sb_encoding_detect(reading->chunk, (size_t)got,
				      (uint64_t)got >= reading->stream.bytes);
	wide = encoding >= SB_FILES_UTF16_LE && encoding <= SB_FILES_UTF16_BE_BARE;
	if (request->raw || request->by_bytes)
		return read_bytes(reading, encoding);
	if (!wants_lines(request) && !request->cut)
		return too_much(reading);
	if (encoding == SB_FILES_BINARY_DATA)
		return is_binary(reading);
	if (wide)
		return read_whole(reading, reading->job->view->options.edit_limit_bytes);
	return read_lines(reading, encoding);
}

static int finish(struct reading *reading)
{
	struct sb_files_text *out = reading->out;
	struct sb_buf *data = &reading->data;
	int status = cut(reading);

	if (status < 0)
		return status;
	if (sb_buf_failed(data))
		return sb_refuse_memory(reading->job->err);
	out->length = data->length;
	if (!reading->request->raw) {
		out->eol = sb_eol_detect(data->data, data->length);
		out->line_count = count_lines(data->data, data->length);
	}
	out->data = data->length ? sb_buf_take(data) : calloc(1, 1);
	if (!out->data)
		return sb_refuse_memory(reading->job->err);
	memcpy(out->path, reading->place->path, sizeof out->path);
	return 0;
}

static int read_place(struct sb_job *job, const struct sb_files_read_request *request,
		      const struct sb_place *place, struct sb_files_text *out)
{
	struct sb_files_backend *backend = job->view->backend;
	struct reading reading = {.job = job,
				  .request = request,
				  .place = place,
				  .limit = job->view->options.read_limit_bytes,
				  .out = out};
	int status = backend->ops->open(backend, place, &reading.stream);

	if (status < 0)
		return fail_read(&reading, status);
	/* decoded text may be longer than the file's bytes */
	sb_buf_init(&reading.data, 3 * (job->view->options.edit_limit_bytes + reading.limit));
	out->file_bytes = reading.stream.bytes;
	status = read_open(&reading);
	backend->ops->close(backend, &reading.stream);
	if (status == 0)
		status = finish(&reading);
	sb_buf_done(&reading.data);
	free(reading.chunk);
	return status;
}

int sb_files_read(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_read_request *request, struct sb_files_text *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_READ, caller, err};
	const struct sb_intent wish = {.op = SB_READ};
	struct sb_files_text text = {0};
	struct sb_place place;
	int status = check_request(&job, request);

	if (status < 0)
		return status;
	status = sb_job_find(&job, request->path, SB_RESOLVE_FOLLOW, &place);
	if (status < 0)
		return status;
	status = sb_gate(&job, &wish, &place);
	if (status == 0)
		status = sb_job_must_exist(&job, &place, "read");
	if (status == 0)
		status = sb_content_check(&job, &place, "read");
	if (status == 0)
		status = read_place(&job, request, &place, &text);
	sb_job_release(&job, &place);
	if (status == 0)
		*out = text;
	return status;
}

void sb_files_text_done(struct sb_files_text *text)
{
	free(text->data);
	text->data = NULL;
}
