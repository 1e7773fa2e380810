#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/grep_pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

enum {
	PATTERN_BYTES = 64 * 1024,
	/* A few milliseconds; then the line is given up, and said to be too costly. */
	MATCH_STEPS = 1000 * 1000,
	MATCH_DEPTH = 100 * 1000,
	HEAP_KIB = 16 * 1024,
	JIT_STACK_FIRST = 32 * 1024,
	JIT_STACK_MOST = 1024 * 1024,
};

/* The same pattern for text in UTF-8 and for bytes that are not; either may be NULL. */
struct code {
	pcre2_code *utf8, *bytes;
};

struct sb_grep {
	struct code exact, scan;
	struct sb_grep_shape shape;
	bool multiline;
	bool ascii; /* the pattern: then text in ASCII can be matched as bytes */
};

struct sb_matcher {
	const struct sb_grep *grep;
	pcre2_match_context *context;
	pcre2_match_data *data;
	pcre2_jit_stack *stack;
};

/* ---- compiling ---- */

static int refuse(const char *pattern, int error, size_t offset, struct sb_error *err)
{
	PCRE2_UCHAR reason[160] = "";

	pcre2_get_error_message(error, reason, sizeof(reason));
	return sb_fail(err, SB_E_INVALID, 0,
		       "the pattern '%s' is no regular expression: %s (at %zu)", pattern,
		       (const char *)reason, offset);
}

/* *out is left NULL when the pattern cannot be compiled; *error and *offset say why. */
static pcre2_code *compile_one(const char *text, size_t length, uint32_t options, int *error,
			       size_t *offset)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_code *code = NULL;

	if (!context) {
		*error = PCRE2_ERROR_NOMEMORY;
		return NULL;
	}
	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	pcre2_set_parens_nest_limit(context, 250);
	code = pcre2_compile((PCRE2_SPTR)text, length,
			     options | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, error, offset,
			     context);
	pcre2_compile_context_free(context);
	if (code) /* Without memory that can be written and run it is slower, no more. */
		pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	return code;
}

static uint32_t options_of(unsigned flags)
{
	return flags & SB_GREP_NOCASE ? PCRE2_CASELESS : 0;
}

static void compile_both(const char *text, size_t length, uint32_t options, struct code *out,
			 int *error, size_t *offset)
{
	int ignored;
	size_t nowhere;

	out->bytes = compile_one(text, length, options, error, offset);
	/* A pattern that is no UTF-8 itself is about bytes. */
	if (out->bytes && sb_is_utf8(text, length))
		out->utf8 = compile_one(text, length, options | PCRE2_UTF | PCRE2_UCP, &ignored,
					&nowhere);
	/* Some are valid in UTF-8 alone: \x{1F600}.  That is enough. */
	if (!out->bytes && sb_is_utf8(text, length))
		out->utf8 =
			compile_one(text, length, options | PCRE2_UTF | PCRE2_UCP, error, offset);
}

static void code_done(struct code *code)
{
	pcre2_code_free(code->utf8);
	pcre2_code_free(code->bytes);
}

/* Every character that could mean something gets a backslash. */
static void quote(struct sb_buf *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] && strchr("\\^$.[]|()?*+{}#-&~ ", text[i]))
			sb_buf_putc(to, '\\');
		sb_buf_putc(to, text[i]);
	}
}

static bool has_upper(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			i++; /* \W is no letter */
		else if (text[i] >= 'A' && text[i] <= 'Z')
			return true;
	}
	return false;
}

/* Whole words: grep's rule, which also fits patterns that begin or end with other signs. */
static void as_word(struct sb_buf *to, const char *text, size_t length)
{
	sb_buf_puts(to, "(?<!\\w)(?:");
	sb_buf_append(to, text, length);
	sb_buf_puts(to, ")(?!\\w)");
}

static int compile_exact(struct sb_grep *grep, const struct sb_buf *text, unsigned flags,
			 struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(PATTERN_BYTES * 4);
	size_t offset = 0;
	int error = 0;

	compile_both(text->data, text->length, options_of(flags), &grep->exact, &error, &offset);
	if (!grep->exact.bytes && !grep->exact.utf8)
		return refuse(text->data, error, offset, err);
	if (!(flags & SB_GREP_WORD))
		return SB_OK;
	/* Only now that it is known to be an expression by itself: "a)(b" must not become one. */
	code_done(&grep->exact);
	grep->exact = (struct code){0};
	as_word(&word, text->data, text->length);
	if (!sb_buf_failed(&word))
		compile_both(word.data, word.length, options_of(flags), &grep->exact, &error,
			     &offset);
	if (!grep->exact.bytes && !grep->exact.utf8)
		return refuse(text->data, error, offset, err);
	return SB_OK;
}

static int compile_scan(struct sb_grep *grep, const struct sb_buf *text, unsigned flags,
			struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(PATTERN_BYTES * 16);
	const char *scan;
	size_t length, offset;
	int error;

	if (!sb_grep_shape_read(text->data, text->length, flags & SB_GREP_NOCASE, &grep->shape))
		return sb_no_memory(err);
	grep->shape.pure = grep->shape.pure && !(flags & SB_GREP_WORD);
	if (!grep->shape.scan || grep->multiline)
		return SB_OK;
	scan = grep->shape.scan;
	length = grep->shape.scan_length;
	if (flags & SB_GREP_WORD) {
		as_word(&word, scan, length);
		scan = word.data;
		length = word.length;
	}
	if (!sb_buf_failed(&word))
		compile_both(scan, length, options_of(flags), &grep->scan, &error, &offset);
	return SB_OK;
}

