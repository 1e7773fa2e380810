#include "files/content.h"

#include <errno.h>

#define CHUNK ((size_t)64 * 1024)

/* UTF-8 can be up to twice the bytes (Latin-1), and a \n may become \r\n on the way back. */
#define GROWTH 3

void sb_content_init(struct sb_content *content, size_t limit_bytes)
{
	sb_buf_init(&content->bytes, limit_bytes);
	sb_buf_init(&content->text, GROWTH * limit_bytes);
	content->encoding = SB_FILES_UTF8;
	content->eol = SB_FILES_EOL_NONE;
}

void sb_content_done(struct sb_content *content)
{
	sb_buf_done(&content->bytes);
	sb_buf_done(&content->text);
}

int sb_content_check(struct sb_job *job, const struct sb_place *place, const char *verb)
{
	switch (place->facts.type) {
	case SB_FILES_FILE:
		return 0;
	case SB_FILES_DIRECTORY:
		return sb_refuse_errno(job->err, EISDIR, verb, place->path);
	case SB_FILES_LINK: /* it was none when the path was resolved */
		return sb_refuse_errno(job->err, ESTALE, verb, place->path);
	default:
		return sb_refuse(job->err, SB_FILES_NOT_A_FILE, 0,
				 "cannot %s '%s': it is a FIFO, a device or a socket", verb,
				 place->path);
	}
}

static int too_large(struct sb_job *job, const char *path, uint64_t bytes, size_t limit)
{
	return sb_refuse(job->err, SB_FILES_TOO_LARGE, 0, "'%s' has %llu bytes; %zu are the limit",
			 path, (unsigned long long)bytes, limit);
}

int sb_content_stream(struct sb_job *job, const struct sb_place *place, struct sb_stream *stream,
		      size_t limit_bytes, struct sb_buf *out)
{
	struct sb_files_backend *backend = job->view->backend;
	char chunk[CHUNK];
	uint64_t at = 0;

	if (stream->bytes > limit_bytes)
		return too_large(job, place->path, stream->bytes, limit_bytes);
	for (;;) {
		ssize_t got = backend->ops->read(backend, stream, chunk, sizeof chunk, at);

		if (got < 0)
			return sb_refuse_errno(job->err, (int)got, "read", place->path);
		at += (uint64_t)got;
		if (at > limit_bytes)
			return too_large(job, place->path, at, limit_bytes);
		sb_buf_append(out, chunk, (size_t)got);
		if (sb_buf_failed(out))
			return sb_refuse_memory(job->err);
		if (sb_job_cancelled(job))
			return sb_refuse_errno(job->err, ECANCELED, "read", place->path);
		/* a short read at the known end is the end: spares another call */
		if (got == 0 || ((size_t)got < sizeof chunk && at >= stream->bytes))
			return 0;
	}
}

int sb_content_bytes(struct sb_job *job, const struct sb_place *place, size_t limit_bytes,
		     struct sb_buf *out)
{
	struct sb_files_backend *backend = job->view->backend;
	struct sb_stream stream;
	int status = backend->ops->open(backend, place, &stream);

	if (status < 0)
		return sb_refuse_errno(job->err, status, "read", place->path);
	status = sb_content_stream(job, place, &stream, limit_bytes, out);
	backend->ops->close(backend, &stream);
	return status;
}

int sb_content_load(struct sb_job *job, const struct sb_place *place, size_t limit_bytes,
		    struct sb_content *out)
{
	int status = sb_content_bytes(job, place, limit_bytes, &out->bytes);

	if (status < 0)
		return status;
	out->encoding = sb_encoding_detect(out->bytes.data, out->bytes.length, true);
	if (out->encoding == SB_FILES_BINARY_DATA)
		return 0;
	sb_encoding_decode(out->encoding, out->bytes.data, out->bytes.length, &out->text);
	out->eol = sb_eol_detect(out->text.data, out->text.length);
	if (out->eol == SB_FILES_EOL_CRLF) {
		SB_AUTO_BUF struct sb_buf plain = SB_BUF(out->text.limit);
		struct sb_buf with = out->text;

		sb_eol_to_lf(with.data, with.length, &plain);
		out->text = plain;
		plain = with;
	}
	return sb_buf_failed(&out->text) ? sb_refuse_memory(job->err) : 0;
}

int sb_content_encode(struct sb_job *job, const struct sb_content *like, const char *path,
		      const char *text, size_t length, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf ended = SB_BUF(out->limit);

	if (like->eol == SB_FILES_EOL_CRLF) {
		sb_eol_to_crlf(text, length, &ended);
		text = ended.data;
		length = ended.length;
	}
	if (!sb_encoding_encode(like->encoding, text, length, out))
		return sb_refuse(job->err, SB_FILES_ENCODING, 0,
				 "cannot write '%s': a character of the new text is not in its "
				 "encoding, %s",
				 path, sb_files_encoding_name(like->encoding));
	if (sb_buf_failed(&ended) || sb_buf_failed(out))
		return too_large(job, path, (uint64_t)length, job->view->options.edit_limit_bytes);
	return 0;
}
