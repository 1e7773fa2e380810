#include "consent/way.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "consent/save_names.h"
#include "path/path.h"
#include "path/pattern.h"

/* The directory that a name is in, if a rule for it is no broader than advice may be. */
static char *place_of(const char *home, const char *path)
{
	char *parent = sb_path_parent(path);

	if (parent && !sb_path_within(parent, home) && sb_path_exists(parent))
		return parent;
	free(parent);
	return NULL;
}

/* ".gitconfig.lock": git renames it, also where there is no .gitconfig yet.  (Not "yarn.lock".) */
static char *locked_file(const char *parent, const char *name)
{
	size_t length = strlen(name), end = strlen(".lock");
	char file[NAME_MAX + 1];

	if (name[0] != '.' || length <= end + 1 || length > NAME_MAX ||
	    strcmp(name + length - end, ".lock") != 0)
		return NULL;
	memcpy(file, name, length - end);
	file[length - end] = '\0';
	return sb_path_join(parent, file);
}

/* The file that is saved under this name, and has to be allowed as well; NULL: none. */
static char *saved_file(const char *path, bool *out_temporary)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	SB_AUTO_FD int directory = parent ? open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const char *name = strrchr(path, '/') + 1, *why;
	char file[NAME_MAX + 1];

	*out_temporary = sb_save_temporary(name) != NULL;
	if (*out_temporary || directory < 0)
		return NULL;
	if (!sb_save_file(directory, name, file, &why))
		return locked_file(parent, name);
	*out_temporary = !sb_save_is_fixed(file, name);
	return *out_temporary ? NULL : sb_path_join(parent, file);
}

#define NO_PLACE_FOR_LINK "no option allows it: a link, in a directory that is too much to open"

/* The directories of both its names, which may be one. */
static void find_way_to_move_link(const char *home, const struct sb_stopped *stopped, char **place,
				  struct sb_way *way)
{
	SB_AUTO_FREE char *other = place_of(home, stopped->other);

	if (!*place || !other) {
		way->none = NO_PLACE_FOR_LINK;
		return;
	}
	if (!sb_path_within(*place, other))
		way->paths[1] = sb_take_ptr(&other);
	way->paths[0] = sb_take_ptr(place);
}

/*
 * A new name.  That of a temporary file will be another one next time, and so is allowed with its
 * directory or not at all.
 */
static void find_way_to_make(const char *home, const struct sb_stopped *stopped, struct sb_way *way)
{
	SB_AUTO_FREE char *place = place_of(home, stopped->path);
	bool temporary = false;

	if (stopped->in_hidden) {
		way->none = "no option allows it: its directory is hidden";
		return;
	}
	if (stopped->needs_place && stopped->other && !stopped->rule) {
		find_way_to_move_link(home, stopped, &place, way);
		return;
	}
	way->paths[1] = stopped->other ? strdup(stopped->other)
				       : saved_file(stopped->path, &temporary);
	if (!stopped->rule && place && (stopped->needs_place || temporary || way->paths[1]) &&
	    !stopped->other) {
		free(way->paths[1]);
		way->paths[0] = sb_take_ptr(&place);
		way->paths[1] = NULL;
		return;
	}
	if (temporary)
		way->none = "no option allows it: the name of a temporary file, in a directory "
			    "that is too much to open";
	else if (stopped->needs_place)
		way->none = NO_PLACE_FOR_LINK;
	else
		way->paths[0] = strdup(stopped->path);
}

struct sb_way sb_way_find(const char *home, const struct sb_stopped *stopped)
{
	struct sb_way way = {
		.none = !home ? "the worker's file and the project's say what it may do"
			: stopped->final || stopped->no_place ? "no option allows it"
							      : NULL};

	if (way.none || stopped->own_flag)
		return way;
	way.flag = stopped->op == SB_READ ? "--allow-read" : "--allow-write";
	if (!stopped->beneath && (stopped->needs_place || !sb_path_exists(stopped->path))) {
		find_way_to_make(home, stopped, &way);
	} else {
		way.paths[0] = strdup(stopped->path);
		way.paths[1] = stopped->other ? strdup(stopped->other) : NULL;
		way.make_first = stopped->beneath && !sb_path_exists(stopped->path);
	}
	if (!way.none && !way.paths[0])
		way.none = "no option allows it"; /* out of memory: say nothing untrue */
	return way;
}

void sb_way_done(struct sb_way *way)
{
	free(way->paths[0]);
	free(way->paths[1]);
}

/* In words; NULL: the rule. */
static const char *refused_by(const char *by)
{
	static const struct {
		const char *by, *words;
	} rows[] = {
		{"person", "you said no"},
		{"nobody", "nobody could be asked"},
		{"timeout", "nobody answered"},
		{"flood", "too many questions"},
		{"changed", "it changed while you were asked"},
	};

	for (size_t i = 0; by && i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(by, rows[i].by) == 0)
			return rows[i].words;
	return NULL;
}

void sb_refused_why(const char *by, const char *rule, const char *no_rule, struct sb_buf *out)
{
	const char *reason = refused_by(by);

	if (reason)
		sb_buf_printf(out, "%s; ", reason);
	if (!rule)
		rule = no_rule;
	sb_escape_append(out, rule, strlen(rule));
}

