/*
 * Instruction files: text that an agent outside follows when it is next started.
 *
 * They run nothing by themselves, and agents write them all day, so nobody is asked.  But a command
 * that has changed them has a word in what the next agent does: that is told at the end of the run.
 * Those in directories that the table guards as a whole (.codex, .roo, .kiro, ...) ask already.
 */
#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "guard/guard.h"

/* Of a file, wherever it is. */
static const struct sb_told_row names[] = {
	{"CLAUDE.md", "Claude Code"},
	{"CLAUDE.local.md", "Claude Code"},
	{"AGENTS.md", "Codex, opencode, Cursor and most other agents"},
	{"AGENTS.override.md", "Codex"},
	{"AGENT.md", "Amp"},
	{"GEMINI.md", "Gemini CLI"},
	{"QWEN.md", "Qwen Code"},
	{"WARP.md", "Warp"},
	{"CRUSH.md", "Crush"},
	{"CRUSH.local.md", "Crush"},
	{"IFLOW.md", "iFlow"},
	{"CODEBUDDY.md", "CodeBuddy"},
	{"replit.md", "Replit"},
	{".hermes.md", "Hermes"},
	{"HERMES.md", "Hermes"},
	{"SOUL.md", "OpenClaw, Hermes"},
	{"MEMORY.md", "Claude Code, OpenClaw"},
	{"HEARTBEAT.md", "OpenClaw"},
	{".cursorrules", "Cursor"},
	{".windsurfrules", "Windsurf"},
	{".clinerules", "Cline"},
	{".roorules", "Roo Code"},
	{".kilocoderules", "Kilo Code"},
	{".goosehints", "goose"},
	{".voidrules", "Void"},
	{".augment-guidelines", "Augment"},
	{".openhands_instructions", "OpenHands"},
	{".rules", "Zed"},
	/* code, which no project imports by itself */
	{"sitecustomize.py", "every python whose search path has its directory"},
	{"usercustomize.py", "every python whose search path has its directory"},
};

/* In a directory; all of these begin with a dot. */
static const struct sb_told_row paths[] = {
	{".github/copilot-instructions.md", "Copilot"},
	{".junie/guidelines.md", "Junie"},
	{".idx/airules.md", "Firebase Studio"},
	{".claude/rules/**", "Claude Code"},
	{".claude/output-styles/**", "Claude Code"},
	{".claude/agent-memory/**", "Claude Code"},
	{".claude/agent-memory-local/**", "Claude Code"},
	/* what its profile lets it write, of every project: read at each start there */
	{".claude/projects/*/memory/**", "Claude Code"},
	{".cursor/rules/**", "Cursor"},
	{".windsurf/rules/**", "Windsurf"},
	{".clinerules/**", "Cline"},
	{".kilocode/rules/**", "Kilo Code"},
	{".kiro/steering/**", "Kiro"},
	{".kiro/prompts/**", "Kiro"},
	{".trae/rules/**", "Trae"},
	{".qoder/rules/**", "Qoder"},
	{".codebuddy/rules/**", "CodeBuddy"},
	{".lingma/rules/**", "Lingma"},
	{".tabnine/guidelines/**", "Tabnine"},
	{".agent/rules/**", "Antigravity"},
	{".agents/rules/**", "Antigravity"},
	{".pi/SYSTEM.md", "pi"},
	{".pi/APPEND_SYSTEM.md", "pi"},
	{".pi/prompts/**", "pi"},
	{".sourcegraph/**", "Cody"},
	{".aiassistant/rules/**", "JetBrains AI Assistant"},
	{".github/instructions/**", "Copilot"},
	{".github/prompts/**", "Copilot"},
	{".github/chatmodes/**", "Copilot"},
};

#define NAMES (sizeof names / sizeof names[0])
#define PATHS (sizeof paths / sizeof paths[0])

const struct sb_told_row *sb_guard_told_row(size_t number)
{
	if (number < NAMES)
		return &names[number];
	return number - NAMES < PATHS ? &paths[number - NAMES] : NULL;
}

/* Packages bring instructions of their own along, by the hundred, for who works on them. */
static bool is_installed(const char *path)
{
	return strstr(path, "/node_modules/") || strstr(path, "/site-packages/");
}

