#include "path/pattern.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "path/path.h"

#define MAX_COMPONENTS 256 /* half of PATH_MAX could be slashes; nobody's rule is that deep */

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

bool sb_pattern_is_glob(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text == '*' || *text == '?' || *text == '[')
			return true;
	}
	return false;
}

char *sb_pattern_escape(const char *path)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(2 * PATH_MAX);

	if (!strpbrk(path, "*?[\\"))
		return strdup(path);
	for (; *path; path++) {
		if (is_special(*path))
			sb_buf_putc(&out, '\\');
		sb_buf_putc(&out, *path);
	}
	return sb_buf_take(&out);
}

bool sb_pattern_names(const char *text, const char *path)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);

	return !pattern || strcmp(pattern, text) == 0;
}

/* Length of one set "[...]" at glob, brackets included; 0 when it never ends. */
static size_t set_length(const char *glob, size_t length)
{
	size_t i = 1;

	if (i < length && (glob[i] == '!' || glob[i] == '^'))
		i++;
	if (i < length && glob[i] == ']') /* a "]" right at the start is a member */
		i++;
	for (; i < length; i++) {
		if (glob[i] == '\\')
			i++;
		else if (glob[i] == ']')
			return i + 1;
	}
	return 0;
}

/* Length of the character at text; a byte that is no UTF-8 is a character of its own. */
static size_t character(const char *text, size_t length)
{
	size_t step = (unsigned char)text[0] < 0x80 ? 1 : sb_utf8_length(text, length);

	return step ? step : 1;
}

/* Its place in a range such as [a-z]; lone bytes come after all characters. */
static uint32_t rank(const char *text, size_t length)
{
	unsigned char c = (unsigned char)text[0];

	return length == 1 && c >= 0x80 ? 0x110000u + c : sb_utf8_point(text, length);
}

/* The member of a set at *i, which moves behind it. */
static uint32_t member(const char *set, size_t length, size_t *i)
{
	const char *at;
	size_t step;

	if (set[*i] == '\\')
		++*i;
	at = set + *i;
	step = character(at, length - *i);
	*i += step;
	return rank(at, step);
}

static bool set_has(const char *set, size_t length, uint32_t wanted)
{
	size_t i = 1;
	bool negated = set[i] == '!' || set[i] == '^', found = false;

	for (i += negated; i < length - 1;) { /* up to the closing bracket */
		uint32_t low = member(set, length, &i), high = low;

		if (set[i] == '-' && i + 1 < length - 1) {
			i++;
			high = member(set, length, &i);
		}
		found |= wanted >= low && wanted <= high;
	}
	return found != negated;
}

/* One step: does the glob's first element take the name's first character?  Sets both lengths. */
static bool take_one(const char *glob, size_t glob_length, const char *name, size_t name_length,
		     size_t *glob_step, size_t *name_step)
{
	size_t escaped = glob[0] == '\\', step;

	switch (glob[0]) {
	case '?':
		*glob_step = 1;
		*name_step = character(name, name_length);
		return true;
	case '[':
		*glob_step = set_length(glob, glob_length);
		*name_step = character(name, name_length);
		return set_has(glob, *glob_step, rank(name, *name_step));
	default:
		if (glob[escaped] != name[0])
			return false;
		step = character(name, name_length);
		*glob_step = escaped + step;
		*name_step = step;
		return *glob_step <= glob_length && memcmp(glob + escaped, name, step) == 0;
	}
}

/*
 * Matches character by character, so that an asterisk never ends inside one.
 * Only the last asterisk ever needs another try: if an earlier one could take
 * more, the later one can take that too.  So the cost is at most the product of
 * both lengths, and no pattern can make us hang.
 */
bool sb_glob_name(const char *glob, size_t glob_length, const char *name, size_t name_length)
{
	size_t g = 0, n = 0, retry_g = 0, retry_n = 0;
	bool starred = false;

	while (n < name_length) {
		size_t glob_step, name_step;

		if (g < glob_length && glob[g] == '*') {
			starred = true;
			retry_g = ++g;
			retry_n = n;
			continue;
		}
		if (g < glob_length && take_one(glob + g, glob_length - g, name + n,
						name_length - n, &glob_step, &name_step)) {
			g += glob_step;
			n += name_step;
			continue;
		}
		if (!starred)
			return false;
		g = retry_g;
		retry_n += character(name + retry_n, name_length - retry_n);
		n = retry_n;
	}
	while (g < glob_length && glob[g] == '*')
		g++;
	return g == glob_length;
}

