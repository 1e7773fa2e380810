#include "options/typo.h"

#include <string.h>

#include "base/words.h"

#define MAX_NAME 32 /* longer than any option */
#define MAX_SLIP 2  /* letters; two that have changed places are two */

/* Words that bash takes, and fish; those of zsh are the names of its settings, none near ours. */
static const char shells[] =
	"debug debugger dump-po-strings dump-strings help init-file login noediting noprofile norc "
	"posix pretty-print protected rcfile restricted verbose version wordexp command init-command "
	"interactive no-config no-execute print-debug-categories private profile";

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters are missing, too many or wrong (Levenshtein). */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[MAX_NAME + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t above = row[j], wrong = corner + (a[i - 1] != b[j - 1]);

			row[j] = smaller(wrong, 1 + smaller(above, row[j - 1]));
			corner = above;
		}
	}
	return row[b_length];
}

const struct sb_option *sb_typo_of(const char *argument, const struct sb_option *options,
				   size_t count)
{
	const struct sb_option *found = NULL;
	size_t nearest = MAX_SLIP + 1, length, width;

	if (strncmp(argument, "--", 2) != 0)
		return NULL;
	argument += 2;
	length = strcspn(argument, "=");
	if (!length || length > MAX_NAME)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t ours = strlen(options[i].name);
		size_t slip = ours > MAX_NAME ? nearest
					      : distance(argument, length, options[i].name, ours);

		/* of a short name too little would be left to know it by */
		if (slip < nearest && 2 * slip < smaller(length, ours)) {
			nearest = slip;
			found = &options[i];
		}
	}
	for (const char *word, *words = shells; found && (word = sb_words_next(&words, &width));)
		if ((width != strlen(found->name) || memcmp(word, found->name, width) != 0) &&
		    distance(argument, length, word, width) <= nearest)
			found = NULL;
	return found;
}
