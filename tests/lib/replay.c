/*
 * replay.c - main() of a fuzz target without libFuzzer: each file is one input.
 *
 *     replay-NAME FILE|DIRECTORY...
 *
 * Link with a target that has LLVMFuzzerTestOneInput().  Prints TAP, one test for each
 * input; an input that crashes ends the program, which the runner counts.  The name is
 * printed before the input runs, so the last line names the culprit.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static void replay_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, room = 0, got;

	if (!stream) {
		printf("not ok %u - %s: %s\n", ++count, path, strerror(errno));
		return;
	}
	do {
		if (size == room) {
			room = room ? 2 * room : 4096;
			data = realloc(data, room);
			if (!data)
				abort();
		}
		got = fread(data + size, 1, room - size, stream);
		size += got;
	} while (got > 0);
	fclose(stream);
	/* A copy of the exact size, so that ASan sees one byte too far. */
	data = realloc(data, size ? size : 1);
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	printf("ok %u - %s\n", ++count, path);
	free(data);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
	struct dirent **names;
	struct stat info;
	int found;

	if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
		replay_file(path);
		return;
	}
	found = scandir(path, &names, is_visible, alphasort);
	if (found <= 0)
		printf("not ok %u - no inputs in %s\n", ++count, path);
	for (int i = 0; i < found; i++) {
		char name[4096];

		snprintf(name, sizeof name, "%s/%s", path, names[i]->d_name);
		replay_file(name);
		free(names[i]);
	}
	if (found >= 0)
		free(names);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("1..%u\n", count);
	return 0;
}
