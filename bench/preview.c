/*
 * preview.c - what a preview of a shell command costs.
 *
 *     bench-preview [SAMPLES]
 *
 * Previews a few usual commands and one of 10 MB, in this process.  Prints JSON: for each the median and 95th
 * percentile in microseconds.  A preview stands before every command that is asked about at once, so it has to be small
 * against starting one (milliseconds).  Every answer is checked to have found as many files as there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sandbash/preview.h"

enum { DEFAULT_SAMPLES = 2000, MAX_SAMPLES = 100000, LONG = 10 << 20 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, const char *command, size_t files, size_t samples)
{
	static const char *const variables[] = {"PATH=/usr/bin", "LANG=C.UTF-8", "USER=u", NULL};
	const struct sb_preview_options options = {.size = sizeof options,
						   .directory = "/home/u/project",
						   .home = "/home/u",
						   .environment = variables};
	static double took[MAX_SAMPLES];

	for (size_t i = 0; i < samples; i++) {
		double start = now_us();
		struct sb_preview *preview;

		if (sb_preview(command, strlen(command), &options, &preview, NULL) != SB_OK ||
		    preview->file_count != files) {
			fprintf(stderr, "bench-preview: %s: a wrong answer\n", name);
			exit(1);
		}
		sb_preview_free(preview);
		took[i] = now_us() - start;
	}
	qsort(took, samples, sizeof took[0], compare);
	printf("{\"name\": \"preview-%s\", \"unit\": \"us\", \"samples\": %zu, \"median\": %.2f, \"p95\": %.2f}\n",
	       name, samples, took[samples / 2], took[samples * 95 / 100]);
}

int main(int argc, char **argv)
{
	size_t samples = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_SAMPLES;
	char *text = malloc(LONG + 1);

	if (!text || !samples || samples > MAX_SAMPLES)
		return 2;
	measure("usual", "cd src && grep -rn TODO . | head -20 > ../todo.txt", 2, samples);
	measure("build", "mkdir -p build && cd build && cmake .. && make -j4 2>&1 | tee log.txt", 2,
		samples);
	measure("loop",
		"for f in a b c d; do sed -i \"s/x/$f/\" \"$f.txt\" && cp \"$f.txt\" out/; done",
		12, samples);
	memset(text, 'x', LONG);
	memcpy(text, "echo ", 5);
	text[LONG] = '\0';
	measure("10-mb", text, 0, samples < 20 ? samples : 20);
	free(text);
	return 0;
}
