#include "consent/caches.h"

#include <stddef.h>
#include <string.h>

#include "path/path.h"

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
	for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
		size_t part = strlen(caches[i].directory);

		if (strncmp(path, caches[i].directory, part) == 0 &&
		    (path[part] == '/' || path[part] == '\0')) {
			*out_directory = caches[i].directory;
			return caches[i].words;
		}
	}
	return NULL;
}
