#include "mcp/server/spool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "mcp/wire/rpc.h"

void sb_spool_init(struct sb_spool *spool)
{
	*spool = (struct sb_spool){.fd = -1};
}

void sb_spool_done(struct sb_spool *spool)
{
	sb_auto_close(&spool->fd);
	free(spool->tail);
	sb_spool_init(spool);
}

static size_t add_head(struct sb_spool *spool, const char *bytes, size_t length)
{
	size_t room = SB_SPOOL_HEAD - spool->head, put = 0;

	if (spool->tail || !room)
		return 0;
	if (spool->fd < 0)
		spool->fd = memfd_create("output", MFD_CLOEXEC);
	if (length > room)
		length = room;
	while (put < length) {
		ssize_t wrote =
			pwrite(spool->fd, bytes + put, length - put, (off_t)(spool->head + put));

		if (wrote <= 0)
			break;
		put += (size_t)wrote;
	}
	spool->head += put;
	return put;
}

void sb_spool_add(struct sb_spool *spool, const char *bytes, size_t length)
{
	size_t put = add_head(spool, bytes, length);

	spool->total += put;
	bytes += put;
	length -= put;
	if (!length)
		return;
	if (!spool->tail)
		spool->tail = malloc(SB_SPOOL_TAIL);
	for (size_t i = 0; spool->tail && i < length;) {
		size_t at = (size_t)((spool->total + i - spool->head) % SB_SPOOL_TAIL),
		       part = SB_SPOOL_TAIL - at;

		if (part > length - i)
			part = length - i;
		memcpy(spool->tail + at, bytes + i, part);
		i += part;
	}
	spool->total += length;
}

size_t sb_spool_read(const struct sb_spool *spool, uint64_t offset, char *out, size_t length,
		     uint64_t *out_offset)
{
	uint64_t kept;

	if (offset > spool->total)
		offset = spool->total;
	*out_offset = offset;
	if (offset < spool->head) {
		ssize_t got;

		if (length > spool->head - offset)
			length = (size_t)(spool->head - offset);
		got = pread(spool->fd, out, length, (off_t)offset);
		return got > 0 ? (size_t)got : 0;
	}
	if (!spool->tail)
		return 0;
	kept = spool->total - spool->head < SB_SPOOL_TAIL ? spool->head
							  : spool->total - SB_SPOOL_TAIL;
	if (offset < kept)
		*out_offset = offset = kept;
	if (length > spool->total - offset)
		length = (size_t)(spool->total - offset);
	for (size_t i = 0; i < length; i++)
		out[i] = spool->tail[(offset + i - spool->head) % SB_SPOOL_TAIL];
	return length;
}

/* How many bytes at the end of a piece are the beginning of a character that goes on? */
static size_t torn_end(const char *bytes, size_t length)
{
	for (size_t back = 1; back <= 3 && back <= length; back++) {
		unsigned char c = (unsigned char)bytes[length - back];
		size_t wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if (c >= 0x80 && c < 0xc0)
			continue;
		return wants > back ? back : 0;
	}
	return 0;
}

static size_t torn_start(const char *bytes, size_t length)
{
	size_t skip = 0;

	while (skip < 3 && skip < length && ((unsigned char)bytes[skip] & 0xc0) == 0x80)
		skip++;
	return skip;
}

json_t *sb_spool_text(const struct sb_spool *spool, uint64_t offset, size_t limit, bool *out_cut)
{
	uint64_t all = spool->total > offset ? spool->total - offset : 0, at, tail_at;
	size_t first = all <= limit ? (size_t)all : limit / 2, last = limit - first, got;
	SB_AUTO_FREE char *piece = malloc(limit + 1);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(limit + 256);

	*out_cut = false;
	if (!piece)
		return sb_rpc_string("");
	got = sb_spool_read(spool, offset, piece, first, &at);
	if (all <= limit && got == all)
		return sb_rpc_text(piece, got);
	got -= torn_end(piece, got);
	sb_buf_append(&text, piece, got);
	at += got;
	got = sb_spool_read(spool, spool->total - last > at ? spool->total - last : at, piece, last,
			    &tail_at);
	first = torn_start(piece, got);
	sb_buf_printf(&text, "\n[... %llu bytes left out ...]\n",
		      (unsigned long long)(tail_at + first - at));
	sb_buf_append(&text, piece + first, got - first);
	*out_cut = true;
	return sb_rpc_buf(&text);
}
