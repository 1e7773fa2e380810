/*
 * Instruction files: text that an agent outside follows when it is next started.
 *
 * They run nothing by themselves, and agents write them all day, so nobody is asked.  But a command
 * that has changed them has a word in what the next agent does: that is told at the end of the run.
 * Those in directories that the table guards as a whole (.codex, .roo, .kiro, ...) ask already.
 */
#include <string.h>
#include <strings.h>

#include "guard/guard.h"

static const struct sb_told_row rows[] = {
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
	{".cursorrules", "Cursor"},
	{".windsurfrules", "Windsurf"},
	{".clinerules", "Cline"},
	{".roorules", "Roo Code"},
	{".kilocoderules", "Kilo Code"},
	{".goosehints", "goose"},
	{".rules", "Zed"},
	{".github/copilot-instructions.md", "Copilot"},
	{".junie/guidelines.md", "Junie"},
	{".idx/airules.md", "Firebase Studio"},
	{".claude/rules/**", "Claude Code"},
	{".claude/output-styles/**", "Claude Code"},
	{".cursor/rules/**", "Cursor"},
	{".windsurf/rules/**", "Windsurf"},
	{".clinerules/**", "Cline"},
	{".kilocode/rules/**", "Kilo Code"},
	{".trae/rules/**", "Trae"},
	{".aiassistant/rules/**", "JetBrains AI Assistant"},
	{".github/instructions/**", "Copilot"},
	{".github/prompts/**", "Copilot"},
	{".github/chatmodes/**", "Copilot"},
};

#define COUNT (sizeof rows / sizeof rows[0])

const struct sb_told_row *sb_guard_told_rows(size_t *out_count)
{
	*out_count = COUNT;
	return rows;
}

/* Of what stands before two stars.  0: the pattern is a name. */
static size_t tree_length(const char *pattern)
{
	size_t length = strlen(pattern);

	return length > 3 && strcmp(pattern + length - 3, "/**") == 0 ? length - 3 : 0;
}

/* Is tail what path ends in, from a slash on? */
static bool ends_in(const char *path, size_t length, const char *tail, size_t width)
{
	return length > width && path[length - width - 1] == '/' &&
	       memcmp(path + length - width, tail, width) == 0;
}

static bool is_beneath(const char *path, const char *directory, size_t length)
{
	for (const char *at = strstr(path, "/."); at; at = strstr(at + 1, "/."))
		if (strncmp(at + 1, directory, length) == 0 && at[1 + length] == '/' &&
		    at[2 + length])
			return true;
	return false;
}

/* Packages bring instructions of their own along, by the hundred, for who works on them. */
static bool is_installed(const char *path)
{
	return strstr(path, "/node_modules/") || strstr(path, "/site-packages/");
}

const char *sb_guard_told(const char *path)
{
	size_t length = strlen(path);
	bool hidden = strstr(path, "/.") != NULL;

	/* all of them; most names are done with here */
	if (!hidden && (length < 3 || strcmp(path + length - 3, ".md") != 0))
		return NULL;
	for (size_t i = 0; i < COUNT; i++) {
		size_t tree = tree_length(rows[i].pattern);

		if (tree ? hidden && is_beneath(path, rows[i].pattern, tree)
			 : ends_in(path, length, rows[i].pattern, strlen(rows[i].pattern)))
			return is_installed(path) ? NULL : rows[i].who;
	}
	return NULL;
}

const struct sb_told_row *sb_guard_told_folded(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length = name ? strlen(name) : 0;

	/* all of them begin with a dot or end in "md"; most names are done with here */
	if (length < 3 || (name[1] != '.' &&
			   ((name[length - 2] | 0x20) != 'm' || (name[length - 1] | 0x20) != 'd')))
		return NULL;
	for (size_t i = 0; i < COUNT; i++)
		if (!strchr(rows[i].pattern, '/') && strcasecmp(name + 1, rows[i].pattern) == 0 &&
		    strcmp(name + 1, rows[i].pattern) != 0)
			return is_installed(path) ? NULL : &rows[i];
	return NULL;
}

const struct sb_told_row *sb_guard_told_in(const char *path, size_t from, const char **out_rest)
{
	size_t length = strlen(path);

	for (size_t i = from; i < COUNT; i++) {
		const char *pattern = rows[i].pattern;

		for (const char *slash = strchr(pattern, '/'); slash;
		     slash = strchr(slash + 1, '/')) {
			if (!ends_in(path, length, pattern, (size_t)(slash - pattern)))
				continue;
			*out_rest = slash + 1;
			return &rows[i];
		}
	}
	return NULL;
}
