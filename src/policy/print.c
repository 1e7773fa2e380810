/*
 * print.c - rules and settings as text that reads back as the same.
 */
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "path/path.h"
#include "policy/network.h"
#include "policy/policy_impl.h"
#include "policy/settings.h"
#include "policy/text.h"

static bool needs_quotes(const char *text)
{
	size_t length = strlen(text);

	if (length == 0 || text[0] == '"' || text[0] == '#' || sb_line_blank(text[0]) ||
	    sb_line_blank(text[length - 1]))
		return true;
	for (size_t i = 0; i < length;) {
		size_t step = sb_utf8_plain(text + i, length - i);

		if (step == 0 || (sb_line_blank(text[i]) && text[i + 1] == '#'))
			return true;
		i += step;
	}
	return false;
}

static void print_quoted(const char *text, struct sb_buf *out)
{
	size_t length = strlen(text);

	sb_buf_putc(out, '"');
	while (length) {
		size_t step = sb_utf8_plain(text, length);

		if (step == 0) {
			sb_buf_printf(out, "\\x%02x", (unsigned char)*text);
			step = 1;
		} else {
			if (*text == '"' || *text == '\\')
				sb_buf_putc(out, '\\');
			sb_buf_append(out, text, step);
		}
		text += step;
		length -= step;
	}
	sb_buf_putc(out, '"');
}

static void print_pattern(const char *pattern, struct sb_buf *out)
{
	sb_buf_putc(out, ' ');
	if (needs_quotes(pattern))
		print_quoted(pattern, out);
	else
		sb_buf_puts(out, pattern);
}

void sb_rule_print(const struct sb_access *access, const char *pattern, struct sb_buf *out)
{
	sb_access_print(access, out);
	print_pattern(pattern, out);
}

void sb_rule_print_whole(const struct sb_rule *rule, struct sb_buf *out)
{
	if (rule->tightens)
		sb_buf_printf(out, SB_WORD_TIGHTEN " ");
	if (rule->fast)
		sb_buf_puts(out, SB_WORD_FAST);
	else
		sb_access_print(&rule->access, out);
	print_pattern(rule->pattern, out);
}

void sb_connect_print(const struct sb_connect_rule *rule, struct sb_buf *out)
{
	static const char *const words[] = {
		[SB_ALLOW] = "", [SB_ASK] = "ask ", [SB_DENY] = "deny "};

	sb_buf_printf(out, "%sconnect %s", words[rule->verdict], rule->text);
}

/* As a comment behind the line that begins at start. */
static void print_origin(const char *origin, size_t start, struct sb_buf *out)
{
	do
		sb_buf_putc(out, ' ');
	while (!sb_buf_failed(out) && out->length - start < 48);
	sb_buf_puts(out, "# ");
	sb_escape_append(out, origin, strlen(origin));
}

static void print_line(const struct sb_rule *rule, struct sb_buf *out)
{
	size_t start = out->length;

	/* These come back by themselves; read as rules, a temp directory and terminals would be the real
	 * ones, a link what it leads to, and git's data would be open unlooked at. */
	if (rule->temp || rule->link || rule->checked ||
	    (rule->tier == SB_TIER_BUILTIN && sb_path_within("/dev/pts", rule->pattern)))
		sb_buf_puts(out, "# ");
	sb_rule_print_whole(rule, out);
	print_origin(rule->origin, start, out);
	sb_buf_puts(out, rule->capped ? " (read-only mode)\n" : "\n");
}

static void print_hosts(const struct sb_policy *policy, struct sb_buf *out)
{
	size_t start;

	for (size_t i = 0; i < sb_connect_count(policy); i++) {
		start = out->length;
		sb_connect_print(sb_connect_at(policy, i), out);
		print_origin(sb_connect_at(policy, i)->origin, start, out);
		sb_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < sb_listen_count(policy); i++) {
		start = out->length;
		sb_buf_printf(out, "listen %u", sb_listen_at(policy, i)->port);
		print_origin(sb_listen_at(policy, i)->origin, start, out);
		sb_buf_putc(out, '\n');
	}
}

void sb_policy_print(const struct sb_policy *policy, struct sb_buf *out)
{
	for (int i = 0; i < SB_SETTING_COUNT; i++)
		sb_buf_printf(out, "%s %s\n", sb_settings[i].word,
			      sb_settings[i].values[sb_policy_get(policy, (enum sb_setting)i)]);
	print_hosts(policy, out);
	for (size_t i = 0; i < policy->count; i++) {
		const struct sb_rule *rule = &policy->entries[i].rule;
		const struct sb_rule *hard = policy->entries[i].hard;

		if (!rule->tightens)
			print_line(rule, out);
		/* what it takes away counts also where another rule has taken its place */
		if (hard && hard->tightens)
			print_line(hard, out);
	}
}
