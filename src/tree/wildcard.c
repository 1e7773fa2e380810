#include "tree/wildcard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tree/wildcard_set.h"

enum step_kind {
	STEP_TEXT, /* these bytes */
	STEP_ONE,  /* one character but "/" */
	STEP_SET,  /* one of a set, never "/" */
	STEP_STAR, /* any run without "/" */
	STEP_DIRS, /* nothing, or anything that ends in "/": the "**" and slash of "**" + "/x" */
	STEP_DEEP, /* anything */
	STEP_NEVER,
};

struct step {
	enum step_kind kind;
	uint32_t at, length; /* TEXT: in bytes; SET: at is its number */
};

struct sb_wildcard {
	struct step *steps;
	size_t step_count;
	struct sb_wildcard_set *sets;
	size_t set_count;
	char *bytes;
	unsigned flags;
};

/* ---- compiling ---- */

/* Step arrays have a place for every byte of the pattern: no step comes from less than one. */
static void add(struct sb_wildcard *wild, enum step_kind kind)
{
	wild->steps[wild->step_count++].kind = kind;
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static void add_byte(struct sb_wildcard *wild, size_t *used, char byte)
{
	struct step *last = wild->step_count ? &wild->steps[wild->step_count - 1] : NULL;

	if (!last || last->kind != STEP_TEXT) {
		add(wild, STEP_TEXT);
		last = &wild->steps[wild->step_count - 1];
		last->at = (uint32_t)*used;
	}
	wild->bytes[(*used)++] = wild->flags & SB_WILDCARD_NOCASE ? fold(byte) : byte;
	last->length++;
}

/* at is a "*": take it and those after it.  Returns what comes next. */
static const char *add_stars(struct sb_wildcard *wild, const char *pattern, const char *at,
			     const char *end)
{
	const char *after = at;
	bool begins = at == pattern || at[-1] == '/';
	bool git = wild->flags & SB_WILDCARD_GIT;
	bool several;

	while (after < end && *after == '*')
		after++;
	several = begins && (git ? after - at >= 2 : after - at == 2);
	if (several && after < end && *after == '/') {
		add(wild, STEP_DIRS);
		return after + 1;
	}
	/* git also counts an escaped slash behind it, though not as the end of a directory. */
	if (several && git && end - after >= 2 && after[0] == '\\' && after[1] == '/')
		add(wild, STEP_DEEP);
	else
		add(wild, several && after == end ? STEP_DEEP : STEP_STAR);
	return after;
}

/* at stands behind a "[".  Returns what comes after the set, or NULL. */
static const char *add_set(struct sb_wildcard *wild, const char *at, const char *end,
			   bool *out_nomem)
{
	struct sb_wildcard_set *set = &wild->sets[wild->set_count];
	const char *close;

	memset(set, 0, sizeof(*set));
	set->fold = wild->flags & SB_WILDCARD_NOCASE;
	close = sb_wildcard_set_parse(set, at, end, wild->flags & SB_WILDCARD_GIT, out_nomem);
	if (!close) {
		sb_wildcard_set_done(set);
		return NULL;
	}
	add(wild, STEP_SET);
	wild->steps[wild->step_count - 1].at = (uint32_t)wild->set_count++;
	return close + 1;
}

static bool compile(struct sb_wildcard *wild, const char *pattern, const char *end)
{
	const char *at = pattern, *after;
	size_t used = 0;
	bool nomem = false;

	while (at < end) {
		switch (*at) {
		case '*':
			at = add_stars(wild, pattern, at, end);
			break;
		case '?':
			add(wild, STEP_ONE);
			at++;
			break;
		case '[':
			after = add_set(wild, at + 1, end, &nomem);
			if (nomem)
				return false;
			if (after) {
				at = after;
			} else if (wild->flags & SB_WILDCARD_GIT) {
				add(wild, STEP_NEVER);
				return true;
			} else {
				add_byte(wild, &used, *at++);
			}
			break;
		case '\\':
			if (at + 1 < end) {
				at++;
			} else if (wild->flags & SB_WILDCARD_GIT) {
				add(wild, STEP_NEVER);
				return true;
			}
			/* fall through */
		default:
			add_byte(wild, &used, *at++);
		}
	}
	return true;
}

static size_t count(const char *text, size_t length, char wanted)
{
	size_t found = 0;

	for (size_t i = 0; i < length; i++)
		found += text[i] == wanted;
	return found;
}

struct sb_wildcard *sb_wildcard_new(const char *pattern, size_t length, unsigned flags)
{
	struct sb_wildcard *wild = calloc(1, sizeof(*wild));

	if (!wild)
		return NULL;
	wild->flags = flags;
	wild->steps = calloc(length + 1, sizeof(*wild->steps));
	wild->sets = calloc(count(pattern, length, '[') + 1, sizeof(*wild->sets));
	wild->bytes = malloc(length + 1);
	if (!wild->steps || !wild->sets || !wild->bytes ||
	    !compile(wild, pattern, pattern + length)) {
		sb_wildcard_free(wild);
		return NULL;
	}
	return wild;
}

void sb_wildcard_free(struct sb_wildcard *wildcard)
{
	if (!wildcard)
		return;
	for (size_t i = 0; i < wildcard->set_count; i++)
		sb_wildcard_set_done(&wildcard->sets[i]);
	free(wildcard->sets);
	free(wildcard->steps);
	free(wildcard->bytes);
	free(wildcard);
}

/* ---- matching ---- */

struct place { /* where to go on after a failure: this step, from this byte */
	size_t step;
	const char *at;
	enum step_kind kind;
	bool set;
};

static bool same(const struct sb_wildcard *wild, const char *text, const char *bytes, size_t length)
{
	if (!(wild->flags & SB_WILDCARD_NOCASE))
		return memcmp(text, bytes, length) == 0;
	for (size_t i = 0; i < length; i++)
		if (fold(text[i]) != bytes[i])
			return false;
	return true;
}

static size_t character_bytes(const struct sb_wildcard *wild, const char *at, const char *end)
{
	size_t bytes = 1;

	if (!(wild->flags & SB_WILDCARD_GIT) && (*at & 0x80))
		sb_wildcard_character(at, (size_t)(end - at), &bytes);
	return bytes;
}

/* How many bytes a step of fixed size takes at at; 0: it does not match. */
static size_t taken(const struct sb_wildcard *wild, const struct step *step, const char *at,
		    const char *end)
{
	size_t left = (size_t)(end - at), bytes = 1;
	uint32_t c;

	if (step->kind == STEP_NEVER || at == end)
		return 0;
	if (step->kind == STEP_TEXT)
		return left >= step->length && same(wild, at, wild->bytes + step->at, step->length)
			       ? step->length
			       : 0;
	if (*at == '/')
		return 0;
	if (step->kind == STEP_ONE)
		return character_bytes(wild, at, end);
	c = wild->flags & SB_WILDCARD_GIT ? (unsigned char)*at
					  : sb_wildcard_character(at, left, &bytes);
	return sb_wildcard_set_has(&wild->sets[step->at], c) ? bytes : 0;
}

/* Let the last star take one more character; if it cannot, the last ** one more directory. */
static bool go_back(const struct sb_wildcard *wild, struct place *star, struct place *deep,
		    const char *end, size_t *out_step, const char **out_at)
{
	struct place *place = star;

	if (star->set && star->at < end && *star->at != '/') {
		star->at += character_bytes(wild, star->at, end);
	} else if (deep->set && deep->at < end) {
		place = deep;
		star->set = false;
		if (deep->kind == STEP_DIRS)
			deep->at = memchr(deep->at, '/', (size_t)(end - deep->at));
		if (!deep->at) {
			deep->set = false;
			return false;
		}
		deep->at++;
	} else {
		return false;
	}
	*out_step = place->step;
	*out_at = place->at;
	return true;
}

/*
 * An earlier ** need not be tried again once a later one was reached: the part between them
 * matched as early as it can, and what the earlier would skip more, the later can skip.  The
 * same holds for two * in one name; and a * cannot help past the "/" where it must stop.
 */
bool sb_wildcard_match(const struct sb_wildcard *wild, const char *path, size_t length)
{
	const char *at = path, *end = path + length;
	struct place star = {0}, deep = {0};
	size_t i = 0;

	for (;;) {
		const struct step *step = &wild->steps[i];
		size_t bytes;

		if (i == wild->step_count) {
			if (at == end)
				return true;
			bytes = 0;
		} else if (step->kind == STEP_STAR) {
			star = (struct place){++i, at, STEP_STAR, true};
			continue;
		} else if (step->kind == STEP_DIRS || step->kind == STEP_DEEP) {
			deep = (struct place){++i, at, step->kind, true};
			star.set = false;
			if (step->kind == STEP_DEEP && i == wild->step_count)
				return true;
			continue;
		} else {
			bytes = taken(wild, step, at, end);
		}
		if (bytes) {
			at += bytes;
			i++;
		} else if (!go_back(wild, &star, &deep, end, &i, &at)) {
			return false;
		}
	}
}

bool sb_wildcard_begins(const struct sb_wildcard *wild, const char *prefix, size_t length)
{
	const char *at = prefix, *end = prefix + length;
	struct place star = {0}, deep = {0};
	size_t i = 0;

	while (i < wild->step_count) {
		const struct step *step = &wild->steps[i];
		size_t bytes;

		if (step->kind == STEP_DIRS || step->kind == STEP_DEEP)
			return true;
		if (at == end)
			return true; /* the rest of the pattern may match what is longer */
		if (step->kind == STEP_STAR) {
			star = (struct place){++i, at, STEP_STAR, true};
			continue;
		}
		bytes = step->kind == STEP_TEXT && step->length > (size_t)(end - at)
				? same(wild, at, wild->bytes + step->at, (size_t)(end - at))
					  ? (size_t)(end - at)
					  : 0
				: taken(wild, step, at, end);
		if (bytes == (size_t)(end - at) && bytes)
			return true;
		if (bytes) {
			at += bytes;
			i++;
		} else if (!go_back(wild, &star, &deep, end, &i, &at)) {
			return false;
		}
	}
	return false;
}
