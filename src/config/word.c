#include "config/word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/auto.h"
#include "config/file.h"
#include "config/place.h"
#include "path/path.h"

#define FILE_NAME "word"
#define MAX_WORD 64

static const char *const colours[] = {
	"amber", "azure", "beige",  "black", "blue",   "bronze", "brown", "coral",
	"cream", "cyan",  "ebony",  "gold",  "green",  "grey",   "hazel", "indigo",
	"ivory", "jade",  "lemon",  "lilac", "maroon", "mauve",  "mint",  "navy",
	"ochre", "olive", "orange", "pearl", "purple", "red",    "ruby",  "silver",
};

static const char *const things[] = {
	"anchor", "badger",  "beacon", "canyon", "cedar",   "comet",  "falcon",  "fern",
	"garden", "glacier", "harbor", "heron",  "island",  "kettle", "lantern", "maple",
	"meadow", "orchid",  "otter",  "pebble", "pepper",  "piano",  "raven",   "river",
	"saddle", "spruce",  "summit", "teapot", "thistle", "tunnel", "walnut",  "willow",
};

static int make(const char *file, struct sb_error *err)
{
	unsigned char chance[2];
	char word[MAX_WORD];
	SB_AUTO_FD int lock = -1;
	int length, status;

	if (getrandom(chance, sizeof chance, 0) != sizeof chance)
		return sb_fail(err, SB_E_SYSTEM, errno, "no randomness");
	status = sb_config_lock(file, &lock, err);
	if (status != SB_OK)
		return status;
	if (access(file, F_OK) == 0) /* a second sandbash was faster */
		return SB_OK;
	length = snprintf(word, sizeof word, "%s %s\n", colours[chance[0] % 32],
			  things[chance[1] % 32]);
	return sb_config_replace(file, word, (size_t)length, err);
}

char *sb_word(const struct sb_home *home)
{
	SB_AUTO_FREE char *file = sb_path_join(home->config_dir, FILE_NAME);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_error err;
	bool there = false;

	if (!file)
		return NULL;
	if (sb_config_read(file, &text, &there, &err) != SB_OK)
		return NULL;
	if (!there && (make(file, &err) != SB_OK ||
		       sb_config_read(file, &text, &there, &err) != SB_OK || !there))
		return NULL;
	text.data[strcspn(text.data, "\n")] = '\0';
	return text.data[0] && strlen(text.data) < MAX_WORD ? strdup(text.data) : NULL;
}

void sb_word_make(const struct sb_home *home)
{
	SB_AUTO_FREE char *file = sb_path_join(home->config_dir, FILE_NAME);
	struct sb_error err;

	if (file && access(file, F_OK) != 0)
		make(file, &err);
}

bool sb_has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return terminal && *terminal && strcmp(terminal, "dumb") != 0 &&
	       strncmp(terminal, "vt", 2) != 0 && !(none && *none);
}