/* All names begin with a dot or end in "md" or "py", in whatever case. */
static bool may_be_name(const char *name, size_t length)
{
	char last = length > 2 ? name[length - 1] | 0x20 : 0;

	return last && (name[0] == '.' || ((name[length - 2] | 0x20) == 'm' && last == 'd') ||
			((name[length - 2] | 0x20) == 'p' && last == 'y'));
}

/*
 * Does the pattern's directory, with something beneath it, or the pattern's file begin at text?  How long it is, without
 * what is beneath; 0: no.
 */
static size_t begins_at(const char *text, const char *pattern)
{
	const char *start = text;

	/* most differ in the first letters */
	if (text[1] != pattern[1] || text[2] != pattern[2])
		return 0;
	for (;;) {
		size_t length = strcspn(pattern, "*");

		if (!pattern[length])
			return strcmp(text, pattern) == 0 ? (size_t)(text - start) + length : 0;
		if (strncmp(text, pattern, length) != 0 || !text[length])
			return 0;
		if (pattern[length + 1] == '*')
			return (size_t)(text - start) + length - 1;
		text += length + strcspn(text + length, "/");
		pattern += length + 1;
	}
}

/* The next hidden name in path, from its slash on; strstr() would look at every byte. */
static const char *next_hidden(const char *path)
{
	const char *dot = strchr(path, '.');

	while (dot && (dot == path || dot[-1] != '/'))
		dot = strchr(dot + 1, '.');
	return dot ? dot - 1 : NULL;
}

static const struct sb_told_row *find(const char *path, size_t length, size_t *out_told)
{
	const char *name = path + length;
	size_t width;

	while (name > path && name[-1] != '/')
		name--;
	if (may_be_name(name, (size_t)(path + length - name)))
		for (size_t i = 0; i < NAMES; i++)
			if (name[1] == names[i].pattern[1] && strcmp(name, names[i].pattern) == 0)
				return *out_told = length, &names[i];
	for (const char *at = next_hidden(path); at; at = next_hidden(at + 2)) {
		if (memcmp(at, "/.git/", strnlen(at, 6)) == 0) /* by far the most of them */
			continue;
		for (size_t i = 0; i < PATHS; i++)
			if ((width = begins_at(at + 1, paths[i].pattern)))
				return *out_told = (size_t)(at + 1 - path) + width, &paths[i];
	}
	return NULL;
}

const char *sb_guard_told_part(const char *path, size_t *out_length)
{
	const struct sb_told_row *row = find(path, strlen(path), out_length);

	return row && !is_installed(path) ? row->who : NULL;
}

const char *sb_guard_told(const char *path)
{
	size_t length;

	return sb_guard_told_part(path, &length);
}

bool sb_guard_told_never(const char *directory)
{
	return is_installed(directory) || sb_text_ends(directory, "/node_modules") ||
	       sb_text_ends(directory, "/site-packages") || sb_text_ends(directory, "/.git") ||
	       strstr(directory, "/.git/");
}

const struct sb_told_row *sb_guard_told_folded(const char *path)
{
	const char *name = strrchr(path, '/');

	if (!name || !may_be_name(name + 1, strlen(name + 1)))
		return NULL;
	for (size_t i = 0; i < NAMES; i++)
		if (strcasecmp(name + 1, names[i].pattern) == 0 &&
		    strcmp(name + 1, names[i].pattern) != 0)
			return is_installed(path) ? NULL : &names[i];
	return NULL;
}

/* Are the first width bytes of tail what path ends in, from a slash on?  A star is a name. */
static bool ends_in(const char *path, size_t length, const char *tail, size_t width)
{
	while (length && width && (tail[width - 1] == path[length - 1] || tail[width - 1] == '*'))
		if (tail[--width] != '*')
			length--;
		else /* one name */
			while (length && path[length - 1] != '/')
				length--;
	return !width && length && path[length - 1] == '/';
}

const struct sb_told_row *sb_guard_told_in(const char *path, size_t *from, const char **out_rest)
{
	size_t length = strlen(path);
	const char *dot = next_hidden(path);

	/* git renames all day */
	if (!dot || strncmp(dot, "/.git/", 6) == 0)
		return NULL;
	while (*from < PATHS) {
		const struct sb_told_row *row = &paths[(*from)++];

		for (const char *slash = strchr(row->pattern, '/'); slash;
		     slash = strchr(slash + 1, '/')) {
			if (!ends_in(path, length, row->pattern, (size_t)(slash - row->pattern)))
				continue;
			*out_rest = slash + 1;
			return row;
		}
	}
	return NULL;
}
