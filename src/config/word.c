#include "config/word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/write.h"
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

#ifdef O_TMPFILE
#include <sys/resource.h>

/* A write would end us (setrlimit(2), RLIMIT_FSIZE). */
static bool is_too_long(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < MAX_WORD;
}

/* A file without a name until it is whole: whoever is killed here leaves nothing. */
static bool make_at_once(const char *dir, const char *file, const char *word)
{
	SB_AUTO_FD int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char name[32];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	return fd >= 0 && sb_write_all(fd, word, strlen(word)) == 0 &&
	       (linkat(AT_FDCWD, name, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST);
}
#else
static bool is_too_long(void)
{
	return false;
}

static bool make_at_once(const char *dir, const char *file, const char *word)
{
	(void)dir, (void)file, (void)word;
	return false;
}
#endif

static int make(const char *dir, const char *file, struct sb_error *err)
{
	unsigned char chance[2];
	char word[MAX_WORD];
	SB_AUTO_FD int lock = -1;
	int status;

	if (is_too_long())
		return sb_fail(err, SB_E_SYSTEM, EFBIG, "no file may be made");
	if (getrandom(chance, sizeof chance, 0) != sizeof chance)
		return sb_fail(err, SB_E_SYSTEM, errno, "no randomness");
	status = sb_config_lock(file, &lock, err);
	if (status != SB_OK)
		return status;
	if (access(file, F_OK) == 0) /* a second sandbash was faster */
		return SB_OK;
	snprintf(word, sizeof word, "%s %s\n", colours[chance[0] % 32], things[chance[1] % 32]);
	return make_at_once(dir, file, word) ? SB_OK
					     : sb_config_replace(file, word, strlen(word), err);
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
	if (!there && (make(home->config_dir, file, &err) != SB_OK ||
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
		make(home->config_dir, file, &err);
}

bool sb_has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return terminal && *terminal && strcmp(terminal, "dumb") != 0 &&
	       strncmp(terminal, "vt", 2) != 0 && !(none && *none);
}