int sb_grep_new(const char *pattern, size_t length, unsigned flags, struct sb_grep **out,
		struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(PATTERN_BYTES * 2);
	struct sb_grep *grep;
	int status;

	if (length > PATTERN_BYTES)
		return sb_fail(err, SB_E_INVALID, 0, "the pattern is longer than %d bytes",
			       PATTERN_BYTES);
	if (flags & SB_GREP_FIXED)
		quote(&text, pattern, length);
	else
		sb_buf_append(&text, pattern, length);
	grep = calloc(1, sizeof(*grep));
	if (!grep || sb_buf_failed(&text)) {
		free(grep);
		return sb_no_memory(err);
	}
	grep->multiline = flags & SB_GREP_MULTILINE;
	grep->ascii = sb_grep_is_ascii(pattern, length);
	if ((flags & SB_GREP_SMART_CASE) && !has_upper(text.data, text.length))
		flags |= SB_GREP_NOCASE;
	status = compile_exact(grep, &text, flags, err);
	if (status == SB_OK)
		status = compile_scan(grep, &text, flags, err);
	if (status != SB_OK) {
		sb_grep_free(grep);
		return status;
	}
	*out = grep;
	return SB_OK;
}

void sb_grep_free(struct sb_grep *grep)
{
	if (!grep)
		return;
	code_done(&grep->exact);
	code_done(&grep->scan);
	free(grep->shape.scan);
	free(grep);
}

const struct sb_literal *sb_grep_literal(const struct sb_grep *grep)
{
	return grep->shape.literal.length ? &grep->shape.literal : NULL;
}

bool sb_grep_is_pure(const struct sb_grep *grep)
{
	return grep->shape.pure;
}

bool sb_grep_is_multiline(const struct sb_grep *grep)
{
	return grep->multiline;
}

/* ---- matching ---- */

struct sb_matcher *sb_matcher_new(const struct sb_grep *grep)
{
	struct sb_matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		return NULL;
	matcher->grep = grep;
	matcher->context = pcre2_match_context_create(NULL);
	matcher->data = pcre2_match_data_create(1, NULL);
	/* Without JIT there is no stack for it, and none is needed. */
	matcher->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_MOST, NULL);
	if (!matcher->context || !matcher->data) {
		sb_matcher_free(matcher);
		return NULL;
	}
	if (matcher->stack)
		pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
	pcre2_set_match_limit(matcher->context, MATCH_STEPS);
	pcre2_set_depth_limit(matcher->context, MATCH_DEPTH);
	pcre2_set_heap_limit(matcher->context, HEAP_KIB);
	return matcher;
}

void sb_matcher_free(struct sb_matcher *matcher)
{
	if (!matcher)
		return;
	pcre2_match_data_free(matcher->data);
	pcre2_match_context_free(matcher->context);
	pcre2_jit_stack_free(matcher->stack);
	free(matcher);
}

enum sb_text sb_text_kind(const char *text, size_t length)
{
	if (sb_grep_is_ascii(text, length))
		return SB_TEXT_ASCII;
	return sb_is_utf8(text, length) ? SB_TEXT_UTF8 : SB_TEXT_BYTES;
}

static enum sb_matched try(struct sb_matcher *matcher, const struct code *code, enum sb_text kind,
			   const char *text, size_t length, size_t from)
{
	/* As bytes, a quantifier after a letter beyond ASCII would mean its last byte. */
	bool utf8 = kind == SB_TEXT_UTF8 || (kind == SB_TEXT_ASCII && !matcher->grep->ascii);
	/* What is no UTF-8 cannot be matched by a pattern that exists in UTF-8 alone. */
	const pcre2_code *one = utf8 ? code->utf8 : code->bytes;
	int status;

	if (!one && kind != SB_TEXT_BYTES)
		one = code->utf8 ? code->utf8 : code->bytes;
	if (!one)
		return SB_MATCH_NO;
	/* The text was looked through by sb_text_kind(): it is what it is said to be. */
	status = pcre2_match(one, (PCRE2_SPTR)text, length, from, PCRE2_NO_UTF_CHECK, matcher->data,
			     matcher->context);
	if (status >= 0)
		return SB_MATCH_YES;
	return status == PCRE2_ERROR_NOMATCH ? SB_MATCH_NO : SB_MATCH_COSTLY;
}

enum sb_matched sb_matcher_try(struct sb_matcher *matcher, enum sb_text kind, const char *text,
			       size_t length, size_t from, struct sb_match *out)
{
	enum sb_matched matched = try(matcher, &matcher->grep->exact, kind, text, length, from);
	const size_t *places = pcre2_get_ovector_pointer(matcher->data);

	if (matched == SB_MATCH_YES) {
		/* \K in a lookahead can put the start behind the end (pcre2api(3)). */
		out->start = places[0] < places[1] ? places[0] : places[1];
		out->end = places[1];
	}
	return matched;
}

bool sb_matcher_can_scan(const struct sb_matcher *matcher)
{
	return matcher->grep->scan.bytes && matcher->grep->scan.utf8;
}

enum sb_matched sb_matcher_scan(struct sb_matcher *matcher, enum sb_text kind, const char *text,
				size_t length, size_t *out_start)
{
	enum sb_matched matched = try(matcher, &matcher->grep->scan, kind, text, length, 0);

	if (matched == SB_MATCH_YES)
		*out_start = pcre2_get_ovector_pointer(matcher->data)[0];
	return matched;
}
