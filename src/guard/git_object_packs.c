/*
 * Objects in packs: gitformat-pack(5).
 *
 * An object may be told as what differs from another one, and that again; the base of such a chain is read
 * first, and the differences are put onto it one by one.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/inflate.h"
#include "base/words.h"
#include "guard/git_objects.h"

#define MAX_CHAIN 256 /* git makes 50, older ones 250 */
#define HEADER 8
#define FAN (256 * 4)

enum { OFS_DELTA = 6, REF_DELTA = 7 };

static bool read_exactly(int fd, void *out, size_t length, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, out, length, (off_t)offset) == (ssize_t)length;
}

static uint64_t number_of(const unsigned char *bytes, size_t length)
{
	uint64_t number = 0;

	while (length--)
		number = number << 8 | *bytes++;
	return number;
}

static bool read_number(int fd, size_t length, uint64_t offset, uint64_t *out)
{
	unsigned char bytes[8];

	if (!read_exactly(fd, bytes, length, offset))
		return false;
	*out = number_of(bytes, length);
	return true;
}

static int open_file(const char *directory, const char *name, size_t length, const char *ending)
{
	char path[PATH_MAX];
	struct stat info;
	int fd;

	if (snprintf(path, sizeof path, "%s/%.*s%s", directory, (int)length, name, ending) >=
	    (int)sizeof path)
		return -1;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool sb_git_pack_open(const char *directory, const char *name, struct sb_git_pack *out)
{
	static const unsigned char magic[HEADER] = {0xff, 't', 'O', 'c', 0, 0, 0, 2};
	size_t length = strlen(name);
	unsigned char header[HEADER];
	uint64_t count;

	if (length <= 4 || !sb_text_ends(name, ".idx"))
		return false;
	*out = (struct sb_git_pack){open_file(directory, name, length - 4, ".idx"),
				    open_file(directory, name, length - 4, ".pack"), 0};
	if (out->index >= 0 && out->data >= 0 &&
	    read_exactly(out->index, header, sizeof header, 0) &&
	    memcmp(header, magic, sizeof header) == 0 &&
	    read_number(out->index, 4, HEADER + FAN - 4, &count)) {
		out->count = (uint32_t)count;
		return true;
	}
	sb_git_pack_close(out);
	return false;
}

void sb_git_pack_close(struct sb_git_pack *pack)
{
	if (pack->index >= 0)
		close(pack->index);
	if (pack->data >= 0)
		close(pack->data);
	pack->index = pack->data = -1;
}

/* The index: how many names begin with each byte or less, then all names, sums, and offsets. */
bool sb_git_pack_find(const struct sb_git_pack *pack, const unsigned char *id, size_t id_length,
		      uint64_t *out_offset)
{
	uint64_t low = 0, high, names = HEADER + FAN,
		 offsets = names + (uint64_t)pack->count * (id_length + 4), offset;

	if (!read_number(pack->index, 4, HEADER + id[0] * 4u, &high) || high > pack->count ||
	    (id[0] && !read_number(pack->index, 4, HEADER + id[0] * 4u - 4, &low)))
		return false;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		unsigned char name[SB_GIT_MAX_ID];
		int order;

		if (!read_exactly(pack->index, name, id_length, names + middle * id_length))
			return false;
		order = memcmp(id, name, id_length);
		if (order == 0) {
			if (!read_number(pack->index, 4, offsets + middle * 4, &offset))
				return false;
			*out_offset = offset;
			return !(offset & 0x80000000u) ||
			       read_number(pack->index, 8,
					   offsets + (uint64_t)pack->count * 4 +
						   (offset & 0x7fffffff) * 8,
					   out_offset);
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/* One object as it stands in the pack. */
struct packed {
	unsigned type;
	uint64_t base; /* of what differs: where that begins */
	char *bytes;
	size_t length;
};

static bool read_packed(const struct sb_git_pack *pack, uint64_t offset, size_t id_length,
			size_t *left, struct packed *out)
{
	unsigned char head[64];
	ssize_t got = offset <= INT64_MAX ? pread(pack->data, head, sizeof head, (off_t)offset)
					  : -1;
	size_t at = 0, size, raw_length, shift = 4, end = got > 0 ? (size_t)got : 0;
	SB_AUTO_FREE char *raw = NULL;

	if (end < 2)
		return false;
	out->type = head[0] >> 4 & 7;
	size = head[0] & 15;
	while (head[at] & 0x80) {
		if (++at == end || shift > 32)
			return false;
		size |= (size_t)(head[at] & 0x7f) << shift;
		shift += 7;
	}
	at++;
	if (out->type == OFS_DELTA) {
		uint64_t back = head[at] & 0x7f;

		while (at < end && (head[at] & 0x80)) {
			if (++at == end || back > UINT64_MAX >> 8)
				return false;
			back = (back + 1) << 7 | (head[at] & 0x7f);
		}
		at++;
		if (back == 0 || back > offset)
			return false;
		out->base = offset - back;
	} else if (out->type == REF_DELTA) {
		if (end - at < id_length ||
		    !sb_git_pack_find(pack, head + at, id_length, &out->base))
			return false;
		at += id_length;
	}
	if (size > *left)
		return false;
	/* zlib's own worst case, and some */
	raw_length = size + size / 100 + 256;
	raw = malloc(raw_length);
	got = raw ? pread(pack->data, raw, raw_length, (off_t)(offset + at)) : -1;
	out->bytes = got > 0 ? sb_inflate(raw, (size_t)got, size, &out->length) : NULL;
	if (!out->bytes || out->length != size) {
		free(out->bytes);
		return false;
	}
	*left -= size;
	return true;
}

/* --- what differs ----------------------------------------------------------------------------------- */

struct delta {
	const unsigned char *at, *end;
};

static bool take_size(struct delta *delta, uint64_t *out)
{
	unsigned shift = 0;

	*out = 0;
	do {
		if (delta->at == delta->end || shift > 42)
			return false;
		*out |= (uint64_t)(*delta->at & 0x7f) << shift;
		shift += 7;
	} while (*delta->at++ & 0x80);
	return true;
}

/* The bytes of a number that are not zero, as the bits say. */
static bool take_bytes(struct delta *delta, unsigned bits, unsigned count, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < count; i++)
		if (bits & 1u << i) {
			if (delta->at == delta->end)
				return false;
			*out |= (uint64_t)*delta->at++ << 8 * i;
		}
	return true;
}

static char *put_onto(const char *base, size_t base_length, const struct packed *packed,
		      size_t *left, size_t *out_length)
{
	struct delta delta = {(const unsigned char *)packed->bytes,
			      (const unsigned char *)packed->bytes + packed->length};
	uint64_t from, size, offset, length;
	SB_AUTO_FREE char *result = NULL;
	size_t end = 0;

	if (!take_size(&delta, &from) || !take_size(&delta, &size) || from != base_length ||
	    size > *left)
		return NULL;
	result = malloc(size + 1);
	while (result && delta.at < delta.end) {
		unsigned code = *delta.at++;
		const char *source;

		if (code & 0x80) {
			if (!take_bytes(&delta, code, 4, &offset) ||
			    !take_bytes(&delta, code >> 4 & 7, 3, &length))
				return NULL;
			length = length ? length : 0x10000;
			if (offset > base_length || length > base_length - offset)
				return NULL;
			source = base + offset;
		} else {
			length = code;
			if (!code || length > (size_t)(delta.end - delta.at))
				return NULL;
			source = (const char *)delta.at;
			delta.at += length;
		}
		if (length > size - end)
			return NULL;
		memcpy(result + end, source, length);
		end += length;
	}
	if (!result || end != size)
		return NULL;
	*left -= size;
	result[end] = '\0';
	*out_length = end;
	return sb_take_ptr(&result);
}

static bool read_chain(const struct sb_git_pack *pack, uint64_t offset, size_t id_length,
		       size_t *left, struct packed *chain, size_t *count)
{
	for (*count = 0; *count < MAX_CHAIN;) {
		struct packed *one = &chain[*count];

		if (!read_packed(pack, offset, id_length, left, one))
			return false;
		++*count;
		if (one->type != OFS_DELTA && one->type != REF_DELTA)
			return true;
		offset = one->base;
	}
	return false;
}

bool sb_git_pack_read(const struct sb_git_pack *pack, uint64_t offset, size_t id_length,
		      size_t *left, struct sb_git_object *out)
{
	struct packed *chain = calloc(MAX_CHAIN, sizeof *chain);
	size_t count = 0;
	bool done = chain && read_chain(pack, offset, id_length, left, chain, &count);

	if (done) {
		struct packed *base = &chain[count - 1];

		*out = (struct sb_git_object){(enum sb_git_type)base->type, base->bytes,
					      base->length};
		base->bytes = NULL;
		for (size_t i = count - 1; i-- > 0 && done;) {
			char *next =
				put_onto(out->bytes, out->length, &chain[i], left, &out->length);

			free(out->bytes);
			out->bytes = next;
			done = next != NULL;
		}
	}
	for (size_t i = 0; i < count; i++)
		free(chain[i].bytes);
	free(chain);
	return done;
}
