/*
 * pieces.c - what is written to the settings of each agent.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/settings_impl.h"
#include "agent/toml.h"
#include "base/auto.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/words.h"
#include "path/path.h"

/*
 * Agents go on when a hook cannot be started or crashes; only status 2 with a reason stops them.
 * sh is asked so that any shell understands it.
 */
#define TAIL " || sh -c 'echo \"sandbash: the hook failed, so nothing is run\" >&2; exit 2'"

/* The command of a hook. */
static void put_command(const struct sb_agent *agent, const struct sb_agent_places *places,
			struct sb_buf *out)
{
	sb_agent_quote(out, places->program, strlen(places->program));
	sb_buf_printf(out, " --hook %s", sb_agent_name(agent));
	for (size_t i = 0; places->options && places->options[i]; i++) {
		sb_buf_putc(out, ' ');
		sb_agent_quote(out, places->options[i], strlen(places->options[i]));
	}
	sb_buf_puts(out, TAIL);
}

bool sb_piece_is_command(const struct sb_agent *agent, const char *text)
{
	SB_AUTO_BUF struct sb_buf middle = SB_BUF(256);
	const char *found;

	sb_buf_printf(&middle, " --hook %s", sb_agent_name(agent));
	found = strstr(text, middle.data);
	if (!found || !sb_text_ends(text, TAIL))
		return false;
	if (found > text && found[-1] == '\'')
		found--;
	return found - text > 9 && strncmp(found - 9, "/sandbash", 9) == 0;
}

static void put_options(struct sb_json *json, const char *const *options)
{
	for (size_t i = 0; options && options[i]; i++)
		sb_json_string(json, options[i]);
}

/* As JSON: claude's and gemini's hook. */
static void put_hook(const char *name, const char *command, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "matcher", "*");
	sb_json_open_at(&json, "hooks", '[');
	sb_json_open(&json, '{');
	if (name)
		sb_json_pair(&json, "name", name);
	sb_json_pair(&json, "type", "command");
	sb_json_pair(&json, "command", command);
	sb_json_close(&json, '}');
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

/* As JSON: a server, by program and arguments, or by one list (opencode). */
static void put_server(const struct sb_agent_places *places, const char *type, bool listed,
		       struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	if (type)
		sb_json_pair(&json, "type", type);
	sb_json_key(&json, "command");
	if (listed) {
		sb_json_open(&json, '[');
		sb_json_string(&json, places->server);
	} else {
		sb_json_string(&json, places->server);
		sb_json_open_at(&json, "args", '[');
	}
	put_options(&json, places->options);
	sb_json_close(&json, ']');
	if (listed)
		sb_json_pair_bool(&json, "enabled", true);
	sb_json_close(&json, '}');
}

/* A string of TOML's is one of JSON's, but for characters that JSON writes as two. */
static void put_toml(struct sb_buf *out, const char *text)
{
	struct sb_json json;
	size_t from = out->length;

	sb_json_init_compact(&json, out);
	sb_json_string(&json, text);
	if (!sb_buf_failed(out) && strstr(out->data + from, "\\ud"))
		out->failed = true;
}

static void put_toml_server(const struct sb_agent_places *places, struct sb_buf *out)
{
	sb_buf_puts(out, SB_TOML_ADDED "[mcp_servers.sandbash]\ncommand = ");
	put_toml(out, places->server);
	sb_buf_puts(out, "\nargs = [");
	for (size_t i = 0; places->options && places->options[i]; i++) {
		sb_buf_puts(out, i ? ", " : "");
		put_toml(out, places->options[i]);
	}
	sb_buf_puts(out, "]\n");
}

static void put_toml_hook(const char *command, struct sb_buf *out)
{
	sb_buf_puts(out, SB_TOML_ADDED
		    "[[hooks.PreToolUse]]\nmatcher = \"*\"\n\n[[hooks.PreToolUse.hooks]]\n"
		    "type = \"command\"\ncommand = ");
	put_toml(out, command);
	sb_buf_putc(out, '\n');
}

