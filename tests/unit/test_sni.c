/* test_sni.c - the name in a ClientHello, whole, cut, doubled and broken. */
#include "unit.h"

#include <string.h>

#include "network/sni.h"

struct hello {
	uint8_t bytes[SB_SNI_MAX + 64];
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

static void finds(void **state)
{
	static struct hello hello;
	char name[SB_HOST_NAME_SIZE];

	(void)state;
	make(&hello, (const char *const[]){"Www.Example.org", NULL});
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_FOUND);
	assert_string_equal(name, "www.example.org");
	/* what comes behind the first record is none of its */
	put(&hello, "more", 4);
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_FOUND);
	for (size_t length = 0; length < hello.length - 4; length++) {
		uint8_t *exact = malloc(length + !length);

		memcpy(exact, hello.bytes, length);
		assert_int_equal(sb_sni_read(exact, length, name), SB_SNI_MORE);
		free(exact);
	}
}

static void refuses(void **state)
{
	static struct hello hello;
	char name[SB_HOST_NAME_SIZE];

	(void)state;
	make(&hello, (const char *const[]){NULL});
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_NONE);
	make(&hello, (const char *const[]){"a.example", "b.example", NULL});
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_BAD);
	make(&hello, (const char *const[]){"10.0.0.1", NULL});
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_BAD);
	make(&hello, (const char *const[]){"a b", NULL});
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_BAD);
	make(&hello, (const char *const[]){"a.example", NULL});
	hello.bytes[4] -= 3; /* the record ends inside the message, which goes on in the next */
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_BAD);
	make(&hello, (const char *const[]){"a.example", NULL});
	hello.bytes[3] = 0xff;
	assert_int_equal(sb_sni_read(hello.bytes, hello.length, name), SB_SNI_BAD);
	assert_int_equal(sb_sni_read((const uint8_t *)"GET / HT", 8, name), SB_SNI_NONE);
	assert_int_equal(sb_sni_read((const uint8_t *)"\x16\x03\x01\0\x05\x02\0\0\0\0", 10, name),
			 SB_SNI_NONE); /* not a ClientHello */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds),
	cmocka_unit_test(refuses),
};

UNIT_MAIN("sni")
