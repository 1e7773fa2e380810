/* passwords.c - does a file of settings look as if a password were in it? */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "policy/builtin_impl.h"

#define MAX_SETTINGS (64 * 1024) /* longer ones are closed without a look */

static bool has_word(const char *text, size_t length, const char *word)
{
	size_t width = strlen(word);

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
bool sb_may_hold_password(int directory, const char *name)
{
	static const char *const words[] = {"pass", "pwd", "token",   "secret",
					    "auth", "key", "cred",    "login",
					    "user", "@",   "private", "bearer"};
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
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_word(text, length, words[i]))
			return true;
	return false;
}