static size_t component(const char *text)
{
	return sb_first_name_length(text);
}

static bool is_globstar(const char *glob, size_t length)
{
	return length == 2 && glob[0] == '*' && glob[1] == '*';
}

static const char *next_component(const char *text, size_t length)
{
	return text[length] == '/' ? text + length + 1 : text + length;
}

/* As above, one level up: names instead of characters, two asterisks instead of one. */
bool sb_glob_covers(const char *glob, const char *rest)
{
	const char *retry_glob = NULL, *retry_rest = NULL;

	for (;;) {
		size_t glob_length = component(glob), rest_length = component(rest);

		if (*glob == '\0')
			return true; /* all matched; what is left of rest lies beneath */
		if (is_globstar(glob, glob_length)) {
			glob = retry_glob = next_component(glob, glob_length);
			retry_rest = rest;
			continue;
		}
		if (*rest && sb_glob_name(glob, glob_length, rest, rest_length)) {
			glob = next_component(glob, glob_length);
			rest = next_component(rest, rest_length);
			continue;
		}
		if (!retry_glob || *retry_rest == '\0')
			return false;
		retry_rest = next_component(retry_rest, component(retry_rest));
		glob = retry_glob;
		rest = retry_rest;
	}
}

bool sb_pattern_covers(const struct sb_pattern *pattern, const char *path)
{
	size_t length = strlen(pattern->prefix);

	if (!sb_path_within(pattern->prefix, path))
		return false;
	if (!pattern->glob)
		return true;
	if (length > 1)
		path += length;
	return sb_glob_covers(pattern->glob, *path == '/' ? path + 1 : path);
}

int sb_pattern_compare(const struct sb_pattern *a, const struct sb_pattern *b)
{
	if (a->literals != b->literals)
		return a->literals > b->literals ? 1 : -1;
	if (a->wildcards != b->wildcards)
		return a->wildcards > b->wildcards ? 1 : -1;
	return 0;
}

/* Check one component and say whether it is literal. */
static int check_component(const char *text, size_t length, bool *out_literal, struct sb_error *err)
{
	*out_literal = true;
	for (size_t i = 0; i < length; i++) {
		size_t set;

		switch (text[i]) {
		case '\\':
			if (++i == length)
				return sb_fail(err, SB_E_INVALID, 0,
					       "a backslash has nothing to escape");
			break;
		case '[':
			*out_literal = false;
			set = set_length(text + i, length - i);
			if (set == 0) {
				sb_fail(err, SB_E_INVALID, 0, "'[' is never closed");
				return sb_hint(err, "write '\\[' for a name that holds a bracket");
			}
			i += set - 1;
			break;
		case '*':
		case '?':
			*out_literal = false;
			break;
		}
	}
	return SB_OK;
}

static void append_unescaped(struct sb_buf *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			i++;
		sb_buf_putc(out, text[i]);
	}
}

static int too_long(struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, 0, "the pattern is longer than %d bytes", PATH_MAX - 1);
}

/*
 * Most patterns are plain paths in canonical form already; a launch parses a hundred
 * and more of them.  0: text is not that plain.  Else its number of components.
 */
static unsigned plain_components(const char *text)
{
	unsigned components = 0;
	size_t length = 0, dots = 0; /* of the name that text points into */

	if (*text != '/')
		return 0;
	for (;; text++) {
		if (*text == '/' || *text == '\0') {
			if (components && (length == 0 || (dots == length && length <= 2)))
				return 0;
			if (*text == '\0')
				return components;
			components++;
			length = dots = 0;
		} else if (is_special(*text)) {
			return 0;
		} else {
			length++;
			dots += *text == '.';
		}
	}
}

