/* test_sni.c - the name in a ClientHello, whole, cut, in pieces, doubled and broken. */
#include "unit.h"

#include <string.h>

#include "network/sni.h"

struct hello {
	uint8_t bytes[2 * SB_SNI_MAX];
	size_t length;
};

static void put(struct hello *hello, const void *bytes, size_t length)
{
	memcpy(hello->bytes + hello->length, bytes, length);
	hello->length += length;
}

static void put_number(struct hello *hello, unsigned value, size_t size)
{
	while (size--)
		hello->bytes[hello->length++] = (uint8_t)(value >> 8 * size);
}

/* An extension that names a host. */
static void put_name(struct hello *hello, const char *name)
{
	unsigned length = (unsigned)strlen(name);

	put_number(hello, 0, 2);
	put_number(hello, length + 5, 2);
	put_number(hello, length + 3, 2);
	put_number(hello, 0, 1);
	put_number(hello, length, 2);
	put(hello, name, length);
}

/* With these names, and other extensions around them. */
static void make(struct hello *out, const char *const *names)
{
	struct hello extensions = {0};

	put(&extensions, "\0\x17\0\0", 4);
	for (; *names; names++)
		put_name(&extensions, *names);
	put(&extensions, "\0\x10\0\5\0\3\2h2", 9);
	*out = (struct hello){0};
	put(out, "\x16\3\1", 3);
	put_number(out, (unsigned)(4 + 2 + 32 + 1 + 4 + 2 + 2 + extensions.length), 2);
	put_number(out, 1, 1);
	put_number(out, (unsigned)(2 + 32 + 1 + 4 + 2 + 2 + extensions.length), 3);
	put(out, "\3\3", 2);
	put(out, (uint8_t[32]){0}, 32);
	put(out, "\0\0\2\x13\1\1\0", 7);
	put_number(out, (unsigned)extensions.length, 2);
	put(out, extensions.bytes, extensions.length);
}

/* In memory that ends where the bytes do. */
static enum sb_sni read_copy(const void *bytes, size_t length, char name[SB_HOST_NAME_SIZE])
{
	uint8_t *exact = malloc(length + !length);
	enum sb_sni found;
	size_t end;

	assert_non_null(exact);
	memcpy(exact, bytes, length);
	found = sb_sni_read(exact, length, name, &end);
	assert_true(found == SB_SNI_FOUND ? end && end <= length : found != SB_SNI_MORE || !end);
	free(exact);
	return found;
}

static void is(const struct hello *hello, enum sb_sni expected)
{
	char name[SB_HOST_NAME_SIZE];

	assert_int_equal(read_copy(hello->bytes, hello->length, name), expected);
	if (expected == SB_SNI_FOUND)
		assert_string_equal(name, "www.example.org");
}

/* No part of it is taken for all of it. */
static void is_cut(const struct hello *hello)
{
	struct hello *cut = malloc(sizeof *cut);

	assert_non_null(cut);
	*cut = *hello;
	for (cut->length = 0; cut->length < hello->length; cut->length++)
		is(cut, SB_SNI_MORE);
	free(cut);
}

/* The same hello in records of at most these many bytes, the first one of another size. */
static void split(struct hello *out, const struct hello *whole, size_t first, size_t then)
{
	size_t at = 5, size = first;

	*out = (struct hello){0};
	for (; at < whole->length; at += size, size = then) {
		if (size > whole->length - at)
			size = whole->length - at;
		put(out, "\x16\3\3", 3);
		put_number(out, (unsigned)size, 2);
		put(out, whole->bytes + at, size);
	}
}

static void finds(void **state)
{
	static struct hello hello;

	(void)state;
	make(&hello, (const char *const[]){"Www.Example.org", NULL});
	is_cut(&hello);
	is(&hello, SB_SNI_FOUND);
	/* what comes behind the hello's record is none of its */
	put(&hello, "more", 4);
	is(&hello, SB_SNI_FOUND);
}

