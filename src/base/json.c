#include "base/json.h"

#include <stdint.h>
#include <string.h>

#include "base/escape.h"

void sb_json_init(struct sb_json *json, struct sb_buf *out)
{
	*json = (struct sb_json){.out = out};
}

void sb_json_init_compact(struct sb_json *json, struct sb_buf *out)
{
	*json = (struct sb_json){.out = out, .compact = true};
}

static void line_break(struct sb_json *json)
{
	if (json->compact)
		return;
	sb_buf_putc(json->out, '\n');
	for (int i = 0; i < json->depth; i++)
		sb_buf_puts(json->out, "  ");
}

/* What stands before a value: nothing after its key, else a comma and a new line. */
static void begin_value(struct sb_json *json)
{
	if (json->after_key) {
		json->after_key = false;
	} else {
		if (json->need_comma)
			sb_buf_putc(json->out, ',');
		if (json->depth)
			line_break(json);
	}
	json->need_comma = true;
}

void sb_json_open(struct sb_json *json, char bracket)
{
	begin_value(json);
	sb_buf_putc(json->out, bracket);
	json->depth++;
	json->need_comma = false;
}

void sb_json_close(struct sb_json *json, char bracket)
{
	json->depth--;
	if (json->need_comma) /* an empty pair of brackets stays on one line */
		line_break(json);
	sb_buf_putc(json->out, bracket);
	json->need_comma = true;
	if (json->depth == 0)
		sb_buf_putc(json->out, '\n');
}

/* How many bytes stand for themselves, whatever is around them: nearly all, nearly always. */
static size_t plain(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
		i++;
	return i;
}

static void quoted(struct sb_json *json, const char *text, size_t length)
{
	sb_buf_putc(json->out, '"');
	while (length) {
		size_t step = plain(text, length);
		unsigned char c = (unsigned char)*text;

		if (step) {
			sb_buf_append(json->out, text, step);
			text += step;
			length -= step;
			continue;
		}
		step = sb_utf8_length(text, length);
		if (step == 0) {
			sb_buf_printf(json->out, "\\udc%02x", c);
			step = 1;
		} else if (c == '"' || c == '\\') {
			sb_buf_printf(json->out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			sb_buf_printf(json->out, "\\u%04x", c);
		} else if (!sb_utf8_visible(text, length)) { /* would steer a terminal */
			uint32_t point = sb_utf8_point(text, step);

			if (point >= 0x10000) { /* as a pair of surrogates: RFC 8259, section 7 */
				sb_buf_printf(json->out, "\\u%04x",
					      0xd800 + ((point - 0x10000) >> 10));
				point = 0xdc00 + ((point - 0x10000) & 0x3ff);
			}
			sb_buf_printf(json->out, "\\u%04x", point);
		} else {
			sb_buf_append(json->out, text, step);
		}
		text += step;
		length -= step;
	}
	sb_buf_putc(json->out, '"');
}

void sb_json_key(struct sb_json *json, const char *key)
{
	begin_value(json);
	quoted(json, key, strlen(key));
	sb_buf_puts(json->out, json->compact ? ":" : ": ");
	json->after_key = true;
}

void sb_json_string(struct sb_json *json, const char *text)
{
	begin_value(json);
	if (text)
		quoted(json, text, strlen(text));
	else
		sb_buf_puts(json->out, "null");
}

void sb_json_bytes(struct sb_json *json, const char *bytes, size_t length)
{
	begin_value(json);
	quoted(json, bytes, length);
}

void sb_json_bool(struct sb_json *json, bool value)
{
	begin_value(json);
	sb_buf_puts(json->out, value ? "true" : "false");
}

void sb_json_int(struct sb_json *json, long value)
{
	begin_value(json);
	sb_buf_printf(json->out, "%ld", value);
}

void sb_json_pair(struct sb_json *json, const char *key, const char *text)
{
	sb_json_key(json, key);
	sb_json_string(json, text);
}

void sb_json_pair_bool(struct sb_json *json, const char *key, bool value)
{
	sb_json_key(json, key);
	sb_json_bool(json, value);
}

void sb_json_pair_int(struct sb_json *json, const char *key, long value)
{
	sb_json_key(json, key);
	sb_json_int(json, value);
}

void sb_json_open_at(struct sb_json *json, const char *key, char bracket)
{
	sb_json_key(json, key);
	sb_json_open(json, bracket);
}

void sb_json_strings(struct sb_json *json, const char *key, const char *const *strings,
		     size_t count)
{
	sb_json_open_at(json, key, '[');
	for (size_t i = 0; i < count && strings[i]; i++)
		sb_json_string(json, strings[i]);
	sb_json_close(json, ']');
}
