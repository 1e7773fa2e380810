#include "network/sni.h"

#include <stdbool.h>
#include <string.h>

enum { HANDSHAKE = 22, CLIENT_HELLO = 1, SERVER_NAME = 0, HOST_NAME = 0, RANDOM = 32 };

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
		return (struct piece){.broken = true};
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

enum sb_sni sb_sni_read(const uint8_t *bytes, size_t length, char out[SB_HOST_NAME_SIZE])
{
	static const uint8_t tls[] = {HANDSHAKE, 3};
	struct piece record, hello;
	size_t size;

	if (memcmp(bytes, tls, length < sizeof tls ? length : sizeof tls) != 0)
		return SB_SNI_NONE;
	if (length < 6)
		return SB_SNI_MORE;
	size = (size_t)bytes[3] << 8 | bytes[4];
	if (bytes[5] != CLIENT_HELLO)
		return SB_SNI_NONE;
	if (size < 4 || size + 5 > SB_SNI_MAX)
		return SB_SNI_BAD;
	if (length < size + 5)
		return SB_SNI_MORE;
	record = (struct piece){bytes + 6, size - 1, false};
	hello = counted(&record, 3);
	/* A hello in several records would hide its name from us.  No client needs that many bytes. */
	if (record.broken || record.left)
		return SB_SNI_BAD;
	return read_hello(hello, out);
}
