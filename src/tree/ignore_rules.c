/*
 * The lines of one .gitignore, read as git reads them (gitignore(5), and where that is
 * silent, as git behaves; tests/unit/test_ignore.c compares with git itself).
 */
#include <stdlib.h>
#include <string.h>

#include "tree/ignore.h"
#include "tree/wildcard.h"

enum rule_kind {
	RULE_NAME,   /* the last name is this text */
	RULE_SUFFIX, /* the last name ends in this text */
	RULE_GLOB,   /* the last name matches the wildcard */
	RULE_PATH,   /* the path is this text, or begins with it and goes on as the wildcard says */
};

struct rule {
	enum rule_kind kind;
	bool negated, directory;
	const char *text;
	size_t length;
	struct sb_wildcard *wildcard; /* or NULL */
};

struct sb_ignore_rules {
	char *text;
	struct rule *all;
	size_t count;
};

/* Spaces at the end fall away, unless a backslash stands before them. */
static size_t without_spaces(const char *line, size_t length)
{
	size_t keep = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\\') {
			if (++i == length)
				return length;
			keep = i + 1;
		} else if (line[i] != ' ') {
			keep = i + 1;
		}
	}
	return keep;
}

/* How much of the text has no character that means something in a pattern? */
static size_t plain(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && !memchr("*?[\\", text[i], 4))
		i++;
	return i;
}

static bool compile_name(struct rule *rule)
{
	size_t literal = plain(rule->text, rule->length);

	if (literal == rule->length) {
		rule->kind = RULE_NAME;
	} else if (rule->text[0] == '*' &&
		   plain(rule->text + 1, rule->length - 1) == rule->length - 1) {
		rule->kind = RULE_SUFFIX;
		rule->text++;
		rule->length--;
	} else {
		rule->kind = RULE_GLOB;
		rule->wildcard = sb_wildcard_new(rule->text, rule->length, SB_WILDCARD_GIT);
		return rule->wildcard != NULL;
	}
	return true;
}

/*
 * git compares what stands before the first wildcard as text and hands the rest to its matcher
 * alone, so that the ** of "a**" + "/b" stands at a beginning.  The same is done here.
 */
static bool compile_path(struct rule *rule)
{
	size_t literal;

	rule->kind = RULE_PATH;
	if (rule->text[0] == '/') {
		rule->text++;
		rule->length--;
	}
	literal = plain(rule->text, rule->length);
	if (literal < rule->length) {
		rule->wildcard = sb_wildcard_new(rule->text + literal, rule->length - literal,
						 SB_WILDCARD_GIT);
		if (!rule->wildcard)
			return false;
	}
	rule->length = literal;
	return true;
}

static bool compile(struct rule *rule, const char *line, size_t length)
{
	*rule = (struct rule){.text = line, .length = length};
	if (rule->length && rule->text[0] == '!') {
		rule->negated = true;
		rule->text++;
		rule->length--;
	}
	if (rule->length && rule->text[rule->length - 1] == '/') {
		rule->directory = true;
		rule->length--;
	}
	return memchr(rule->text, '/', rule->length) ? compile_path(rule) : compile_name(rule);
}

static size_t count_lines(const char *text, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count;
}

static bool compile_all(struct sb_ignore_rules *rules, const char *at, const char *end)
{
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *line = at;
		size_t length = (size_t)((stop ? stop : end) - line);

		at += length + 1;
		if (!length || line[0] == '#')
			continue;
		if (line[length - 1] == '\r')
			length--;
		length = without_spaces(line, strnlen(line, length)); /* NUL ends a line for git */
		if (!compile(&rules->all[rules->count], line, length))
			return false;
		rules->count++;
	}
	return true;
}

struct sb_ignore_rules *sb_ignore_rules_new(const char *text, size_t length)
{
	struct sb_ignore_rules *rules = calloc(1, sizeof(*rules));
	size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	if (!rules)
		return NULL;
	rules->text = malloc(length + 1);
	rules->all = calloc(count_lines(text, length), sizeof(*rules->all));
	if (rules->text && length)
		memcpy(rules->text, text, length);
	if (!rules->text || !rules->all ||
	    !compile_all(rules, rules->text + mark, rules->text + length)) {
		sb_ignore_rules_free(rules);
		return NULL;
	}
	return rules;
}

void sb_ignore_rules_free(struct sb_ignore_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		sb_wildcard_free(rules->all[i].wildcard);
	free(rules->all);
	free(rules->text);
	free(rules);
}

static bool applies(const struct rule *rule, const char *path, size_t length, const char *name,
		    size_t name_length)
{
	switch (rule->kind) {
	case RULE_NAME:
		return name_length == rule->length && memcmp(name, rule->text, name_length) == 0;
	case RULE_SUFFIX:
		return name_length >= rule->length &&
		       memcmp(name + name_length - rule->length, rule->text, rule->length) == 0;
	case RULE_GLOB:
		return sb_wildcard_match(rule->wildcard, name, name_length);
	case RULE_PATH:
		if (length < rule->length || memcmp(path, rule->text, rule->length) != 0)
			return false;
		if (!rule->wildcard)
			return length == rule->length;
		return sb_wildcard_match(rule->wildcard, path + rule->length,
					 length - rule->length);
	}
	return false;
}

enum sb_ignore_said sb_ignore_rules_ask(const struct sb_ignore_rules *rules, const char *path,
					size_t length, bool directory)
{
	const char *slash = length ? memrchr(path, '/', length) : NULL;
	const char *name = slash ? slash + 1 : path;
	size_t name_length = (size_t)(path + length - name);

	for (size_t i = rules->count; i-- > 0;) { /* the last line that applies counts */
		const struct rule *rule = &rules->all[i];

		if (rule->directory && !directory)
			continue;
		if (applies(rule, path, length, name, name_length))
			return rule->negated ? SB_IGNORE_NO : SB_IGNORE_YES;
	}
	return SB_IGNORE_NOTHING;
}
