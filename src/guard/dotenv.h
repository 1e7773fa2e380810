/*
 * dotenv.h - one line of a .env file: does it do more than give a variable a value?
 */
#ifndef SB_GUARD_DOTENV_H
#define SB_GUARD_DOTENV_H

#include <stddef.h>

enum sb_dotenv {
	SB_DOTENV_PLAIN,
	SB_DOTENV_TOLD, /* plain, but leads programs to another machine or to modules elsewhere */
	SB_DOTENV_RUNS, /* a shell would run something, or the variable makes programs do so */
	SB_DOTENV_OPEN, /* and it may go on in the next line: what that means hangs on this one */
};

/* A line without its newline. */
enum sb_dotenv sb_dotenv_line(const char *line, size_t length);

#endif
