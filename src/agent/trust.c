/*
 * trust.c - will the agent call the hook that its settings have?
 */
#include <stdlib.h>
#include <string.h>

#include "agent/settings_impl.h"
#include "agent/toml.h"
#include "base/auto.h"
#include "base/hash.h"

struct trust_look {
	const char *key;     /* "PATH:pre_tool_use:GROUP:0" */
	const char *command; /* our hook's */
	int groups, group;   /* of PreToolUse so far; ours, or -1 */
	bool off, disabled;
	char *trusted; /* trusted_hash of the key, or NULL */
};

static int count_groups(void *context, const struct sb_toml_item *item, struct sb_error *err)
{
	struct trust_look *look = context;

	(void)err;
	if (item->header && item->listed &&
	    strcmp(item->path, "hooks" SB_TOML_DOT "PreToolUse") == 0)
		look->groups++;
	if (item->string && strcmp(item->string, look->command) == 0 &&
	    strcmp(item->path,
		   "hooks" SB_TOML_DOT "PreToolUse" SB_TOML_DOT "hooks" SB_TOML_DOT "command") == 0)
		look->group = look->groups - 1;
	if (item->word && strcmp(item->word, "false") == 0 &&
	    (strcmp(item->path, "features" SB_TOML_DOT "hooks") == 0 ||
	     strcmp(item->path, "features" SB_TOML_DOT "codex_hooks") == 0))
		look->off = true;
	return SB_OK;
}

static int find_trust(void *context, const struct sb_toml_item *item, struct sb_error *err)
{
	static const char top[] = "hooks" SB_TOML_DOT "state" SB_TOML_DOT;
	struct trust_look *look = context;
	size_t key = strlen(look->key);
	const char *rest = item->path + sizeof top - 1;

	if (strncmp(item->path, top, sizeof top - 1) != 0 || strncmp(rest, look->key, key) != 0)
		return SB_OK;
	if (strcmp(rest + key, SB_TOML_DOT "trusted_hash") == 0 && item->string) {
		free(look->trusted);
		look->trusted = strdup(item->string);
		if (!look->trusted)
			return sb_no_memory(err);
	}
	if (strcmp(rest + key, SB_TOML_DOT "enabled") == 0 && item->word &&
	    strcmp(item->word, "false") == 0)
		look->disabled = true;
	return SB_OK;
}

/*
 * codex runs a hook only if its own settings have the sum of what it says, under the file's name
 * and the hook's number.  The sum is of this text: its settings with the defaults filled in,
 * names in order.
 */
static void codex_sum(const char *command, char out[SB_SHA256_HEX])
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_SETTINGS_LIMIT);
	const char *at = command;

	sb_buf_puts(&text,
		    "{\"event_name\":\"pre_tool_use\",\"hooks\":[{\"async\":false,\"command\":\"");
	/* as serde writes strings: nothing escaped that need not be */
	for (; *at; at++) {
		if (*at == '"' || *at == '\\')
			sb_buf_printf(&text, "\\%c", *at);
		else if (*at == '\n' || *at == '\t' || *at == '\r')
			sb_buf_puts(&text, *at == '\n' ? "\\n" : *at == '\t' ? "\\t" : "\\r");
		else if ((unsigned char)*at < 0x20)
			sb_buf_printf(&text, "\\u%04x", *at);
		else
			sb_buf_putc(&text, *at);
	}
	sb_buf_puts(&text, "\",\"timeout\":600,\"type\":\"command\"}],\"matcher\":\"*\"}");
	sb_sha256_hex(text.data, text.length, out);
}

static int look_at_trust(const struct sb_pieces *pieces, const char *file,
			 const struct sb_buf *text, struct sb_hook_state *out, struct sb_error *err)
{
	struct trust_look look = {.command = pieces->command, .group = -1};
	SB_AUTO_BUF struct sb_buf key = SB_BUF(SB_SETTINGS_LIMIT);
	char sum[SB_SHA256_HEX];
	int status = sb_toml_read(text->data, text->length, count_groups, &look, err);

	if (status != SB_OK)
		return status;
	sb_buf_printf(&key, "%s:pre_tool_use:%d:0", file, look.group);
	look.key = key.data;
	status = sb_toml_read(text->data, text->length, find_trust, &look, err);
	if (status == SB_OK) {
		codex_sum(pieces->command, sum);
		out->why = look.off ? "features.hooks = false" : "hooks.state has enabled = false";
		if (look.off || look.disabled)
			out->trust = SB_HOOK_OFF;
		else if (!look.trusted)
			out->trust = SB_HOOK_UNTRUSTED;
		else
			out->trust = strncmp(look.trusted, "sha256:", 7) == 0 &&
						     strcmp(look.trusted + 7, sum) == 0
					     ? SB_HOOK_TRUSTED
					     : SB_HOOK_CHANGED;
	}
	free(look.trusted);
	return status;
}

int sb_hook_look(const struct sb_agent *agent, const struct sb_pieces *pieces, const char *file,
		 const struct sb_buf *text, struct sb_hook_state *out, struct sb_error *err)
{
	SB_AUTO(sb_json_text_done) struct sb_json_text doc = {0};
	size_t found, list;
	int status;

	out->trust = SB_HOOK_ON;
	if (sb_agent_is(agent, "codex"))
		return look_at_trust(pieces, file, text, out, err);
	if (sb_agent_is(agent, "opencode"))
		return SB_OK;
	status = sb_json_text_read(text->data, text->length, SB_JSON_COMMENTS, &doc, err);
	if (status != SB_OK)
		return status;
	if (sb_agent_is(agent, "claude")) {
		found = sb_json_text_member(&doc, SB_JSON_ROOT, "disableAllHooks");
		if (found && doc.values[found].kind == 't') {
			out->trust = SB_HOOK_OFF;
			out->why = "disableAllHooks is true";
		}
	} else {
		found = sb_json_text_member(&doc, SB_JSON_ROOT, "hooksConfig");
		list = found ? sb_json_text_member(&doc, found, "disabled") : 0;
		found = found ? sb_json_text_member(&doc, found, "enabled") : 0;
		if (found && doc.values[found].kind == 'f') {
			out->trust = SB_HOOK_OFF;
			out->why = "hooksConfig.enabled is false";
		}
		for (size_t i = list ? doc.values[list].first : 0; i; i = doc.values[i].next)
			if (sb_json_text_is(&doc, i, "sandbash")) {
				out->trust = SB_HOOK_OFF;
				out->why = "hooksConfig.disabled has 'sandbash'";
			}
	}
	return SB_OK;
}

const char *const *sb_agent_project_files(const struct sb_agent *agent)
{
	static const char *const claude[] = {".claude/settings.json", ".claude/settings.local.json",
					     NULL};
	static const char *const gemini[] = {".gemini/settings.json", NULL};

	if (sb_agent_is(agent, "claude"))
		return claude;
	return sb_agent_is(agent, "gemini") ? gemini : gemini + 1;
}
