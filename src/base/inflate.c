#include "base/inflate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

#define MAX_BITS 15 /* of a code */
#define MAX_LITERALS 286
#define MAX_DISTANCES 30
#define FIXED_LITERALS 288

struct stream {
	const unsigned char *in, *end;
	unsigned held, bits; /* taken from in, and not used yet */
	unsigned char *out;
	size_t length, capacity, limit;
	bool failed;
};

/* How many codes there are of each length, and what they mean, in their order. */
struct codes {
	uint16_t count[MAX_BITS + 1], symbol[FIXED_LITERALS];
};

static unsigned take(struct stream *stream, unsigned bits)
{
	unsigned value;

	while (stream->bits < bits) {
		if (stream->in == stream->end) {
			stream->failed = true;
			return 0;
		}
		stream->held |= (unsigned)*stream->in++ << stream->bits;
		stream->bits += 8;
	}
	value = stream->held & ((1u << bits) - 1);
	stream->held >>= bits;
	stream->bits -= bits;
	return value;
}

/* There is room for length bytes more. */
static bool make_room(struct stream *stream, size_t length)
{
	size_t capacity = stream->capacity ? stream->capacity : 512;
	unsigned char *bytes;

	if (length > stream->limit - stream->length)
		return false;
	if (stream->length + length < stream->capacity)
		return true;
	while (capacity <= stream->length + length)
		capacity *= 2;
	bytes = realloc(stream->out, capacity);
	if (!bytes)
		return false;
	stream->out = bytes;
	stream->capacity = capacity;
	return true;
}

/* False: the lengths give codes that have more than one meaning. */
static bool make_codes(struct codes *codes, const unsigned char *lengths, unsigned count)
{
	unsigned offsets[MAX_BITS + 1];
	int left = 1;

	memset(codes, 0, sizeof *codes);
	for (unsigned i = 0; i < count; i++)
		codes->count[lengths[i]]++;
	offsets[1] = 0;
	for (unsigned bits = 1; bits <= MAX_BITS; bits++) {
		left = left * 2 - codes->count[bits];
		if (left < 0)
			return false;
		if (bits < MAX_BITS)
			offsets[bits + 1] = offsets[bits] + codes->count[bits];
	}
	for (unsigned i = 0; i < count; i++)
		if (lengths[i])
			codes->symbol[offsets[lengths[i]]++] = (uint16_t)i;
	codes->count[0] = 0;
	return true;
}

/* One code, bit by bit; fails for one that has no meaning. */
static unsigned decode(struct stream *stream, const struct codes *codes)
{
	unsigned code = 0, first = 0, index = 0;

	for (unsigned bits = 1; bits <= MAX_BITS && !stream->failed; bits++) {
		code |= take(stream, 1);
		if (code < first + codes->count[bits])
			return codes->symbol[index + (code - first)];
		index += codes->count[bits];
		first = (first + codes->count[bits]) << 1;
		code <<= 1;
	}
	stream->failed = true;
	return 0;
}

/* Bytes as they are. */
static bool copy_stored(struct stream *stream)
{
	size_t length, check;

	stream->held = stream->bits = 0; /* fewer than eight: the rest of this byte */
	length = take(stream, 8);
	length |= (size_t)take(stream, 8) << 8;
	check = take(stream, 8);
	check |= (size_t)take(stream, 8) << 8;
	if (stream->failed || length != (~check & 0xffff) ||
	    (size_t)(stream->end - stream->in) < length || !make_room(stream, length))
		return false;
	memcpy(stream->out + stream->length, stream->in, length);
	stream->in += length;
	stream->length += length;
	return true;
}

/* Bytes from before, which may go on into themselves. */
static bool repeat(struct stream *stream, size_t length, size_t distance)
{
	if (distance > stream->length || !make_room(stream, length))
		return false;
	for (; length; length--, stream->length++)
		stream->out[stream->length] = stream->out[stream->length - distance];
	return true;
}

