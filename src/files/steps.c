#include "files/steps.h"

#include <errno.h>
#include <string.h>

int sb_steps_init(struct sb_steps *steps, const char *path)
{
	size_t length = strlen(path);

	steps->slash = false;
	steps->links = 0;
	if (length >= sizeof steps->rest)
		return -ENAMETOOLONG;
	memcpy(steps->rest, path, length + 1);
	return 0;
}

int sb_steps_next(struct sb_steps *steps, char name[NAME_MAX + 1], bool *last)
{
	char *from = steps->rest + strspn(steps->rest, "/");
	size_t length = strcspn(from, "/");
	char *after = from + length;

	if (length == 0)
		return 0;
	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, from, length);
	name[length] = '\0';
	*last = after[strspn(after, "/")] == '\0';
	if (*last && *after)
		steps->slash = true;
	memmove(steps->rest, after, strlen(after) + 1);
	return 1;
}

int sb_steps_follow(struct sb_steps *steps, const char *target, size_t length)
{
	size_t behind = strlen(steps->rest);

	if (++steps->links > SB_MAX_LINKS)
		return -ELOOP;
	if (length == 0)
		return -ENOENT;
	if (length + 1 + behind >= sizeof steps->rest)
		return -ENAMETOOLONG;
	memmove(steps->rest + length + (behind > 0), steps->rest, behind + 1);
	if (behind)
		steps->rest[length] = '/';
	memcpy(steps->rest, target, length);
	return 0;
}

bool sb_steps_cancel(struct sb_steps *steps)
{
	const char *at = steps->rest;
	size_t depth = 1;

	while (depth) {
		size_t length;

		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (length == 0)
			return false;
		if (length == 2 && memcmp(at, "..", 2) == 0)
			depth--;
		else if (length != 1 || *at != '.')
			depth++;
		at += length;
	}
	memmove(steps->rest, at, strlen(at) + 1);
	return true;
}

bool sb_steps_keep(struct sb_steps *steps, char out[PATH_MAX])
{
	char name[NAME_MAX + 1];
	size_t length = 0;
	bool last;
	int status;

	out[0] = '\0';
	while ((status = sb_steps_next(steps, name, &last)) > 0) {
		size_t size = strlen(name);

		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0 || length + size + 2 > PATH_MAX)
			return false;
		if (length)
			out[length++] = '/';
		memcpy(out + length, name, size + 1);
		length += size;
	}
	return status == 0;
}
