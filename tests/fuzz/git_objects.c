/*
 * git_objects.c - fuzz target: the input is a pack, the first two bytes say where an object in it begins; and an index of
 * packs, in which a name is looked for; and what zlib has packed.
 *
 * Nothing is unpacked beyond what may be.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/inflate.h"
#include "guard/git_objects.h"

#define MOST 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char id[SB_GIT_MAX_ID] = {0x12, 0x34};
	struct sb_git_object object = {0};
	struct sb_git_pack pack;
	size_t left = MOST, length;
	uint64_t offset;
	char *bytes;
	int fd;

	if (size < 2)
		return 0;
	offset = (uint64_t)data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	bytes = sb_inflate(data, size, MOST, &length);
	CHECK(!bytes || (length <= MOST && bytes[length] == '\0'));
	free(bytes);
	fd = memfd_create("pack", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	pack = (struct sb_git_pack){fd, fd, size > 8 ? data[8] : 0};
	if (sb_git_pack_read(&pack, offset, 20, &left, &object)) {
		CHECK(left + object.length <= MOST && object.bytes[object.length] == '\0');
		free(object.bytes);
	}
	sb_git_pack_find(&pack, id, sizeof id, &offset);
	sb_git_pack_find(&pack, id, 20, &offset);
	close(fd);
	return 0;
}