void sb_way_put_flag(const struct sb_way *way, size_t which, bool for_shell, struct sb_buf *out)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(way->paths[which]);
	SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* a path, each byte with a backslash */

	sb_buf_printf(&word, "%s=%s", way->flag, pattern ? pattern : "");
	if (!pattern || sb_buf_failed(&word))
		out->failed = true;
	else if (for_shell)
		sb_shell_quote(out, word.data);
	else
		sb_buf_puts(out, word.data);
}

void sb_way_put(const struct sb_stopped *stopped, const struct sb_way *way, struct sb_buf *out)
{
	if (way->none) {
		sb_buf_puts(out, way->none);
		return;
	}
	if (!way->flag) {
		sb_buf_puts(out, "leave out ");
		sb_escape_append(out, stopped->rule, strlen(stopped->rule));
		return;
	}
	if (way->make_first) {
		sb_buf_puts(out, "mkdir -p ");
		sb_shell_quote(out, way->paths[0]);
		sb_buf_puts(out, " && ");
	}
	sb_buf_puts(out, "sandbash ");
	sb_way_put_flag(way, 0, true, out);
	if (way->paths[1]) {
		sb_buf_putc(out, ' ');
		sb_way_put_flag(way, 1, true, out);
	}
	sb_buf_puts(out, " ...");
}

/* --- caches -------------------------------------------------------------------------------------- */

/*
 * No row opens what a program outside would run: ~/.cargo holds installed programs and a
 * config that names some, its registry does not.
 */
static const struct {
	const char *directory, *words;
} caches[] = {
	{".npm", "npm's cache"},
	{".cache/node-gyp", "node-gyp's cache"},
	{".cache/node", "corepack's cache"},
	{".cache/yarn", "yarn's cache"},
	{".yarn/berry", "yarn's cache"},
	{".cache/pnpm", "pnpm's cache"},
	{".local/share/pnpm/store", "pnpm's store"},
	{".local/state/pnpm", "pnpm's state"},
	{".pnpm-store", "pnpm's store"},
	{".bun/install/cache", "bun's cache"},
	{".cache/deno", "deno's cache"},
	{".cache/electron", "electron's downloads"},
	{".cache/Cypress", "Cypress's downloads"},
	{".cache/ms-playwright", "Playwright's browsers"},
	{".cache/puppeteer", "Puppeteer's browsers"},
	{".cache/typescript", "TypeScript's cache"},
	{".cache/turbo", "turbo's cache"},
	{".cache/pip", "pip's cache"},
	{".cache/uv", "uv's cache"},
	{".local/share/uv", "uv's Pythons and tools"},
	{".cache/pypoetry", "poetry's cache"},
	{".cache/pdm", "pdm's cache"},
	{".cache/pipenv", "pipenv's cache"},
	{".cache/pre-commit", "pre-commit's cache"},
	{".cache/huggingface", "Hugging Face's downloads"},
	{".cache/torch", "PyTorch's downloads"},
	{".cache/matplotlib", "matplotlib's cache"},
	{".conda/pkgs", "conda's cache"},
	{".cargo/registry", "cargo's cache"},
	{".cargo/git", "cargo's cache"},
	{".cache/sccache", "sccache's cache"},
	{".cache/go-build", "go's build cache"},
	{"go/pkg", "go's module cache"},
	{".cache/golangci-lint", "golangci-lint's cache"},
	{".cache/gopls", "gopls's cache"},
	{".gradle/caches", "gradle's cache"},
	{".gradle/daemon", "gradle's daemon logs"},
	{".gradle/native", "gradle's native libraries"},
	{".gradle/wrapper", "gradle's downloads"},
	{".m2/repository", "maven's repository"},
	{".ivy2", "ivy's cache"},
	{".sbt/boot", "sbt's cache"},
	{".cache/coursier", "coursier's cache"},
	{".cache/bazel", "bazel's cache"},
	{".cache/bazelisk", "bazelisk's downloads"},
	{".nuget/packages", "NuGet's cache"},
	{".local/share/NuGet", "NuGet's cache"},
	{".dotnet", "dotnet's state"},
	{".cache/composer", "composer's cache"},
	{".composer/cache", "composer's cache"},
	{".bundle/cache", "bundler's cache"},
	{".local/share/gem", "RubyGems' packages"},
	{".cache/ccache", "ccache's cache"},
	{".ccache", "ccache's cache"},
	{".cache/vcpkg", "vcpkg's cache"},
	{".conan2", "conan's cache"},
	{".cache/zig", "zig's cache"},
	{".cabal/packages", "cabal's cache"},
	{".cabal/store", "cabal's store"},
	{".stack", "stack's store"},
	{".hex", "hex's cache"},
	{".cache/rebar3", "rebar3's cache"},
	{".julia", "julia's packages"},
	{".pub-cache", "dart's cache"},
	{".cache/fontconfig", "the font cache"},
	{".cache/mesa_shader_cache", "the graphics driver's cache"},
	{".terraform.d/plugin-cache", "terraform's cache"},
	{".cache/helm", "helm's cache"},
};

const char *sb_cache_of(const char *home, const char *path, const char **out_directory)
{
	size_t length = strlen(home);

	if (!sb_path_within(home, path) || strcmp(home, path) == 0)
		return NULL;
	path += length + (home[length - 1] != '/');
	for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++)
		if (sb_path_within(caches[i].directory, path)) {
			*out_directory = caches[i].directory;
			return caches[i].words;
		}
	return NULL;
}
