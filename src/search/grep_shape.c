#include "search/grep_shape.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"

struct reading {
	const char *at, *end;
	bool fold;
	struct sb_buf scan;
	bool no_scan;    /* a block cannot stand for its lines */
	bool no_literal; /* nothing is known to be in every match */
	bool broken;     /* something else than plain text was met */
	size_t depth;    /* of groups */
	unsigned char run[SB_LITERAL_BYTES], best[SB_LITERAL_BYTES];
	size_t run_length, best_length;
	size_t last; /* bytes of run that the last character took: a quantifier may unmake them */
};

static void end_run(struct reading *in)
{
	if (in->run_length > in->best_length) {
		memcpy(in->best, in->run, in->run_length);
		in->best_length = in->run_length;
	}
	in->run_length = in->last = 0;
}

static void break_run(struct reading *in)
{
	end_run(in);
	in->broken = true;
}

/* A character that stands for itself, of these bytes. */
static void plain(struct reading *in, const char *bytes, size_t length)
{
	unsigned char c = (unsigned char)bytes[0];

	/*
	 * Beyond ASCII, cases differ in more than a bit; and the Kelvin sign and the long s are
	 * other cases of k and s.
	 */
	if (in->depth || (in->fold && ((c & 0x80) || strchr("kKsS", c)))) {
		break_run(in);
		return;
	}
	if (in->run_length + length > sizeof(in->run))
		break_run(in);
	memcpy(in->run + in->run_length, bytes, length);
	if (in->fold && c >= 'A' && c <= 'Z')
		in->run[in->run_length] = c | 0x20;
	in->run_length += length;
	in->last = length;
}

/* {2}, {2,} or {2,3} at in->at; *out_none: it allows for none at all.  0: it is no quantifier. */
static size_t counted(const struct reading *in, bool *out_none)
{
	const char *at = in->at + 1;
	bool digits = false, more = false;

	*out_none = true;
	for (; at < in->end && ((*at >= '0' && *at <= '9') || (*at == ',' && !more)); at++) {
		digits = digits || *at != ',';
		if (*at == ',')
			more = true;
		else if (!more && *at != '0')
			*out_none = false;
	}
	return digits && at < in->end && *at == '}' ? (size_t)(at + 1 - in->at) : 0;
}

/* After something that can be repeated. */
static void quantifier(struct reading *in)
{
	bool none = *in->at == '?' || *in->at == '*';
	size_t length = *in->at == '{' ? counted(in, &none) : 1;

	if (!length) { /* a brace that is itself; not worth more */
		sb_buf_putc(&in->scan, *in->at++);
		if (in->run_length >= in->last)
			in->run_length -= in->last;
		break_run(in);
		return;
	}
	if (none && in->run_length >= in->last)
		in->run_length -= in->last;
	break_run(in);
	sb_buf_append(&in->scan, in->at, length);
	in->at += length;
	if (in->at < in->end && *in->at == '+')
		in->no_scan = true; /* what it took across a line end it would not give back */
	if (in->at < in->end && (*in->at == '+' || *in->at == '?'))
		sb_buf_putc(&in->scan, *in->at++);
}

static bool is_word_byte(char c)
{
	return sb_is_letter(c) || sb_is_digit(c) || (c & 0x80);
}

/* A backslash outside of a set. */
static void escape(struct reading *in)
{
	static const struct {
		char letter;
		const char *scan;
	} narrowed[] = {{'s', "[^\\S\\n]"}, {'W', "[^\\w\\n]"}, {'D', "[^\\d\\n]"},
			{'H', "[^\\h\\n]"}, {'w', "\\w"},       {'d', "\\d"},
			{'S', "\\S"},       {'h', "\\h"},       {'b', "\\b"},
			{'B', "\\B"},       {'t', "\\t"}};
	char letter;

	if (in->at + 1 == in->end) {
		in->no_scan = in->no_literal = true;
		in->at++;
		return;
	}
	letter = in->at[1];
	if (!is_word_byte(letter)) {
		plain(in, in->at + 1, 1);
		sb_buf_append(&in->scan, in->at, 2);
		in->at += 2;
		return;
	}
	break_run(in);
	in->at += 2;
	for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]); i++) {
		if (narrowed[i].letter == letter) {
			sb_buf_puts(&in->scan, narrowed[i].scan);
			return;
		}
	}
	/* \Q changes what follows, \x and others have more to them: text after it is not certain. */
	in->no_scan = in->no_literal = true;
}

