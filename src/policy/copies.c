/* copies.c - names that say: a copy of another file. */
#include <string.h>

#include "base/words.h"
#include "policy/builtin_impl.h"

/* Does what begins at the mark (a dot, - or _) say that this is a copy? */
static bool says_copy(const char *mark)
{
	if (mark[0] == '.' && ((mark[1] >= '0' && mark[1] <= '9') || mark[1] == '~'))
		return true;
	return strchr("bclopst", mark[1]) &&
	       sb_words_begin("bak backup bkp copy lock old orig prev sav sw temp tmp", mark + 1);
}

size_t sb_copy_stem(const char **name)
{
	size_t length = strlen(*name);

	if (length > 2 && (*name)[0] == '#' && (*name)[length - 1] == '#') {
		++*name;
		return length - 2;
	}
	for (const char *at = *name; *at && *++at;)
		if (*at == '~' || ((*at == '.' || *at == '-' || *at == '_') && says_copy(at)))
			return (size_t)(at - *name);
	return 0;
}
