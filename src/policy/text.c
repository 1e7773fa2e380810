#include "policy/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/each.h"
#include "base/buf.h"
#include "policy/policy_impl.h"
#include "policy/settings.h"

static const struct {
	const char *word;
	const struct sb_access *access;
} short_forms[] = {
	{"write", &sb_access_write}, {"read", &sb_access_read},   {"deny", &sb_access_deny},
	{"ask", &sb_access_ask},     {"quiet", &sb_access_quiet},
};

static const char *const op_names[SB_OP_COUNT] = {"read", "modify", "create", "delete"};
static const char *const verdict_names[] = {"allow", "ask", "deny"};
static const char *const tier_names[SB_TIER_COUNT] = {
	"built-in",      "system",  "profile",     "global",
	"per-directory", "session", "policy file", "command line",
};

/* A pattern for the longest path, every byte of it with a backslash, must come back. */
#define MAX_TEXT (2 * PATH_MAX)

const char *sb_op_name(enum sb_op op)
{
	return op_names[op];
}

const char *sb_verdict_name(enum sb_verdict verdict)
{
	return verdict_names[verdict];
}

const char *sb_mode_name(enum sb_mode mode)
{
	return sb_settings[SB_SETTING_MODE].values[mode];
}

const char *sb_tmp_name(enum sb_tmp tmp)
{
	return sb_settings[SB_SETTING_TMP].values[tmp];
}

const char *sb_tier_name(enum sb_tier tier)
{
	return tier_names[tier];
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

int sb_mode_parse(const char *text, enum sb_mode *out_mode, struct sb_error *err)
{
	int value, status = sb_setting_parse(SB_SETTING_MODE, text, &value, err);

	if (status == SB_OK)
		*out_mode = (enum sb_mode)value;
	return status;
}

/* What may stand before the name of an operation: how much of the word it is, and what it means. */
static size_t prefix_of(const char *word, size_t length, enum sb_verdict *verdict)
{
	static const struct {
		const char *text;
		enum sb_verdict verdict;
	} prefixes[] = {{"ask:", SB_ASK}, {"quiet:", SB_DENY}};

	for (size_t i = 0; i < SB_COUNT(prefixes); i++) {
		size_t width = strlen(prefixes[i].text);

		if (length > width && memcmp(word, prefixes[i].text, width) == 0) {
			*verdict = prefixes[i].verdict;
			return width;
		}
	}
	*verdict = SB_ALLOW;
	return 0;
}

/* One '+'-separated element that only an access has: "read", "ask:delete", "deny". */
static bool is_access_element(const char *word, size_t length)
{
	enum sb_verdict verdict;

	if (prefix_of(word, length, &verdict))
		return true;
	for (size_t i = 0; i < SB_COUNT(short_forms); i++)
		if (is_word(word, length, short_forms[i].word))
			return true;
	for (size_t i = 0; i < SB_OP_COUNT; i++)
		if (is_word(word, length, op_names[i]))
			return true;
	return is_word(word, length, SB_WORD_FAST);
}

/* Is this word meant as an access, right or wrong?  "c++" is not: a line may begin with a path. */
static bool looks_like_access(const char *word, size_t length)
{
	for (;;) {
		const char *plus = memchr(word, '+', length);
		size_t part = plus ? (size_t)(plus - word) : length;

		if (is_access_element(word, part))
			return true;
		if (!plus)
			return false;
		word += part + 1;
		length -= part + 1;
	}
}

/* One element of the long form: "create" or "ask:delete". */
static int parse_element(const char *word, size_t length, struct sb_access *access, unsigned *seen,
			 struct sb_error *err)
{
	enum sb_verdict verdict;
	size_t prefix = prefix_of(word, length, &verdict);

	word += prefix;
	length -= prefix;
	for (unsigned op = 0; op < SB_OP_COUNT; op++) {
		if (!is_word(word, length, op_names[op]))
			continue;
		if (*seen & 1u << op)
			return sb_fail(err, SB_E_INVALID, 0, "'%s' is named twice in one access",
				       op_names[op]);
		*seen |= 1u << op;
		access->verdict[op] = (unsigned char)verdict;
		if (verdict == SB_DENY)
			access->quiet |= (unsigned char)(1u << op);
		return SB_OK;
	}
	for (size_t i = 0; i <= SB_COUNT(short_forms); i++) {
		const char *form = i < SB_COUNT(short_forms) ? short_forms[i].word : SB_WORD_FAST;

		if (is_word(word, length, form)) {
			sb_fail(err, SB_E_INVALID, 0, "'%s' stands alone, it cannot be combined",
				form);
			return sb_hint(err, "name the operations: read, modify, create, delete");
		}
	}
	sb_fail(err, SB_E_INVALID, 0, "unknown operation '%.*s'", (int)(length > 60 ? 60 : length),
		word);
	return sb_hint(err,
		       "operations are read, modify, create and delete, each alone, as ask:OP or "
		       "as quiet:OP");
}

int sb_access_parse(const char *word, size_t length, struct sb_access *out, struct sb_error *err)
{
	struct sb_access access = sb_access_deny;
	unsigned seen = 0;

	for (size_t i = 0; i < SB_COUNT(short_forms); i++) {
		if (is_word(word, length, short_forms[i].word)) {
			*out = *short_forms[i].access;
			return SB_OK;
		}
	}
	for (;;) {
		const char *plus = memchr(word, '+', length);
		size_t part = plus ? (size_t)(plus - word) : length;
		int status = parse_element(word, part, &access, &seen, err);

		if (status != SB_OK)
			return status;
		if (!plus)
			break;
		word += part + 1;
		length -= part + 1;
	}
	*out = access;
	return SB_OK;
}

void sb_access_print(const struct sb_access *access, struct sb_buf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < SB_COUNT(short_forms); i++) {
		if (sb_access_equal(access, short_forms[i].access)) {
			sb_buf_puts(out, short_forms[i].word);
			return;
		}
	}
	for (int op = 0; op < SB_OP_COUNT; op++) {
		bool quiet = access->quiet & 1u << op;

		if (access->verdict[op] == SB_DENY && !quiet)
			continue;
		sb_buf_printf(out, "%s%s%s", separator,
			      quiet                           ? "quiet:"
			      : access->verdict[op] == SB_ASK ? "ask:"
							      : "",
			      op_names[op]);
		separator = "+";
	}
}

