/*
 * A profile's text: strings, parameters, filters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "enforce/darwin_impl.h"
#include "path/path.h"

#define REGEX_LIMIT (64 * 1024)

void sb_seatbelt_string(struct sb_seatbelt *seatbelt, const char *text)
{
	sb_buf_putc(&seatbelt->text, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 ||
		    c >= 0x7f) /* two digits, never more: what follows is another byte */
			sb_buf_printf(&seatbelt->text, "\\x%02x", c);
		else if (c == '"' || c == '\\')
			sb_buf_printf(&seatbelt->text, "\\%c", c);
		else
			sb_buf_putc(&seatbelt->text, (char)c);
	}
	sb_buf_putc(&seatbelt->text, '"');
}

/* The number of the parameter with this value; a lack of memory fails the text. */
static size_t find_parameter(struct sb_seatbelt *seatbelt, char kind, const char *value)
{
	struct sb_seatbelt_parameter *parameter = seatbelt->parameters;

	for (size_t i = 0; i < seatbelt->count; i++)
		if (parameter[i].name[0] == kind && strcmp(parameter[i].value, value) == 0)
			return i;
	if (seatbelt->count == seatbelt->capacity) {
		size_t capacity = seatbelt->capacity ? 2 * seatbelt->capacity : 64;

		parameter = realloc(parameter, capacity * sizeof *parameter);
		if (!parameter) {
			seatbelt->text.failed = true;
			return 0;
		}
		seatbelt->parameters = parameter;
		seatbelt->capacity = capacity;
	}
	parameter += seatbelt->count;
	parameter->value = strdup(value);
	if (!parameter->value) {
		seatbelt->text.failed = true;
		return 0;
	}
	snprintf(parameter->name, sizeof parameter->name, "%c%zu", kind, seatbelt->count + 1);
	return seatbelt->count++;
}

void sb_seatbelt_parameter(struct sb_seatbelt *seatbelt, char kind, const char *value)
{
	size_t number = find_parameter(seatbelt, kind, value);

	if (!sb_buf_failed(&seatbelt->text))
		sb_buf_printf(&seatbelt->text, "(param \"%s\")", seatbelt->parameters[number].name);
}

void sb_seatbelt_path(struct sb_seatbelt *seatbelt, const char *filter, const char *path)
{
	SB_AUTO_FREE char *canonical = sb_seatbelt_canonical(path);

	if (!canonical) {
		seatbelt->text.failed = true;
		return;
	}
	sb_buf_printf(&seatbelt->text, "(%s ", filter);
	sb_seatbelt_parameter(seatbelt, 'P', canonical);
	sb_buf_putc(&seatbelt->text, ')');
}

static int put_regex(struct sb_seatbelt *seatbelt, const struct sb_pattern *pattern, bool folded,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf regex = SB_BUF(REGEX_LIMIT);
	int status;

	sb_buf_putc(&regex, '^');
	status = sb_regex_pattern(&regex, pattern, folded, err);
	/* and all beneath; of "/" itself the name is a slash */
	sb_buf_puts(&regex, pattern->prefix[1] ? "(/[^/]+)*$" : "(/[^/]+)*/?$");
	if (sb_buf_failed(&regex))
		seatbelt->text.failed = true;
	sb_buf_puts(&seatbelt->text, "(regex ");
	sb_seatbelt_parameter(seatbelt, 'R', regex.data);
	sb_buf_putc(&seatbelt->text, ')');
	return status;
}

int sb_seatbelt_filter(struct sb_seatbelt *seatbelt, const struct sb_pattern *pattern,
		       struct sb_error *err)
{
	if (pattern->glob)
		return put_regex(seatbelt, pattern, false, err);
	sb_seatbelt_path(seatbelt, "subpath", pattern->prefix);
	return SB_OK;
}

int sb_seatbelt_folded(struct sb_seatbelt *seatbelt, const struct sb_pattern *pattern,
		       struct sb_error *err)
{
	return put_regex(seatbelt, pattern, true, err);
}

bool sb_seatbelt_overlap(const struct sb_pattern *a, const struct sb_pattern *b)
{
	return sb_path_within(a->prefix, b->prefix) || sb_path_within(b->prefix, a->prefix);
}

void sb_seatbelt_operations(struct sb_seatbelt *seatbelt, unsigned ops)
{
	/* running a file is reading it; a socket that is connected to is changed, one that is bound made */
	static const char *const names[SB_OP_COUNT] = {
		[SB_READ] = " file-read* file-map-executable process-exec*",
		[SB_MODIFY] = " " SB_SEATBELT_MODIFY " network-outbound",
		[SB_CREATE] = " " SB_SEATBELT_CREATE,
		[SB_DELETE] = " " SB_SEATBELT_DELETE,
	};

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (ops & 1u << op)
			sb_buf_puts(&seatbelt->text, names[op]);
}

void sb_seatbelt_done(struct sb_seatbelt *seatbelt)
{
	for (size_t i = 0; i < seatbelt->count; i++)
		free(seatbelt->parameters[i].value);
	free(seatbelt->parameters);
	sb_buf_done(&seatbelt->text);
	*seatbelt = (struct sb_seatbelt){.text = SB_BUF(0)};
}