static int parse_plain(const char *text, unsigned components, struct sb_pattern *out,
		       struct sb_error *err)
{
	char *copy = strdup(text); /* text and prefix are the same */

	if (!copy)
		return sb_no_memory(err);
	*out = (struct sb_pattern){.text = copy, .prefix = copy, .literals = components};
	return SB_OK;
}

int sb_pattern_parse(const char *text, struct sb_pattern *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf canonical = SB_BUF(2 * PATH_MAX);
	SB_AUTO_BUF struct sb_buf prefix = SB_BUF(PATH_MAX - 1);
	struct sb_pattern pattern = {0};
	size_t glob_at = 0;
	unsigned components = plain_components(text);

	if (components && components <= MAX_COMPONENTS && strlen(text) < PATH_MAX)
		return parse_plain(text, components, out, err);
	components = 0;
	if (text[0] != '/')
		return sb_fail(err, SB_E_INVALID, 0, "the pattern '%s' is not absolute", text);

	for (const char *part = text; *part;) {
		size_t length = component(part);
		bool literal;
		int status;

		if (length == 0) {
			part++;
			continue;
		}
		status = check_component(part, length, &literal, err);
		if (status != SB_OK)
			return status;
		if (++components > MAX_COMPONENTS)
			return sb_fail(err, SB_E_INVALID, 0,
				       "more than %d directories in a pattern", MAX_COMPONENTS);
		sb_buf_putc(&canonical, '/');
		if (!literal && glob_at == 0)
			glob_at = canonical.length;
		if (literal) {
			SB_AUTO_BUF struct sb_buf plain = SB_BUF(PATH_MAX);
			SB_AUTO_FREE char *again = NULL;

			/* One spelling per name: "\a" and "a" must compare equal. */
			append_unescaped(&plain, part, length);
			if (sb_buf_failed(&plain))
				return too_long(err);
			if (sb_is_dots(plain.data))
				return sb_fail(err, SB_E_INVALID, 0,
					       "a pattern cannot hold '.' or '..'");
			again = sb_pattern_escape(plain.data);
			if (!again)
				return sb_no_memory(err);
			sb_buf_puts(&canonical, again);
			pattern.literals++;
			if (glob_at == 0) {
				sb_buf_putc(&prefix, '/');
				sb_buf_puts(&prefix, plain.data);
			}
		} else {
			sb_buf_append(&canonical, part, length);
			if (!is_globstar(part, length))
				pattern.wildcards++;
		}
		part += length;
	}
	if (canonical.length == 0)
		sb_buf_putc(&canonical, '/');
	if (prefix.length == 0)
		sb_buf_putc(&prefix, '/');
	if (sb_buf_failed(&canonical) || sb_buf_failed(&prefix))
		return too_long(err);

	pattern.text = sb_buf_take(&canonical);
	pattern.prefix = sb_buf_take(&prefix);
	if (glob_at && pattern.text)
		pattern.glob = strdup(pattern.text + glob_at);
	if (!pattern.text || !pattern.prefix || (glob_at && !pattern.glob)) {
		sb_pattern_done(&pattern);
		return sb_no_memory(err);
	}
	*out = pattern;
	return SB_OK;
}

void sb_pattern_done(struct sb_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->prefix != pattern->text)
		free(pattern->prefix);
	free(pattern->text);
	free(pattern->glob);
	*pattern = (struct sb_pattern){0};
}

bool sb_pattern_reaches(const struct sb_pattern *pattern, const char *path)
{
	const char *glob = pattern->glob, *rest;

	if (sb_path_within(path, pattern->prefix))
		return true;
	if (!sb_path_within(pattern->prefix, path))
		return false;
	rest = path + (strcmp(pattern->prefix, "/") == 0 ? 0 : strlen(pattern->prefix));
	while (*rest == '/')
		rest++;
	while (*rest) {
		size_t name = sb_first_name_length(rest), part = sb_first_name_length(glob);

		if (part == 2 && memcmp(glob, "**", 2) == 0)
			return true;
		if (!part || !sb_glob_name(glob, part, rest, name))
			return false;
		rest += name + (rest[name] == '/');
		glob += part + (glob[part] == '/');
	}
	return *glob;
}