/* "..." with escapes; on success *bytes stands after the closing quote. */
static int unquote(const char **bytes, const char *end, char **out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(MAX_TEXT);
	const char *at = *bytes + 1;

	for (;; at++) {
		unsigned char c;

		if (at == end)
			return sb_fail(err, SB_E_INVALID, 0, "a quote is never closed");
		c = (unsigned char)*at;
		if (c == '"')
			break;
		if (c == '\\') {
			if (++at == end)
				return sb_fail(err, SB_E_INVALID, 0, "a quote is never closed");
			switch (*at) {
			case '\\':
			case '"':
				c = (unsigned char)*at;
				break;
			case 'n':
				c = '\n';
				break;
			case 't':
				c = '\t';
				break;
			case 'r':
				c = '\r';
				break;
			case 'x':
				if (end - at > 2 && isxdigit((unsigned char)at[1]) &&
				    isxdigit((unsigned char)at[2])) {
					char digits[3] = {at[1], at[2], '\0'};

					c = (unsigned char)strtoul(digits, NULL, 16);
					at += 2;
					if (c)
						break;
				}
				return sb_fail(err, SB_E_INVALID, 0,
					       "\\x needs two hexadecimal digits, not 00");
			default:
				return sb_fail(err, SB_E_INVALID, 0,
					       "unknown escape '\\%c' in quotes", *at);
			}
		}
		sb_buf_putc(&text, (char)c);
	}
	*out = sb_buf_take(&text);
	*bytes = at + 1;
	return *out ? SB_OK : sb_fail(err, SB_E_INVALID, 0, "the path is too long");
}

/* The rest of a line as one path: quoted, or up to a comment. */
static int parse_path(const char *bytes, const char *end, char **out, struct sb_error *err)
{
	SB_AUTO_FREE char *path = NULL;

	if (*bytes == '"') {
		int status = unquote(&bytes, end, &path, err);

		if (status != SB_OK)
			return status;
		while (bytes < end && sb_line_blank(*bytes))
			bytes++;
		if (bytes < end && *bytes != '#')
			return sb_fail(err, SB_E_INVALID, 0,
				       "unexpected text after the closing quote");
	} else {
		for (const char *at = bytes; at < end; at++) {
			if (*at == '#' && at > bytes && sb_line_blank(at[-1])) {
				end = at;
				break;
			}
		}
		while (end > bytes && sb_line_blank(end[-1]))
			end--;
		path = malloc((size_t)(end - bytes) + 1); /* the bytes behind end are not ours */
		if (!path)
			return sb_no_memory(err);
		memcpy(path, bytes, (size_t)(end - bytes));
		path[end - bytes] = '\0';
	}
	if (!*path)
		return sb_fail(err, SB_E_INVALID, 0, "the path is empty");
	if (strlen(path) > MAX_TEXT)
		return sb_fail(err, SB_E_INVALID, 0, "the path is too long");
	*out = sb_take_ptr(&path);
	return SB_OK;
}

