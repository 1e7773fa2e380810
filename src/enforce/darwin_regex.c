/*
 * Names and patterns as regular expressions, byte by byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/words.h"
#include "enforce/darwin_impl.h"
#include "guard/fold.h"
#include "path/path.h"

char *sb_seatbelt_canonical(const char *path)
{
	static const char *const links[] = {"/tmp", "/var", "/etc"};
	char *canonical = NULL;

	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (sb_path_within(links[i], path))
			return asprintf(&canonical, "/private%s", path) < 0 ? NULL : canonical;
	return strdup(path);
}

static void put_byte(struct sb_buf *out, char c)
{
	if (strchr(".^$|?*+()[]{}\\", c))
		sb_buf_putc(out, '\\');
	sb_buf_putc(out, c);
}

void sb_regex_bytes(struct sb_buf *out, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		put_byte(out, bytes[i]);
}

static void put_letter(struct sb_buf *out, char c)
{
	if (sb_is_letter(c))
		sb_buf_append(out, (const char[]){'[', (char)(c | 0x20), (char)(c & ~0x20), ']'},
			      4);
	else
		put_byte(out, c);
}

/* How long the part of name is whose letters other characters stand for, together or in a row. */
static size_t count_odd(const char *name, size_t length)
{
	size_t end = 0;

	for (size_t at = 0; at == 0 || at < end; at++)
		for (size_t i = 0; i < sb_fold_odd_count; i++) {
			size_t size = strlen(sb_fold_odd[i].text);

			if (at + size <= length &&
			    strncasecmp(name + at, sb_fold_odd[i].text, size) == 0 &&
			    at + size > end)
				end = at + size;
		}
	return end;
}

/* All ways to spell it. */
static void put_odd(struct sb_buf *out, const char *name, size_t length)
{
	char bytes[4];

	if (!length)
		return;
	sb_buf_putc(out, '(');
	put_letter(out, *name);
	put_odd(out, name + 1, length - 1);
	for (size_t i = 0; i < sb_fold_odd_count; i++) {
		size_t size = strlen(sb_fold_odd[i].text);

		if (size > length || strncasecmp(name, sb_fold_odd[i].text, size) != 0)
			continue;
		sb_buf_putc(out, '|');
		sb_buf_append(out, bytes, sb_utf8_put(bytes, sb_fold_odd[i].point));
		put_odd(out, name + size, length - size);
	}
	sb_buf_putc(out, ')');
}

void sb_regex_folded(struct sb_buf *out, const char *name, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t odd = count_odd(name + i, length - i);

		if (odd)
			put_odd(out, name + i, odd);
		else
			put_letter(out, name[i]);
		i += odd ? odd : 1;
	}
}

/* "ab": a name begins otherwise; or with a and then otherwise, or ends; or with ab and goes on. */
void sb_regex_other_name(struct sb_buf *out, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		sb_buf_printf(out, "([^/%c", name[i]);
		if (sb_is_letter(name[i]))
			sb_buf_putc(out, (char)(name[i] ^ 0x20));
		sb_buf_puts(out, "][^/]*|");
		put_letter(out, name[i]);
	}
	sb_buf_puts(out, "[^/]+");
	for (size_t i = length; i; i--)
		sb_buf_puts(out, i > 1 ? ")?" : ")");
}

/* One character of several bytes in UTF-8; names on macOS have no others. */
#define LONGER                                                                                     \
	"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf][\x80-\xbf]|"                                \
	"[\xf0-\xf4][\x80-\xbf][\x80-\xbf][\x80-\xbf]"

/* The member as a set in small letters is asked about it; or as it is. */
static bool set_has(const char *set, size_t length, char c, bool folded)
{
	char small[256], one = folded && sb_is_letter(c) ? (char)(c | 0x20) : c;

	if (!folded || length > sizeof small)
		return sb_glob_name(set, length, &one, 1);
	for (size_t i = 0; i < length; i++)
		small[i] = sb_is_letter(set[i]) ? (char)(set[i] | 0x20) : set[i];
	return sb_glob_name(small, length, &one, 1);
}

static int put_set(struct sb_buf *out, const char *set, size_t length, bool folded,
		   struct sb_error *err)
{
	bool negated = set[1] == '!' || set[1] == '^', has[129] = {false};
	const char *before = "(";

	for (int c = 1; c < 128; c++)
		has[c] = c != '/' && set_has(set, length, (char)c, folded);
	for (int c = 1, last; c < 128; c = last + 1) {
		for (last = c; has[last] && has[last + 1];)
			last++;
		if (!has[c])
			continue;
		if (last - c < 2 || strchr("]^-[\\", c) || strchr("]^-[\\", last))
			last = c;
		sb_buf_puts(out, before);
		before = "|";
		if (last == c)
			put_byte(out, (char)c);
		else
			sb_buf_printf(out, "[%c-%c]", c, last);
	}
	if (*before == '(' || !sb_is_ascii(set, length)) {
		sb_fail(err, SB_E_UNSUPPORTED, 0, "a profile cannot say '%.*s'", (int)length, set);
		return sb_hint(err, "between brackets it knows ASCII characters, one at least");
	}
	sb_buf_puts(out, negated ? "|" LONGER ")" : ")");
	return SB_OK;
}

/* Behind the "]" that ends the set at glob; pattern.c has checked that there is one. */
static size_t set_length(const char *glob)
{
	size_t i = 1;

	i += glob[i] == '!' || glob[i] == '^';
	for (i += glob[i] == ']'; glob[i] != ']'; i++)
		i += glob[i] == '\\';
	return i + 1;
}

static int put_component(struct sb_buf *out, const char *glob, size_t length, bool folded,
			 struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < length && status == SB_OK; i++) {
		size_t size;

		switch (glob[i]) {
		case '*':
			sb_buf_puts(out, "[^/]*");
			break;
		case '?':
			sb_buf_puts(out, "([\x01-.0-\x7f]|" LONGER ")");
			break;
		case '[':
			size = set_length(glob + i);
			status = put_set(out, glob + i, size, folded, err);
			i += size - 1;
			break;
		case '\\':
			i++;
			/* fall through */
		default:
			if (folded)
				sb_regex_folded(out, glob + i, 1);
			else
				put_byte(out, glob[i]);
		}
	}
	return status;
}

int sb_regex_pattern(struct sb_buf *out, const struct sb_pattern *pattern, bool folded,
		     struct sb_error *err)
{
	char *prefix = sb_seatbelt_canonical(pattern->prefix);
	int status = prefix ? SB_OK : sb_no_memory(err);

	if (prefix && prefix[1])
		(folded ? sb_regex_folded : sb_regex_bytes)(out, prefix, strlen(prefix));
	free(prefix);
	for (const char *glob = pattern->glob; glob && *glob && status == SB_OK;) {
		size_t length = strcspn(glob, "/");

		if (length == 2 && memcmp(glob, "**", 2) == 0) {
			sb_buf_puts(out, "(/[^/]+)*");
		} else {
			sb_buf_putc(out, '/');
			status = put_component(out, glob, length, folded, err);
		}
		glob += length + (glob[length] == '/');
	}
	return status;
}