/*
 * opencode has plugins instead.  The arguments are changed in the object that was given: opencode
 * goes on with that.  Whatever goes wrong is thrown, and ends the tool's call.
 */
static void put_plugin(const struct sb_agent_places *places, struct sb_buf *out)
{
	struct sb_json json;

	sb_buf_puts(out, "import { spawnSync } from \"node:child_process\"\n\nconst program = ");
	sb_json_init_compact(&json, out);
	sb_json_string(&json, places->program);
	sb_buf_puts(out, "\nconst words = ");
	sb_json_init_compact(&json, out);
	sb_json_open(&json, '[');
	sb_json_string(&json, "--hook");
	sb_json_string(&json, "opencode");
	put_options(&json, places->options);
	sb_json_close(&json, ']');
	sb_buf_puts(out,
		    "\nexport const Sandbash = async ({ directory }) => ({\n"
		    "  \"tool.execute.before\": async (input, output) => {\n"
		    "    const event = {\n"
		    "      hook_event_name: \"tool.execute.before\",\n"
		    "      tool_name: input.tool,\n"
		    "      cwd: directory,\n"
		    "      tool_input: output.args ?? {},\n"
		    "    }\n"
		    "    const done = spawnSync(program, words, {\n"
		    "      input: JSON.stringify(event),\n"
		    "      encoding: \"utf8\",\n"
		    "      maxBuffer: 1 << 30,\n"
		    "    })\n"
		    "    if (done.error || done.status !== 0)\n"
		    "      throw new Error(done.stderr || `sandbash: the hook failed: "
		    "${done.error ?? done.status}`)\n"
		    "    const answer = JSON.parse(done.stdout)\n"
		    "    if (answer.deny !== undefined) throw new Error(answer.deny)\n"
		    "    if (answer.tool_input) Object.assign(output.args, answer.tool_input)\n"
		    "  },\n"
		    "})\n");
}

/* A file of ours, with the sum of what we wrote in its first line. */
static void put_summed(const struct sb_agent *agent, const char *lines, struct sb_buf *out)
{
	char sum[SB_SHA256_HEX];

	sb_sha256_hex(lines, strlen(lines), sum);
	sb_buf_printf(out, "// " SB_PIECE_ADDED "%s", sb_agent_name(agent), sum, lines);
}

static char *join(const char *first, const char *second)
{
	return first ? sb_path_join(first, second) : NULL;
}

const char *sb_agent_variable(const struct sb_agent *agent)
{
	if (strcmp(sb_agent_name(agent), "claude") == 0)
		return "CLAUDE_CONFIG_DIR";
	return strcmp(sb_agent_name(agent), "codex") == 0 ? "CODEX_HOME" : NULL;
}

static void make_claude(const struct sb_agent_places *places, struct sb_pieces *out,
			struct sb_buf *hook, struct sb_buf *server)
{
	out->all[0] = (struct sb_piece){"hook", SB_PIECE_ITEM, .keys = {"hooks", "PreToolUse"}};
	out->all[0].file = places->agent_home ? join(places->agent_home, "settings.json")
					      : join(places->home, ".claude/settings.json");
	put_hook(NULL, out->command, hook);
	out->all[1] =
		(struct sb_piece){"server", SB_PIECE_MEMBER, .keys = {"mcpServers", "sandbash"}};
	out->all[1].file =
		join(places->agent_home ? places->agent_home : places->home, ".claude.json");
	put_server(places, "stdio", false, server);
}

static void make_codex(const struct sb_agent_places *places, struct sb_pieces *out,
		       struct sb_buf *hook, struct sb_buf *server)
{
	for (size_t i = 0; i < 2; i++) {
		out->all[i] = (struct sb_piece){i ? "server" : "hook", SB_PIECE_BLOCK};
		out->all[i].file = places->agent_home ? join(places->agent_home, "config.toml")
						      : join(places->home, ".codex/config.toml");
	}
	out->all[0].keys[0] = "hooks" SB_TOML_DOT "PreToolUse";
	out->all[1].keys[0] = "mcp_servers" SB_TOML_DOT "sandbash";
	put_toml_hook(out->command, hook);
	put_toml_server(places, server);
}

