#include "network/sni.h"

#include <stdbool.h>
#include <string.h>

enum { CHANGE_CIPHER = 20, ALERT = 21, HANDSHAKE = 22, HEARTBEAT = 24 }; /* records */
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, SERVER_NAME = 0, HOST_NAME = 0, RANDOM = 32 };
enum { RECORD_HEAD = SB_SNI_HEAD, RECORD_MAX = 16 * 1024, MESSAGE_HEAD = 4 };

/* What is left of a piece of the message; ended too early: broken. */
struct piece {
	const uint8_t *bytes;
	size_t left;
	bool broken;
};

static unsigned number(struct piece *piece, size_t size)
{
	unsigned value = 0;

	if (piece->left < size) {
		piece->broken = true;
		piece->left = 0;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value = value << 8 | piece->bytes[i];
	piece->bytes += size;
	piece->left -= size;
	return value;
}

static struct piece take(struct piece *piece, size_t size)
{
	struct piece part = {piece->bytes, size, false};

	if (piece->left < size) {
		piece->broken = true;
		piece->left = 0;
		return (struct piece){piece->bytes, 0, true}; /* no NULL: 0 is added to it */
	}
	piece->bytes += size;
	piece->left -= size;
	return part;
}

/* A part that its length, of this many bytes, stands before. */
static struct piece counted(struct piece *piece, size_t size)
{
	unsigned length = number(piece, size);

	return take(piece, length);
}

static enum sb_sni read_names(struct piece extension, char out[SB_HOST_NAME_SIZE])
{
	struct piece list = counted(&extension, 2), name;
	struct sb_error err;

	if (number(&list, 1) != HOST_NAME)
		return SB_SNI_BAD;
	name = counted(&list, 2);
	/* RFC 6066: not more than one of a kind, and there is only this kind */
	if (list.broken || name.broken || list.left || extension.broken || extension.left)
		return SB_SNI_BAD;
	return sb_host_name((const char *)name.bytes, name.left, out, &err) == SB_OK ? SB_SNI_FOUND
										     : SB_SNI_BAD;
}

static enum sb_sni read_hello(struct piece hello, char out[SB_HOST_NAME_SIZE])
{
	enum sb_sni found = SB_SNI_NONE;
	struct piece extensions;

	take(&hello, 2 + RANDOM);
	counted(&hello, 1); /* session */
	counted(&hello, 2); /* ciphers */
	counted(&hello, 1); /* compression */
	if (!hello.broken && !hello.left)
		return SB_SNI_NONE; /* as before there were extensions */
	extensions = counted(&hello, 2);
	if (hello.broken || hello.left)
		return SB_SNI_BAD;
	while (extensions.left) {
		unsigned type = number(&extensions, 2);
		struct piece extension = counted(&extensions, 2);

		if (extensions.broken)
			return SB_SNI_BAD;
		if (type != SERVER_NAME)
			continue;
		if (found != SB_SNI_NONE)
			return SB_SNI_BAD;
		found = read_names(extension, out);
		if (found == SB_SNI_BAD)
			return found;
	}
	return found;
}

/*
 * SB_SNI_FOUND: a server may take it for TLS.  Version 3.x is TLS, whatever comes.  A server is told to ignore the
 * version (RFC 8446, 5.1), and Go's does below 16.0, where a record is a hello or a warning: both begin with a 1.
 */
static enum sb_sni begins(const uint8_t *bytes, size_t length)
{
	if (length && (bytes[0] < CHANGE_CIPHER || bytes[0] > HEARTBEAT))
		return SB_SNI_NONE;
	if (length < 2)
		return SB_SNI_MORE;
	if (bytes[1] == 3)
		return SB_SNI_FOUND;
	if (bytes[1] >= 16 || (bytes[0] != ALERT && bytes[0] != HANDSHAKE))
		return SB_SNI_NONE;
	if (length <= RECORD_HEAD)
		return SB_SNI_MORE;
	return bytes[RECORD_HEAD] == 1 ? SB_SNI_FOUND : SB_SNI_NONE;
}

/*
 * The first message, whose pieces are moved together at the start of bytes.
 *
 * Danger: servers differ in what they skip before and between the pieces (OpenSSL an empty record, Go a warning), and
 * behind what is skipped stands the name that they believe.  So there is nothing to skip: each record is a handshake's
 * and holds at least a byte of the hello, the last one all of its rest and no more.
 */
static enum sb_sni gather(uint8_t *bytes, size_t length, struct piece *out, size_t *out_end)
{
	size_t at = 0, have = 0, whole = MESSAGE_HEAD;

	while (have < whole) {
		size_t left = length - at, size, part;

		if (left && bytes[at] != HANDSHAKE)
			return SB_SNI_BAD;
		if (left < RECORD_HEAD)
			return SB_SNI_MORE;
		size = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
		if (!size || size > RECORD_MAX)
			return SB_SNI_BAD;
		left -= RECORD_HEAD;
		part = left < size ? left : size;
		memmove(bytes + have, bytes + at + RECORD_HEAD, part);
		at += RECORD_HEAD + part;
		have += part;
		if (have && bytes[0] != CLIENT_HELLO)
			return SB_SNI_BAD;
		if (have >= MESSAGE_HEAD)
			whole = MESSAGE_HEAD +
				((size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3]);
		if (whole > SB_SNI_MAX || (have >= MESSAGE_HEAD && have - part + size > whole))
			return SB_SNI_BAD;
		if (part < size)
			return SB_SNI_MORE;
	}
	*out_end = at;
	*out = (struct piece){bytes + MESSAGE_HEAD, whole - MESSAGE_HEAD, false};
	return SB_SNI_FOUND;
}

enum sb_sni sb_sni_read(uint8_t *bytes, size_t length, char out[SB_HOST_NAME_SIZE], size_t *out_end)
{
	struct piece hello;
	enum sb_sni found = begins(bytes, length);

	*out_end = 0;
	if (found == SB_SNI_FOUND)
		found = gather(bytes, length, &hello, out_end);
	if (found == SB_SNI_FOUND)
		return read_hello(hello, out);
	return found == SB_SNI_MORE && length >= SB_SNI_MAX ? SB_SNI_BAD : found;
}

enum sb_sni sb_sni_is_retry(const uint8_t *bytes, size_t length)
{
	/* what stands for a random number: the hash of "HelloRetryRequest" */
	static const uint8_t mark[RANDOM] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
					     0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
					     0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
					     0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
	const size_t at = RECORD_HEAD + MESSAGE_HEAD + 2;

	for (size_t i = 0; i < length && i < SB_SNI_RETRY; i++)
		if ((i == 0 && bytes[i] != HANDSHAKE) ||
		    (i == RECORD_HEAD && bytes[i] != SERVER_HELLO) ||
		    (i >= at && bytes[i] != mark[i - at]))
			return SB_SNI_NONE;
	return length < SB_SNI_RETRY ? SB_SNI_MORE : SB_SNI_FOUND;
}

size_t sb_sni_other_record(const uint8_t head[SB_SNI_HEAD])
{
	return head[0] == HANDSHAKE ? 0 : RECORD_HEAD + ((size_t)head[3] << 8 | head[4]);
}
