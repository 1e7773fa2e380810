#include "base/base64.h"

void sb_base64_append(struct sb_buf *out, const char *bytes, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t at = 0; at < length; at += 3) {
		unsigned long bits = 0;
		char group[4];

		for (size_t i = 0; i < 3; i++)
			bits = bits << 8 | (at + i < length ? (unsigned char)bytes[at + i] : 0);
		for (size_t i = 0; i < 4; i++)
			group[i] = at + i <= length ? digits[bits >> (18 - 6 * i) & 63] : '=';
		sb_buf_append(out, group, sizeof group);
	}
}
