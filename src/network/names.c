#include "network/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/hash.h"

#define FIRST 16 /* 198.18.0.1 is the run's own address, the next few are kept */
#define SLOTS (2 * SB_NAMES_MAX)

struct sb_names {
	char *all[SB_NAMES_MAX];
	unsigned count;
	uint16_t slots[SLOTS]; /* by hash: number of a name and 1; 0: free */
};

struct sb_names *sb_names_new(void)
{
	return calloc(1, sizeof(struct sb_names));
}

void sb_names_free(struct sb_names *names)
{
	for (unsigned i = 0; names && i < names->count; i++)
		free(names->all[i]);
	free(names);
}

bool sb_names_address(struct sb_names *names, const char *name, uint8_t out[4])
{
	/* whoever makes names collide makes his own lookups slow, by a few microseconds */
	unsigned slot = sb_fnv(SB_FNV, name, strlen(name)) % SLOTS, number;

	while (names->slots[slot] && strcmp(names->all[names->slots[slot] - 1], name) != 0)
		slot = (slot + 1) % SLOTS;
	if (!names->slots[slot]) {
		char *copy = names->count < SB_NAMES_MAX ? strdup(name) : NULL;

		if (!copy)
			return false;
		names->all[names->count++] = copy;
		names->slots[slot] = (uint16_t)names->count;
	}
	number = names->slots[slot] - 1 + FIRST;
	memcpy(out, (uint8_t[]){198, 18, (uint8_t)(number >> 8), (uint8_t)number}, 4);
	return true;
}

const char *sb_names_of(const struct sb_names *names, const struct sb_address *address)
{
	unsigned number = (unsigned)address->bytes[2] << 8 | address->bytes[3];

	if (address->family != AF_INET || address->bytes[0] != 198 || address->bytes[1] != 18 ||
	    number < FIRST || number - FIRST >= names->count)
		return NULL;
	return names->all[number - FIRST];
}
