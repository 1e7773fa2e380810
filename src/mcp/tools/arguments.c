/*
 * arguments.c - do a call's arguments fit the tool?  What does not is told so that a model can
 * repair it: which argument, what it is, what it has to be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "mcp/tools/tools.h"

static int wrong(struct sb_error *err, const char *name, const char *what)
{
	return sb_fail(err, SB_E_INVALID, 0, "'%s' must be %s", name, what);
}

static bool is_whole(const json_t *value)
{
	double real;

	if (json_is_integer(value))
		return true;
	if (!json_is_real(value))
		return false;
	real = json_real_value(value);
	return real == floor(real) && fabs(real) < 1e15;
}

static long whole(const json_t *value)
{
	return json_is_integer(value) ? (long)json_integer_value(value)
				      : (long)json_real_value(value);
}

static bool has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}

static int check_text(const struct sb_param *param, const json_t *value, struct sb_error *err)
{
	if (!json_is_string(value))
		return wrong(err, param->name, "a string");
	if (param->type == SB_PARAM_PATH && (has_nul(value) || !json_string_length(value)))
		return wrong(err, param->name, "a path: not empty, and without NUL");
	if (param->choices && !sb_is_word(param->choices, json_string_value(value)))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' must be one of: %s", param->name,
			       param->choices);
	return SB_OK;
}

static int check_number(const struct sb_param *param, const json_t *value, struct sb_error *err)
{
	if (!is_whole(value))
		return wrong(err, param->name, "an integer");
	if (whole(value) < param->minimum || whole(value) > param->maximum)
		return sb_fail(err, SB_E_INVALID, 0, "'%s' must lie between %ld and %ld",
			       param->name, param->minimum, param->maximum);
	return SB_OK;
}

static bool fits_list(const struct sb_param *param, const json_t *item)
{
	return json_is_string(item) && !has_nul(item) &&
	       (param->type != SB_PARAM_PATHS || json_string_length(item)) &&
	       (!param->choices || sb_is_word(param->choices, json_string_value(item)));
}

static int check_list(const struct sb_param *param, const json_t *value, struct sb_error *err)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value))
		return wrong(err, param->name, "an array of strings");
	if (param->type != SB_PARAM_STRINGS && json_array_size(value) == 0)
		return wrong(err, param->name, "an array of at least one string");
	json_array_foreach(value, i, item)
	{
		if (fits_list(param, item))
			continue;
		return param->choices
			       ? sb_fail(err, SB_E_INVALID, 0, "'%s' must be an array of: %s",
					 param->name, param->choices)
			       : wrong(err, param->name, "an array of strings without NUL");
	}
	return SB_OK;
}

static int check_edit(const json_t *edit, struct sb_error *err)
{
	const json_t *old_text = json_object_get(edit, "oldText"),
		     *line = json_object_get(edit, "insertLine"),
		     *all = json_object_get(edit, "replaceAll");
	const char *key;
	json_t *value;

	if (!json_is_object(edit))
		return wrong(err, "edits", "an array of objects {oldText, newText}");
	json_object_foreach((json_t *)edit, key, value) if (
		!sb_is_word(
			"oldText newText insertLine replaceAll",
			key)) return sb_fail(err, SB_E_INVALID, 0,
					     "'%s' is no part of an edit; it has oldText, newText, "
					     "replaceAll and insertLine",
					     key);
	if (!json_is_string(json_object_get(edit, "newText")))
		return wrong(err, "newText", "a string");
	if ((old_text != NULL) == (line != NULL))
		return sb_fail(err, SB_E_INVALID, 0,
			       "an edit has either 'oldText' or 'insertLine'");
	if (old_text && (!json_is_string(old_text) || !json_string_length(old_text)))
		return wrong(err, "oldText", "a string that is not empty");
	if (line && (!is_whole(line) || whole(line) < 0))
		return wrong(err, "insertLine", "a line number from 1, or 0 for the end");
	if (all && !json_is_boolean(all))
		return wrong(err, "replaceAll", "true or false");
	return SB_OK;
}

static int check_edits(const struct sb_param *param, const json_t *value, struct sb_error *err)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value) || json_array_size(value) == 0)
		return wrong(err, param->name, "an array of at least one {oldText, newText}");
	json_array_foreach(value, i, item) if (check_edit(item, err) != SB_OK) return SB_E_INVALID;
	return SB_OK;
}

static int check_one(const struct sb_param *param, const json_t *value, struct sb_error *err)
{
	switch (param->type) {
	case SB_PARAM_INTEGER:
		return check_number(param, value, err);
	case SB_PARAM_BOOLEAN:
		return json_is_boolean(value) ? SB_OK : wrong(err, param->name, "true or false");
	case SB_PARAM_STRINGS:
	case SB_PARAM_PATHS:
	case SB_PARAM_WORDS:
		return check_list(param, value, err);
	case SB_PARAM_EDITS:
		return check_edits(param, value, err);
	default:
		return check_text(param, value, err);
	}
}

static int unknown(const struct sb_tool *tool, const struct sb_tool_worker *worker,
		   const char *name, struct sb_error *err)
{
	char known[400] = "";
	size_t length = 0;

	for (const struct sb_param *param = tool->params; param->name; param++)
		if (!worker || !param->not_worker)
			length += (size_t)snprintf(
				known + length, length < sizeof known ? sizeof known - length : 0,
				"%s%s", length ? ", " : "", param->name);
	return sb_fail(err, SB_E_INVALID, 0, "%s takes no argument '%s'; it takes: %s", tool->name,
		       name, known[0] ? known : "none");
}

int sb_tool_check(const struct sb_tool *tool, const struct sb_tool_worker *worker,
		  const json_t *args, struct sb_error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)args, key, value)
	{
		const struct sb_param *param = tool->params;

		while (param->name && strcmp(param->name, key) != 0)
			param++;
		if (!param->name || (worker && param->not_worker))
			return unknown(tool, worker, key, err);
		/* null is how some clients leave something out */
		if (json_is_null(value) && !param->required)
			continue;
		if (check_one(param, value, err) != SB_OK)
			return SB_E_INVALID;
	}
	for (const struct sb_param *param = tool->params; param->name; param++)
		if (param->required && !json_object_get(args, param->name))
			return sb_fail(err, SB_E_INVALID, 0, "'%s' is missing: %s", param->name,
				       param->help);
	return SB_OK;
}

long sb_arg_int(const json_t *args, const char *name, long fallback)
{
	const json_t *value = json_object_get(args, name);

	return is_whole(value) ? whole(value) : fallback;
}

const char **sb_arg_list(const json_t *args, const char *name)
{
	const json_t *list = json_object_get(args, name);
	size_t count = json_array_size(list);
	const char **out = count ? calloc(count + 1, sizeof *out) : NULL;

	for (size_t i = 0; out && i < count; i++)
		out[i] = json_string_value(json_array_get(list, i));
	return out;
}