static void make_gemini(const struct sb_agent_places *places, struct sb_pieces *out,
			struct sb_buf *hook, struct sb_buf *server)
{
	out->all[0] = (struct sb_piece){"hook", SB_PIECE_ITEM, .keys = {"hooks", "BeforeTool"}};
	out->all[1] =
		(struct sb_piece){"server", SB_PIECE_MEMBER, .keys = {"mcpServers", "sandbash"}};
	for (size_t i = 0; i < 2; i++)
		out->all[i].file = join(places->home, ".gemini/settings.json");
	put_hook("sandbash", out->command, hook);
	put_server(places, NULL, false, server);
}

static void make_opencode(const struct sb_agent *agent, const struct sb_agent_places *places,
			  struct sb_pieces *out, struct sb_buf *hook, struct sb_buf *server)
{
	SB_AUTO_FREE char *usual = join(places->home, ".config");
	SB_AUTO_BUF struct sb_buf lines = SB_BUF(SB_SETTINGS_LIMIT);
	const char *config = places->config_home ? places->config_home : usual;

	out->all[0] = (struct sb_piece){"hook", SB_PIECE_FILE};
	out->all[0].file = join(config, "opencode/plugin/sandbash.js");
	out->all[1] = (struct sb_piece){"server", SB_PIECE_MEMBER, .keys = {"mcp", "sandbash"}};
	out->all[1].file = join(config, places->other_file ? "opencode/opencode.jsonc"
							   : "opencode/opencode.json");
	put_plugin(places, &lines);
	put_summed(agent, lines.data, hook);
	put_server(places, "local", true, server);
	hook->failed |= sb_buf_failed(&lines);
}

int sb_pieces_make(const struct sb_agent *agent, const struct sb_agent_places *places,
		   struct sb_pieces *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf command = SB_BUF(SB_SETTINGS_LIMIT);
	SB_AUTO_BUF struct sb_buf hook = SB_BUF(SB_SETTINGS_LIMIT);
	SB_AUTO_BUF struct sb_buf server = SB_BUF(SB_SETTINGS_LIMIT);
	struct sb_pieces made = {.count = 2};

	put_command(agent, places, &command);
	if (!sb_agent_is(agent, "opencode"))
		made.command = strdup(command.data);
	if (sb_agent_is(agent, "claude"))
		make_claude(places, &made, &hook, &server);
	else if (sb_agent_is(agent, "codex"))
		make_codex(places, &made, &hook, &server);
	else if (sb_agent_is(agent, "gemini"))
		make_gemini(places, &made, &hook, &server);
	else
		make_opencode(agent, places, &made, &hook, &server);
	/* JSON has a way to write bytes that are no text; agents read something else from it */
	if (sb_buf_failed(&hook) || sb_buf_failed(&server) || strstr(hook.data, "\\udc") ||
	    strstr(server.data, "\\udc")) {
		sb_pieces_done(&made);
		return sb_fail(err, SB_E_INVALID, 0,
			       "a path or an option cannot be written to a settings file");
	}
	made.all[0].value = sb_buf_take(&hook);
	made.all[1].value = sb_buf_take(&server);
	for (size_t i = 0; i < made.count; i++)
		if (!made.all[i].file || !made.all[i].value) {
			sb_pieces_done(&made);
			return sb_no_memory(err);
		}
	*out = made;
	return SB_OK;
}

void sb_pieces_done(struct sb_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++) {
		free(pieces->all[i].file);
		free(pieces->all[i].value);
	}
	free(pieces->command);
	*pieces = (struct sb_pieces){0};
}