static bool unpack_block(struct stream *stream, const struct codes *literals,
			 const struct codes *distances)
{
	static const uint16_t lengths[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
					   15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
					   67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const unsigned char length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
						    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
	static const uint16_t ways[] = {1,    2,    3,    4,     5,     7,    9,    13,
					17,   25,   33,   49,    65,    97,   129,  193,
					257,  385,  513,  769,   1025,  1537, 2049, 3073,
					4097, 6145, 8193, 12289, 16385, 24577};

	for (;;) {
		unsigned symbol = decode(stream, literals), way;
		size_t length;

		if (stream->failed)
			return false;
		if (symbol == 256)
			return true;
		if (symbol < 256) {
			if (!make_room(stream, 1))
				return false;
			stream->out[stream->length++] = (unsigned char)symbol;
			continue;
		}
		symbol -= 257;
		if (symbol >= sizeof length_bits)
			return false;
		length = lengths[symbol] + (size_t)take(stream, length_bits[symbol]);
		way = decode(stream, distances);
		if (stream->failed || way >= MAX_DISTANCES)
			return false;
		/* each two ways more take one bit more */
		way = ways[way] + take(stream, way < 4 ? 0 : way / 2 - 1);
		if (stream->failed || !repeat(stream, length, way))
			return false;
	}
}

static bool unpack_fixed(struct stream *stream)
{
	unsigned char lengths[FIXED_LITERALS];
	struct codes literals, distances;

	for (unsigned i = 0; i < FIXED_LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	make_codes(&literals, lengths, FIXED_LITERALS);
	memset(lengths, 5, MAX_DISTANCES);
	make_codes(&distances, lengths, MAX_DISTANCES);
	return unpack_block(stream, &literals, &distances);
}

/* The lengths of codes, packed themselves: a length, or how often the last one or none comes again. */
static bool read_lengths(struct stream *stream, const struct codes *codes, unsigned char *lengths,
			 unsigned count)
{
	unsigned at = 0;

	while (at < count) {
		unsigned symbol = decode(stream, codes), times;
		unsigned char again = 0;

		if (stream->failed)
			return false;
		if (symbol < 16) {
			lengths[at++] = (unsigned char)symbol;
			continue;
		}
		if (symbol == 16 && at == 0)
			return false;
		if (symbol == 16)
			again = lengths[at - 1];
		times = symbol == 16   ? 3 + take(stream, 2)
			: symbol == 17 ? 3 + take(stream, 3)
				       : 11 + take(stream, 7);
		if (stream->failed || times > count - at)
			return false;
		memset(lengths + at, again, times);
		at += times;
	}
	return lengths[256] != 0;
}

static bool unpack_dynamic(struct stream *stream)
{
	static const unsigned char order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					      11, 4,  12, 3, 13, 2, 14, 1, 15};
	unsigned char lengths[MAX_LITERALS + MAX_DISTANCES] = {0};
	unsigned literal_count = 257 + take(stream, 5), distance_count = 1 + take(stream, 5),
		 count = 4 + take(stream, 4);
	struct codes literals, distances;

	if (stream->failed || literal_count > MAX_LITERALS || distance_count > MAX_DISTANCES)
		return false;
	for (unsigned i = 0; i < count; i++)
		lengths[order[i]] = (unsigned char)take(stream, 3);
	if (stream->failed || !make_codes(&literals, lengths, sizeof order))
		return false;
	memset(lengths, 0, sizeof lengths);
	return read_lengths(stream, &literals, lengths, literal_count + distance_count) &&
	       make_codes(&literals, lengths, literal_count) &&
	       make_codes(&distances, lengths + literal_count, distance_count) &&
	       unpack_block(stream, &literals, &distances);
}

static bool unpack(struct stream *stream)
{
	bool last;

	do {
		unsigned kind;

		last = take(stream, 1);
		kind = take(stream, 2);
		if (stream->failed || !(kind == 0   ? copy_stored(stream)
					: kind == 1 ? unpack_fixed(stream)
					: kind == 2 ? unpack_dynamic(stream)
						    : false))
			return false;
	} while (!last);
	return true;
}

char *sb_inflate(const void *bytes, size_t length, size_t limit, size_t *out_length)
{
	const unsigned char *in = bytes;
	struct stream stream = {.in = in + 2, .end = in + length, .limit = limit};

	/* no dictionary that was agreed upon */
	if (length < 2 || (in[0] & 15) != 8 || (in[0] << 8 | in[1]) % 31 != 0 || (in[1] & 32) ||
	    !unpack(&stream) || !make_room(&stream, 0)) {
		free(stream.out);
		return NULL;
	}
	stream.out[stream.length] = '\0';
	*out_length = stream.length;
	return (char *)stream.out;
}
