/*
 * refused.c - what the sandbox refused a command, for its model: as data, and in words.
 *
 * It comes from the run's own report, which no command can read or write.  Names in it are the
 * command's: in the text they are escaped, so that none can end its line and go on as another.
 */
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "mcp/server/server.h"

#define LISTED 50 /* of the report's entries; refusedCount has all */

/* Has no person decided it? */
static bool is_undecided(const json_t *entry)
{
	static const char *const reasons[] = {"nobody", "timeout", "flood"};
	const char *by = sb_get_text(entry, "by");

	for (size_t i = 0; by && i < sizeof reasons / sizeof reasons[0]; i++)
		if (strcmp(by, reasons[i]) == 0)
			return true;
	return false;
}

/*
 * The smallest that would do: a question ahead about just this, or the option of the server.  What a
 * rule or a person refuses is not asked about again.  NULL: nothing does.
 */
static json_t *grant_of(const struct sb_mcp_run *run, const json_t *entry)
{
	json_t *grant = json_object(), *option = json_object_get(entry, "option"),
	       *second = json_object_get(entry, "second_option");

	if (option)
		json_object_set_new(grant, "options",
				    second ? json_pack("[O, O]", option, second)
					   : json_pack("[O]", option));
	if (run->attach && is_undecided(entry) && json_object_get(entry, "path"))
		json_object_set_new(grant, "request_access",
				    json_pack("{s:O, s:[O]}", "path",
					      json_object_get(entry, "path"), "operations",
					      json_object_get(entry, "operation")));
	if (json_object_size(grant))
		return grant;
	json_decref(grant);
	return NULL;
}

json_t *sb_run_refused(const struct sb_mcp_run *run)
{
	const json_t *entries = json_object_get(run->report, "entries");
	json_t *list = json_array(), *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		json_t *told, *grant = grant_of(run, entry);

		if (i == LISTED) {
			json_decref(grant);
			break;
		}
		told = json_copy(entry);
		json_object_del(told, "option");
		json_object_del(told, "second_option");
		json_object_set_new(told, "grant", grant);
		json_array_append_new(list, told);
	}
	return list;
}

bool sb_run_lacked_person(const struct sb_mcp_run *run)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(run->report, "entries"), i, entry)
	{
		const char *by = sb_get_text(entry, "by");

		if (by && strcmp(by, "nobody") == 0)
			return run->attach;
	}
	return false;
}

static void put_one(const json_t *entry, struct sb_buf *out)
{
	static const char *const options[] = {"option", "second_option"};
	const json_t *path = json_object_get(entry, sb_get_text(entry, "host") ? "host" : "path");
	const char *why = sb_get_text(entry, "why");

	sb_buf_printf(out, "\n[sandbox refused: %s ", sb_get_text(entry, "operation"));
	sb_escape_name(out, json_string_value(path), json_string_length(path));
	if (why)
		sb_buf_printf(out, " (%s)", why);
	for (size_t i = 0; i < 2; i++) {
		const char *option = sb_get_text(entry, options[i]);

		if (!option)
			break;
		sb_buf_puts(out, i ? " " : "; the user can allow it with ");
		sb_shell_quote(out, option);
	}
	sb_buf_putc(out, ']');
}

void sb_run_put_refused(const struct sb_mcp_run *run, struct sb_buf *out)
{
	const json_t *entries = json_object_get(run->report, "entries"), *entry;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		if (i == LISTED) {
			sb_buf_printf(out, "\n[and %zu more]", json_array_size(entries) - i);
			break;
		}
		put_one(entry, out);
	}
	if (sb_run_lacked_person(run)) {
		sb_buf_puts(out, "\n[nobody was asked.");
		sb_mcp_way_in(out, run->attach, "the command");
		sb_buf_putc(out, ']');
	}
}
