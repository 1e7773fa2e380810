/*
 * preview.c - fuzz target: the input is a shell command.
 *
 * Whatever it is, there is an answer: its texts are whole, a path that is certain is absolute, and what could not be read
 * is unknown.
 */
#include <string.h>

#include "fuzz.h"
#include "sandbash/preview.h"

static const char *const variables[] = {"A=a b", "G=*.c", "E=", NULL};
static const char *const arguments[] = {"sh", "one", "two words", NULL};

static void check_preview(const struct sb_preview *preview)
{
	for (size_t i = 0; i < preview->file_count; i++) {
		const struct sb_preview_file *file = &preview->files[i];

		CHECK(file->path && file->by && *file->path);
		CHECK(file->act <= SB_PREVIEW_MOVE && file->certainty <= SB_UNKNOWN);
		CHECK(file->certainty == SB_UNKNOWN || file->path[0] == '/');
		CHECK(file->certainty != SB_CERTAIN || !file->pattern);
		CHECK(!preview->problem || file->certainty != SB_CERTAIN ||
		      strcmp(preview->problem, "too long") == 0);
	}
	for (size_t i = 0; i < preview->program_count; i++)
		CHECK(preview->programs[i]);
	for (size_t i = 0; i < preview->unknown_count; i++)
		CHECK(preview->unknown[i]);
	CHECK(!preview->problem || preview->unknown_count);
	CHECK(preview->network <= SB_PREVIEW_NETWORK_UNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sb_preview_options options = {.size = sizeof options,
						   .directory = "/p",
						   .home = "/h",
						   .environment = variables,
						   .arguments = arguments};
	char *text = malloc(size ? size : 1); /* exactly: what is read behind it is found */
	struct sb_preview *preview;

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	CHECK(sb_preview(text, size, &options, &preview, NULL) == SB_OK);
	check_preview(preview);
	sb_preview_free(preview);
	CHECK(sb_preview(text, size, NULL, &preview, NULL) == SB_OK);
	for (size_t i = 0; i < preview->file_count; i++)
		CHECK(preview->files[i].certainty == SB_UNKNOWN ||
		      preview->files[i].path[0] == '/');
	sb_preview_free(preview);
	free(text);
	return 0;
}
