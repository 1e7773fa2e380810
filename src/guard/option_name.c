#include "guard/option_name.h"

#include <string.h>

#include "base/words.h"

/* Commands of vim's that run a file or the project: from the first letters on that mean them, behind a "+" or "-c". */
static const struct {
	char text[12];
	size_t least;
} commands[] = {{"source", 2},  {"make", 3},    {"lmake", 4},    {"luafile", 4},
		{"pyfile", 3},  {"py3file", 4}, {"pyxfile", 4},  {"rubyfile", 5},
		{"runtime", 2}, {"execute", 3}, {"terminal", 3}, {"perldo", 5}};

static bool is_plain(char c)
{
	return sb_is_letter(c) || sb_is_digit(c) || c == '.' || c == '_' || c == '-' || c == '@' ||
	       (unsigned char)c >= 0x80;
}

static bool is_command(const char *text, size_t length)
{
	size_t word = 0;

	while (word < length && (sb_is_letter(text[word]) || text[word] == '3'))
		word++;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (word >= commands[i].least && word <= strlen(commands[i].text) &&
		    memcmp(text, commands[i].text, word) == 0)
			return true;
	return false;
}

bool sb_is_option_name(const char *name, size_t length)
{
	if (length < 3 || (name[0] != '-' && name[0] != '+'))
		return false;
	for (size_t i = 1; i < length; i++)
		if (!is_plain(name[i]))
			return true; /* a value, or a command */
	if (name[0] == '+')
		return is_command(name + 1, length - 1);
	/* vim -SFILE, ssh and scp -FFILE; -components is a word */
	return name[1] == 'S' || name[1] == 'F' ||
	       (name[1] == 'c' && is_command(name + 2, length - 2));
}
