#include "tree/braces.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

/* A pattern under way: before from it has no braces left. */
struct work {
	char *text;
	size_t from;
};

struct expansion {
	struct work *todo; /* a stack: the next one is the last */
	size_t todo_count;
	struct sb_braces done;
	size_t limit, length_limit;
	size_t total; /* bytes of all patterns so far: matching takes as long */
	struct sb_error *err;
};

static int too_many(struct expansion *all)
{
	return sb_fail(all->err, SB_E_INVALID, 0, "the braces mean more than %zu patterns",
		       all->limit);
}

static int push(struct expansion *all, char *text, size_t from)
{
	SB_AUTO_FREE char *mine = text;

	if (!mine)
		return sb_no_memory(all->err);
	if (strlen(mine) > all->length_limit)
		return sb_fail(all->err, SB_E_INVALID, 0, "the pattern is longer than %zu bytes",
			       all->length_limit);
	/* Each of them becomes at least one in the end. */
	if (all->todo_count + all->done.count >= all->limit)
		return too_many(all);
	all->todo[all->todo_count++] = (struct work){sb_take_ptr(&mine), from};
	return SB_OK;
}

/* The "}" that closes the "{" at open, or NULL; *out_comma: there are alternatives. */
static const char *closing(const char *open, bool *out_comma)
{
	size_t depth = 0;

	*out_comma = false;
	for (const char *at = open; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0)
			return at;
		else if (*at == ',' && depth == 1)
			*out_comma = true;
	}
	return NULL;
}

/* head + part + tail */
static char *joined(const char *head, size_t head_length, const char *part, size_t part_length,
		    const char *tail)
{
	size_t tail_length = strlen(tail);
	char *text = malloc(head_length + part_length + tail_length + 1);

	if (!text)
		return NULL;
	memcpy(text, head, head_length);
	memcpy(text + head_length, part, part_length);
	memcpy(text + head_length + part_length, tail, tail_length + 1);
	return text;
}

/* {a,b,c}: from the last to the first, since the stack turns them round */
static int push_alternatives(struct expansion *all, const char *text, const char *open,
			     const char *close)
{
	size_t head = (size_t)(open - text), depth = 0;
	const char *end = close;
	int status;

	for (const char *at = close - 1; at >= open; at--) {
		size_t slashes = 0;

		while (at - 1 - slashes >= open && at[-1 - (ptrdiff_t)slashes] == '\\')
			slashes++;
		if (slashes % 2 && at > open)
			continue; /* escaped */
		if (*at == '}')
			depth++;
		else if (*at == '{' && at > open)
			depth--;
		else if ((*at == ',' && !depth) || at == open) {
			status = push(all,
				      joined(text, head, at + 1, (size_t)(end - at - 1), close + 1),
				      head);
			if (status != SB_OK)
				return status;
			end = at;
		}
	}
	return SB_OK;
}

struct sequence {
	long first, last, step;
	int width; /* of numbers with leading zeros */
	bool letters;
};

/* A number of at most 9 digits, up to stop.  NULL: it is none. */
static const char *number(const char *at, const char *stop, long *out, int *width)
{
	const char *begin = at;
	bool minus = at < stop && *at == '-';
	long value = 0;
	int digits = 0;

	for (at += minus; at < stop && *at >= '0' && *at <= '9' && digits < 10; at++, digits++)
		value = value * 10 + (*at - '0');
	if (!digits || digits > 9)
		return NULL;
	if (begin[minus] == '0' && digits > 1 && at - begin > *width)
		*width = (int)(at - begin);
	*out = minus ? -value : value;
	return at;
}

