/* passwords.c - does a file of settings look as if a password were in it? */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "policy/builtin_impl.h"
#include "policy/secrets.h"

#define MAX_SETTINGS (64 * 1024) /* longer ones are closed without a look */

static bool has_word_of(const char *words, const char *text, size_t length)
{
	size_t width;

	for (const char *word; (word = sb_words_next(&words, &width));)
		for (size_t i = 0; i + width <= length; i++)
			if (strncasecmp(text + i, word, width) == 0)
				return true;
	return false;
}

/*
 * SECURITY: settings that builds need are hidden only if they look as if a password were in them.
 *
 * Danger: a password under a name that nobody would take for one stays readable.
 * Price: words like "key" and "user" hide files that hold none; --allow-read opens one.
 * Held by: tests/enforce/secrets.py
 */
bool sb_may_hold_password(int directory, const char *name, unsigned flags)
{
	SB_AUTO_FD int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	SB_AUTO_FREE char *text = malloc(MAX_SETTINGS);
	size_t length = 0;
	ssize_t part;

	if (fd < 0 || !text)
		return true;
	while ((part = read(fd, text + length, MAX_SETTINGS - length)) > 0)
		length += (size_t)part;
	if (part < 0 || length == MAX_SETTINGS || memchr(text, '\0', length))
		return true;
	return has_word_of("pass pwd token secret cred private bearer", text, length) ||
	       ((flags & SB_SECRET_NEEDED) != SB_SECRET_NEEDED &&
		has_word_of("auth key login user @", text, length));
}