/* A limit of the log: a number, or "off". */
static int parse_keep(const char *value, struct sb_line *line, struct sb_error *err)
{
	size_t length = strlen(value);

	if (strcmp(value, "off") == 0) {
		line->keep = 0;
		return SB_OK;
	}
	if (strspn(value, "0123456789") == length && length <= 6)
		line->keep = strtoul(value, NULL, 10);
	if (line->keep == 0)
		return sb_fail(err, SB_E_INVALID, 0,
			       "a limit is a number from 1 to 999999 or 'off', not '%s'", value);
	return SB_OK;
}

/* The value of "keep": any number is on, 0 is off. */
static int parse_switch(const char *value, struct sb_line *line, struct sb_error *err)
{
	line->keep = strcmp(value, "on") == 0;
	if (!line->keep && strcmp(value, "off") != 0)
		return sb_fail(err, SB_E_INVALID, 0, "a switch is 'on' or 'off', not '%s'", value);
	return SB_OK;
}

static int keep_text(const char *value, struct sb_line *line, struct sb_error *err)
{
	(void)value;
	(void)line;
	(void)err;
	return SB_OK;
}

/* "NAME=VALUE", and none of our own: those tell what holds. */
static int parse_variable(const char *value, struct sb_line *line, struct sb_error *err)
{
	size_t name =
		strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	(void)line;
	if (name == 0 || value[name] != '=' || isdigit((unsigned char)value[0]) ||
	    strncmp(value, "SANDBASH", 8) == 0)
		return sb_fail(err, SB_E_INVALID, 0, "a variable is NAME=VALUE, not '%s'", value);
	return SB_OK;
}

/* "PATH NAME=VALUE": what is replaced, and the variable that does it. */
static int parse_cache(const char *value, struct sb_line *line, struct sb_error *err)
{
	size_t path = strcspn(value, " \t");
	const char *variable = value + path + strspn(value + path, " \t");

	if ((value[0] != '~' && value[0] != '/') || !strstr(variable, SB_CACHE_WORD)) {
		sb_fail(err, SB_E_INVALID, 0, "a cache is PATH NAME=VALUE, not '%s'", value);
		return sb_hint(err, "cache ~/.npm npm_config_cache=" SB_CACHE_WORD "/npm");
	}
	return parse_variable(variable, line, err);
}

static const struct {
	const char *word;
	enum sb_line_kind kind;
	int (*parse)(const char *value, struct sb_line *line, struct sb_error *err);
} others[] = {
	{"include", SB_LINE_INCLUDE, keep_text},
	{"shell", SB_LINE_SHELL, keep_text},
	{"log-keep-days", SB_LINE_LOG_KEEP_DAYS, parse_keep},
	{"log-keep-megabytes", SB_LINE_LOG_KEEP_MEGABYTES, parse_keep},
	{"log-static", SB_LINE_LOG_STATIC, parse_switch},
	{"connect", SB_LINE_CONNECT, keep_text},
	{"listen", SB_LINE_LISTEN, keep_text},
	/* from here on in a profile only: elsewhere these are names of files */
	{"program", SB_LINE_PROGRAM, keep_text},
	{"environment", SB_LINE_ENVIRONMENT, parse_variable},
	{"argument", SB_LINE_ARGUMENT, keep_text},
	{"say", SB_LINE_SAY, keep_text},
	{"login", SB_LINE_LOGIN, keep_text},
	{"include-profile", SB_LINE_INCLUDE_PROFILE, keep_text},
	{"project-file", SB_LINE_PROJECT_FILE, keep_text},
	{"cache", SB_LINE_CACHE, parse_cache},
};

#define PROFILE_WORDS 8

/* The words that begin a line and no rule: the settings of the table, then the others. */
#define ALL_WORDS (SB_SETTING_COUNT + SB_COUNT(others))
#define WORDS (ALL_WORDS - PROFILE_WORDS)

static const char *word_at(size_t which)
{
	return which < SB_SETTING_COUNT ? sb_settings[which].word
					: others[which - SB_SETTING_COUNT].word;
}

static int check_bytes(const char *bytes, size_t length, struct sb_error *err)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f) {
			sb_fail(err, SB_E_INVALID, 0, "byte 0x%02x is not allowed here", c);
			return sb_hint(err, c == '\r' ? "save the file with plain newlines"
						      : "quote the path: \"a\\x01b\"");
		}
	}
	return SB_OK;
}

/* A line that begins with neither an access nor a setting: a bare path, if it looks like one. */
static int parse_bare(const char *bytes, const char *end, struct sb_line *line,
		      struct sb_error *err)
{
	int status;

	line->kind = SB_LINE_RULE;
	line->access = sb_access_write;
	status = parse_path(bytes, end, &line->text, err);
	if (status != SB_OK)
		return status;
	if (!strchr("/~.\"", *bytes) && strpbrk(line->text, " \t")) {
		sb_fail(err, SB_E_INVALID, 0, "'%s' begins with no known word and is no path",
			line->text);
		sb_line_done(line);
		return sb_hint(
			err,
			"words are read, write, fast, ask, quiet, deny, tighten, connect, listen, include, network, mode, tmp, "
			"shell, log-keep-days, log-keep-megabytes, log-static, protect-ignored, "
			"clean-env, workers; "
			"a path with spaces begins with '/', '~' or './'");
	}
	return SB_OK;
}