static void finds_in_pieces(void **state)
{
	static struct hello whole, parts;

	(void)state;
	make(&whole, (const char *const[]){"www.example.org", NULL});
	for (size_t first = 1; first < whole.length - 5; first++) {
		split(&parts, &whole, first, whole.length);
		is(&parts, SB_SNI_FOUND);
		is_cut(&parts);
		split(&parts, &whole, first, 1);
		is(&parts, SB_SNI_FOUND);
	}
	split(&parts, &whole, 1, 1);
	is_cut(&parts);
	put(&parts, "more", 4);
	is(&parts, SB_SNI_FOUND);
}

/* In place of, before, between and behind the pieces of a hello. */
static void refuses_what_is_skipped(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} others[] = {{"\x16\3\1\0\0", 5},         {"\x14\3\1\0\1\1", 6}, {"\x15\3\1\0\2\1\0", 7},
		      {"\x15\3\1\0\0", 5},         {"\x17\3\1\0\0", 5},   {"\x18\3\1\0\1x", 6},
		      {"\x16\3\1\0\4\0\0\0\0", 9}, {"\x16\3\1\x40\1", 5}};
	static struct hello whole, parts, mixed;

	(void)state;
	make(&whole, (const char *const[]){"www.example.org", NULL});
	split(&parts, &whole, 20, whole.length);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		mixed = (struct hello){0};
		put(&mixed, others[i].bytes, others[i].length);
		is(&mixed, SB_SNI_BAD);
		put(&mixed, whole.bytes, whole.length);
		is(&mixed, SB_SNI_BAD);
		mixed = (struct hello){0};
		put(&mixed, parts.bytes, 25);
		is(&mixed, SB_SNI_MORE);
		if (others[i].length == 9)
			continue; /* bytes of the hello */
		put(&mixed, others[i].bytes, others[i].length);
		put(&mixed, parts.bytes + 25, parts.length - 25);
		is(&mixed, SB_SNI_BAD);
	}
	/* two messages in one record */
	mixed = whole;
	put(&mixed, whole.bytes + 5, whole.length - 5);
	mixed.bytes[4] = (uint8_t)((whole.length - 5) * 2);
	is(&mixed, SB_SNI_BAD);
}

/* A server that ignores the version finds the same name. */
static void reads_any_version(void **state)
{
	static struct hello hello, before;

	(void)state;
	for (uint8_t version = 0; version < 16; version++) {
		make(&hello, (const char *const[]){"www.example.org", NULL});
		hello.bytes[1] = version;
		is(&hello, SB_SNI_FOUND);
		before = (struct hello){0};
		put(&before, "\x15\0\0\0\2\1\0", 7);
		before.bytes[1] = version;
		put(&before, hello.bytes, hello.length);
		is(&before, SB_SNI_BAD);
	}
	hello.bytes[1] = 16;
	is(&hello, SB_SNI_NONE);
}

static void refuses(void **state)
{
	static struct hello hello;

	(void)state;
	make(&hello, (const char *const[]){NULL});
	is(&hello, SB_SNI_NONE);
	make(&hello, (const char *const[]){"a.example", "b.example", NULL});
	is(&hello, SB_SNI_BAD);
	make(&hello, (const char *const[]){"10.0.0.1", NULL});
	is(&hello, SB_SNI_BAD);
	make(&hello, (const char *const[]){"a b", NULL});
	is(&hello, SB_SNI_BAD);
	make(&hello, (const char *const[]){"a.example", NULL});
	hello.bytes[4] -= 3; /* what follows is no record */
	is(&hello, SB_SNI_BAD);
	make(&hello, (const char *const[]){"a.example", NULL});
	hello.bytes[3] = 0xff;
	is(&hello, SB_SNI_BAD);
	make(&hello, (const char *const[]){"a.example", NULL});
	hello.bytes[6] = 1; /* 64 KiB more */
	is(&hello, SB_SNI_BAD);
}

