/*
 * syntax.c - is a script a command line of bash to src/shell?
 *
 *     syntax FILE...
 *
 * A line for each: "ok" or the problem, how many simple commands were read, the name.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "shell/syntax.h"

static void read_file(const char *name)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1 << 28);
	FILE *stream = fopen(name, "rb");
	struct sb_syntax syntax;
	struct sb_arena arena;
	char chunk[65536];
	size_t got;

	if (!stream)
		return;
	while ((got = fread(chunk, 1, sizeof chunk, stream)) > 0)
		sb_buf_append(&text, chunk, got);
	fclose(stream);
	sb_arena_init(&arena, 1 << 28);
	sb_syntax_read(&arena, text.data, text.length, &syntax);
	printf("%s\t%zu\t%s\n", syntax.problem ? syntax.problem : "ok", syntax.simple, name);
	sb_arena_done(&arena);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		read_file(argv[i]);
	return 0;
}