static int parse_setting(size_t which, const char *rest, const char *end, struct sb_line *line,
			 struct sb_error *err)
{
	int status = parse_path(rest, end, &line->text, err);

	if (status != SB_OK)
		return status;
	if (which < SB_SETTING_COUNT) {
		line->kind = SB_LINE_SETTING;
		line->setting = (enum sb_setting)which;
		return sb_setting_parse(line->setting, line->text, &line->value, err);
	}
	which -= SB_SETTING_COUNT;
	line->kind = others[which].kind;
	return others[which].parse(line->text, line, err);
}

/* Where the word at bytes ends; *rest: where the next one begins. */
static size_t first_word(const char *bytes, const char *end, const char **rest)
{
	const char *at = bytes;
	size_t length;

	while (at < end && !sb_line_blank(*at))
		at++;
	length = (size_t)(at - bytes);
	while (at < end && sb_line_blank(*at))
		at++;
	*rest = at;
	return length;
}

/* "ask connect HOST", "deny connect HOST": *rest then stands at the host. */
static bool is_about_host(const char *word, size_t length, const char **rest, const char *end,
			  int *out_verdict)
{
	const char *host;

	if (!is_word(word, length, "ask") && !is_word(word, length, "deny"))
		return false;
	if (!is_word(*rest, first_word(*rest, end, &host), "connect") || host == end ||
	    *host == '#')
		return false;
	*rest = host;
	*out_verdict = *word == 'a' ? SB_ASK : SB_DENY;
	return true;
}

static int parse_line(const char *bytes, size_t length, size_t words, struct sb_line *out,
		      struct sb_error *err)
{
	struct sb_line line = {.kind = SB_LINE_EMPTY};
	const char *end = bytes + length, *rest;
	size_t word, which;
	int status;

	status = check_bytes(bytes, length, err);
	if (status != SB_OK)
		return status;
	while (bytes < end && sb_line_blank(*bytes))
		bytes++;
	while (end > bytes && sb_line_blank(end[-1]))
		end--;
	if (bytes == end || *bytes == '#') {
		*out = line;
		return SB_OK;
	}
	word = first_word(bytes, end, &rest);
	line.tightens = is_word(bytes, word, SB_WORD_TIGHTEN);
	if (line.tightens) {
		bytes = rest;
		word = first_word(bytes, end, &rest);
		if (!looks_like_access(bytes, word) || is_word(bytes, word, SB_WORD_FAST)) {
			sb_fail(err, SB_E_INVALID, 0, "'%s' needs an access and a path",
				SB_WORD_TIGHTEN);
			return sb_hint(err, "tighten read vendor; for a file of that name write "
					    "'./tighten'");
		}
	}
	for (which = 0; which < words; which++)
		if (is_word(bytes, word, word_at(which)))
			break;

	if (which == words && !looks_like_access(bytes, word)) {
		status = parse_bare(bytes, end, &line, err);
	} else if (rest == end || *rest == '#') {
		sb_fail(err, SB_E_INVALID, 0, "'%.*s' needs a value", (int)(word > 60 ? 60 : word),
			bytes);
		return sb_hint(err, "for a file of that name write './%.*s'",
			       (int)(word > 60 ? 60 : word), bytes);
	} else if (which < words) {
		status = parse_setting(which, rest, end, &line, err);
	} else if (!line.tightens && is_about_host(bytes, word, &rest, end, &line.value)) {
		line.kind = SB_LINE_CONNECT;
		status = parse_path(rest, end, &line.text, err);
	} else {
		line.kind = SB_LINE_RULE;
		line.fast = is_word(bytes, word, SB_WORD_FAST);
		line.access = sb_access_write;
		status = line.fast ? SB_OK : sb_access_parse(bytes, word, &line.access, err);
		if (status == SB_OK)
			status = parse_path(rest, end, &line.text, err);
	}
	if (status != SB_OK) {
		sb_line_done(&line);
		return status;
	}
	*out = line;
	return SB_OK;
}

int sb_line_parse(const char *bytes, size_t length, struct sb_line *out, struct sb_error *err)
{
	return parse_line(bytes, length, WORDS, out, err);
}

int sb_profile_line_parse(const char *bytes, size_t length, struct sb_line *out,
			  struct sb_error *err)
{
	return parse_line(bytes, length, ALL_WORDS, out, err);
}

void sb_line_done(struct sb_line *line)
{
	if (!line)
		return;
	free(line->text);
	line->text = NULL;
}
