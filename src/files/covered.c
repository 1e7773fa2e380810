#include "files/covered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct sb_said {
	struct sb_said *next;
	char hash[SB_SHA256_HEX]; /* "": bytes that nobody has seen */
	char path[];
};

static void hash_bytes(const char *data, size_t length, char out[SB_SHA256_HEX])
{
	out[0] = '\0';
	if (data)
		sb_sha256_hex(data, length, out);
}

bool sb_covered_has_bytes(const struct sb_covered *covered, const char *path, const char *data,
			  size_t length)
{
	char hash[SB_SHA256_HEX];

	hash_bytes(data, length, hash);
	for (const struct sb_said *said = covered->said; said; said = said->next)
		if (strcmp(said->path, path) == 0 && strcmp(said->hash, hash) == 0)
			return true;
	return false;
}

int sb_covered_add_bytes(struct sb_covered *covered, const char *path, const char *data,
			 size_t length)
{
	struct sb_said *said = malloc(sizeof *said + strlen(path) + 1);

	if (!said)
		return -ENOMEM;
	hash_bytes(data, length, said->hash);
	memcpy(said->path, path, strlen(path) + 1);
	said->next = covered->said;
	covered->said = said;
	return 0;
}

void sb_covered_done(struct sb_covered *covered)
{
	while (covered->said) {
		struct sb_said *next = covered->said->next;

		free(covered->said);
		covered->said = next;
	}
	for (size_t i = 0; i < covered->count; i++)
		free(covered->paths[i]);
	free(covered->paths);
	*covered = (struct sb_covered){0};
}