/* Each byte in turn, inside the name, at its end and behind it: letters of a host name, and no NUL. */
static void refuses_bytes_of_no_name(void **state)
{
	static const char fine[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	static const char text[] = "good.example#evil";
	static struct hello hello;
	char name[SB_HOST_NAME_SIZE];

	(void)state;
	for (size_t length = 13; length <= sizeof text - 1; length++)
		for (int byte = 0; byte < 256; byte++) {
			char whole[sizeof text] = "";
			uint8_t *at;
			bool is_fine = byte && strchr(fine, byte);

			memcpy(whole, text, length);
			make(&hello, (const char *const[]){whole, NULL});
			at = memmem(hello.bytes, hello.length, "e#", 2);
			assert_non_null(at);
			at[1] = (uint8_t)byte;
			is_fine = is_fine || byte == '.' || (byte == '-' && length > 13);
			assert_int_equal(read_copy(hello.bytes, hello.length, name),
					 is_fine ? SB_SNI_FOUND : SB_SNI_BAD);
		}
}

/* Never whole, and as long as what is looked at: not for ever waited for. */
static void refuses_too_long(void **state)
{
	static struct hello whole, parts;

	(void)state;
	put(&whole, "\x16\3\1\0\0\1\0\xf0\0", 9);
	whole.length = SB_SNI_MAX / 4;
	split(&parts, &whole, 1, 1);
	assert_true(parts.length > SB_SNI_MAX);
	parts.length = SB_SNI_MAX - 1;
	is(&parts, SB_SNI_MORE);
	parts.length = SB_SNI_MAX;
	is(&parts, SB_SNI_BAD);
}

static void passes_others(void **state)
{
	char name[SB_HOST_NAME_SIZE];

	(void)state;
	assert_int_equal(read_copy("GET / HT", 8, name), SB_SNI_NONE);
	assert_int_equal(read_copy("\x13\3\1\0\0", 5, name), SB_SNI_NONE);
	assert_int_equal(read_copy("\x19\3\1\0\0", 5, name), SB_SNI_NONE);
	/* a length of 22, 278 or 5654 bytes in somebody's protocol */
	assert_int_equal(read_copy("\x16\0\xff\5\x0b"
				   "example",
				   12, name),
			 SB_SNI_NONE);
	assert_int_equal(read_copy("\x16\1\0\0\2\0\0\0", 8, name), SB_SNI_NONE);
	assert_int_equal(read_copy("\x16\x16\0\0\1\1", 6, name), SB_SNI_NONE);
}

/* What a server says first that wants another hello; RFC 8446, 4.1.3. */
static void knows_a_retry(void **state)
{
	uint8_t bytes[SB_SNI_RETRY + 1] = "\x16\3\3\0\x58\2\0\0\x54\3\3"
					  "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02"
					  "\x1e\x65\xb8\x91\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e"
					  "\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

	(void)state;
	for (size_t length = 0; length < SB_SNI_RETRY; length++)
		assert_int_equal(sb_sni_is_retry(bytes, length), SB_SNI_MORE);
	assert_int_equal(sb_sni_is_retry(bytes, SB_SNI_RETRY), SB_SNI_FOUND);
	for (size_t at = 0; at < SB_SNI_RETRY; at++) {
		bytes[at] ^= 1;
		/* versions and lengths say nothing about it */
		assert_int_equal(sb_sni_is_retry(bytes, SB_SNI_RETRY),
				 at == 0 || at == 5 || at >= 11 ? SB_SNI_NONE : SB_SNI_FOUND);
		bytes[at] ^= 1;
	}
	assert_int_equal(sb_sni_is_retry((const uint8_t *)"\x15\3\3\0\2\2\x28", 7), SB_SNI_NONE);
	assert_int_equal(sb_sni_other_record((const uint8_t *)"\x14\3\3\0\1"), 6);
	assert_int_equal(sb_sni_other_record((const uint8_t *)"\x17\3\3\1\1"), 262);
	assert_int_equal(sb_sni_other_record((const uint8_t *)"\x16\3\3\0\1"), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(knows_a_retry),
	cmocka_unit_test(finds),
	cmocka_unit_test(finds_in_pieces),
	cmocka_unit_test(refuses_what_is_skipped),
	cmocka_unit_test(reads_any_version),
	cmocka_unit_test(refuses),
	cmocka_unit_test(refuses_too_long),
	cmocka_unit_test(passes_others),
	cmocka_unit_test(refuses_bytes_of_no_name),
};

UNIT_MAIN("sni")