/* Does what stands at at, in a set that is not negated, surely not hold a line end? */
static bool safe_in_set(const char *at, const char *end)
{
	if ((unsigned char)*at < ' ')
		return false;
	if (*at != '\\')
		return true;
	if (at + 1 == end || !is_word_byte(at[1]))
		return true;
	return strchr("wdSht", at[1]) && !(at + 2 < end && at[2] == '-');
}

/* A set in brackets. */
static void set(struct reading *in)
{
	const char *open = in->at, *at = open + 1;
	bool negated = at < in->end && *at == '^', first = true;

	break_run(in);
	at += negated;
	sb_buf_puts(&in->scan, negated ? "[^\\n" : "[");
	for (; at < in->end && (*at != ']' || first); first = false) {
		bool class = *at == '[' && at + 1 < in->end && strchr(":.=", at[1]);
		size_t length = *at == '\\' && at + 1 < in->end ? 2 : 1;

		/* [:space:] and \Q...\E in a set: its end is then hard to find. */
		if (class || (length == 2 && strchr("QE", at[1])))
			in->no_scan = in->no_literal = true;
		if (!negated && !safe_in_set(at, in->end))
			in->no_scan = true;
		/* A "]" that comes first must stay first, or follow a backslash. */
		if (first && *at == ']')
			sb_buf_putc(&in->scan, '\\');
		sb_buf_append(&in->scan, at, length);
		at += length;
	}
	sb_buf_putc(&in->scan, ']');
	in->at = at < in->end ? at + 1 : at;
}

static void open_group(struct reading *in)
{
	const char *rest = in->at + 1;

	break_run(in);
	in->depth++;
	if (rest < in->end && (*rest == '*' || *rest == '?')) {
		if (*rest == '?' && rest + 1 < in->end && rest[1] == ':') {
			sb_buf_puts(&in->scan, "(?:");
			in->at += 3;
			return;
		}
		/* Flags, lookaround, names, verbs, conditions. */
		in->no_scan = in->no_literal = true;
	}
	sb_buf_putc(&in->scan, *in->at++);
}

static void one(struct reading *in)
{
	size_t length;

	switch (*in->at) {
	case '\\':
		escape(in);
		return;
	case '[':
		set(in);
		return;
	case '(':
		open_group(in);
		return;
	case '?':
	case '*':
	case '+':
	case '{':
		quantifier(in);
		return;
	case '|':
		in->no_literal = in->no_literal || !in->depth;
		break_run(in);
		break;
	case ')':
		in->depth -= in->depth > 0;
		break_run(in);
		break;
	case '.':
	case '^':
	case '$':
		break_run(in);
		break;
	default:
		length = sb_utf8_length(in->at, (size_t)(in->end - in->at));
		length = length ? length : 1;
		if ((unsigned char)*in->at < ' ' && *in->at != '\t')
			in->no_scan = in->broken = true; /* a line end, which no line has */
		plain(in, in->at, length);
		sb_buf_append(&in->scan, in->at, length);
		in->at += length;
		return;
	}
	sb_buf_putc(&in->scan, *in->at++);
}

bool sb_grep_shape_read(const char *pattern, size_t length, bool fold, struct sb_grep_shape *out)
{
	struct reading in = {
		.at = pattern,
		.end = pattern + length,
		.fold = fold,
		.scan = SB_BUF(length * 8 + 1),
	};
	bool broken;

	*out = (struct sb_grep_shape){0};
	while (in.at < in.end)
		one(&in);
	broken = in.broken;
	end_run(&in);
	if (!in.no_literal && in.best_length) {
		out->literal.length = in.best_length;
		out->literal.fold = fold;
		memcpy(out->literal.bytes, in.best, in.best_length);
		sb_literal_prepare(&out->literal);
		out->pure = !broken;
	}
	if (!in.no_scan && !sb_buf_failed(&in.scan)) {
		out->scan_length = in.scan.length;
		out->scan = sb_buf_take(&in.scan);
	}
	sb_buf_done(&in.scan);
	return in.no_scan || out->scan;
}