static const char *letter(const char *at, const char *stop, long *out)
{
	if (at == stop || !((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
		return NULL;
	*out = (unsigned char)*at;
	return at + 1;
}

static const char *dots(const char *at, const char *stop)
{
	return at && stop - at > 2 && at[0] == '.' && at[1] == '.' ? at + 2 : NULL;
}

/* x..y or x..y..step between open and close */
static bool read_sequence(const char *open, const char *close, struct sequence *out)
{
	struct sequence seq = {.step = 1};
	const char *at = open + 1, *next = number(at, close, &seq.first, &seq.width);
	int ignored = 0;

	seq.letters = !next;
	if (seq.letters)
		next = letter(at, close, &seq.first);
	at = next ? dots(next, close) : NULL;
	if (!at)
		return false;
	next = seq.letters ? letter(at, close, &seq.last)
			   : number(at, close, &seq.last, &seq.width);
	if (next && next != close) {
		at = dots(next, close);
		next = at ? number(at, close, &seq.step, &ignored) : NULL;
	}
	if (next != close)
		return false;
	seq.step = labs(seq.step) ? labs(seq.step) : 1;
	*out = seq;
	return true;
}

static int push_sequence(struct expansion *all, const char *text, const char *open,
			 const char *close, const struct sequence *seq)
{
	long steps = labs(seq->last - seq->first) / seq->step;
	long direction = seq->last < seq->first ? -seq->step : seq->step;
	int status = (size_t)steps >= all->limit ? too_many(all) : SB_OK;

	for (long i = steps; i >= 0 && status == SB_OK; i--) {
		long value = seq->first + i * direction;
		char part[32];
		int length = seq->letters
				     ? snprintf(part, sizeof(part), "%c", (char)value)
				     : snprintf(part, sizeof(part), "%0*ld", seq->width, value);
		size_t head = (size_t)(open - text);

		/* Between Z and a lie a few that mean something in a pattern. */
		if (seq->letters && strchr("[]\\^_`", part[0]) && part[0] != '_' && part[0] != '`')
			length = snprintf(part, sizeof(part), "\\%c", (char)value);
		status = push(all, joined(text, head, part, (size_t)length, close + 1),
			      head + (size_t)length);
	}
	return status;
}

/* Take text apart at its first braces, or put it with the finished ones. */
static int expand_one(struct expansion *all, struct work work)
{
	SB_AUTO_FREE char *text = work.text;

	for (char *at = text + work.from; *at; at++) {
		struct sequence seq;
		const char *close;
		bool comma;

		if (*at == '\\' && at[1]) {
			at++;
			continue;
		}
		if (*at != '{')
			continue;
		close = closing(at, &comma);
		if (close && comma)
			return push_alternatives(all, text, at, close);
		if (close && read_sequence(at, close, &seq))
			return push_sequence(all, text, at, close, &seq);
	}
	all->total += strlen(text);
	if (all->total > SB_BRACES_BYTES)
		return sb_fail(all->err, SB_E_INVALID, 0,
			       "the braces mean patterns of more than %d bytes", SB_BRACES_BYTES);
	all->done.all[all->done.count++] = sb_take_ptr(&text);
	return SB_OK;
}

int sb_braces_expand(const char *pattern, size_t limit, size_t length_limit, struct sb_braces *out,
		     struct sb_error *err)
{
	struct expansion all = {.limit = limit, .length_limit = length_limit, .err = err};
	int status = SB_OK;

	all.todo = calloc(limit + 1, sizeof(*all.todo));
	all.done.all = calloc(limit + 1, sizeof(*all.done.all));
	if (!all.todo || !all.done.all)
		status = sb_no_memory(err);
	else
		status = push(&all, strdup(pattern), 0);
	while (status == SB_OK && all.todo_count)
		status = expand_one(&all, all.todo[--all.todo_count]);
	while (all.todo && all.todo_count)
		free(all.todo[--all.todo_count].text);
	free(all.todo);
	if (status == SB_OK)
		*out = all.done;
	else
		sb_braces_done(&all.done);
	return status;
}

void sb_braces_done(struct sb_braces *braces)
{
	for (size_t i = 0; i < braces->count; i++)
		free(braces->all[i]);
	free(braces->all);
	*braces = (struct sb_braces){0};
}
