/* test_hash.c - SHA-256 against the examples of FIPS 180-2. */
#include "unit.h"

#include <string.h>

#include "base/hash.h"

static void hashes(const char *bytes, size_t length, const char *expected)
{
	char hex[SB_SHA256_HEX];

	sb_sha256_hex(bytes, length, hex);
	assert_string_equal(hex, expected);
}

static void known_answers(void **state)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char *million = malloc(1000000);

	(void)state;
	hashes("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hashes("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hashes(two_blocks, strlen(two_blocks),
	       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', 1000000);
	hashes(million, 1000000,
	       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

static void every_byte_counts(void **state)
{
	char with_nul[SB_SHA256_HEX], without[SB_SHA256_HEX];

	(void)state;
	sb_sha256_hex("a\0b", 3, with_nul);
	sb_sha256_hex("a\0c", 3, without);
	assert_string_not_equal(with_nul, without);
	sb_sha256_hex("a", 1, without);
	assert_string_not_equal(with_nul, without);
}

/* However the bytes are cut into pieces, the sum is that of the whole. */
static void pieces_are_the_whole(void **state)
{
	unsigned char bytes[300];
	char whole[SB_SHA256_HEX], pieces[SB_SHA256_HEX];

	(void)state;
	unit_seed();
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)unit_random();
	for (size_t length = 0; length <= sizeof bytes; length++) {
		struct sb_sha256 sum, copy;

		sb_sha256_hex(bytes, length, whole);
		sb_sha256_init(&sum);
		for (size_t at = 0, step; at < length; at += step) {
			step = unit_below(130);
			step = step > length - at ? length - at : step;
			sb_sha256_add(&sum, bytes + at, step);
		}
		copy = sum;
		sb_sha256_add(&copy, "more", 4);
		sb_sha256_end(&sum, pieces);
		assert_string_equal(pieces, whole);
		sb_sha256_end(&copy, pieces);
		assert_string_not_equal(pieces, whole);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(known_answers),
	cmocka_unit_test(pieces_are_the_whole),
	cmocka_unit_test(every_byte_counts),
};

UNIT_MAIN("hash")
