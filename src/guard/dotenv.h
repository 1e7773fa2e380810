/*
 * dotenv.h - one line of a .env file: does it do more than give a variable a value?
 *
 * Libraries, docker compose and systemd read the file as data, each in its own syntax; shells run
 * it, some whenever a directory is entered (zsh's dotenv plugin, autoenv).
 */
#ifndef SB_GUARD_DOTENV_H
#define SB_GUARD_DOTENV_H

#include <stddef.h>

enum sb_dotenv {
	SB_DOTENV_PLAIN,  /* no reader runs, expands or continues it */
	SB_DOTENV_TOLD,   /* plain, but leads programs to another machine or to modules elsewhere */
	SB_DOTENV_STAYS,  /* more than that, but it ends where it ends and minds no other line */
	SB_DOTENV_REFERS, /* the same, and takes in the value of another */
	SB_DOTENV_HOLDS,  /* the same, and its value holds what runs if taken in like that */
	SB_DOTENV_ODD,    /* anything: it may even go on in the next line */
};

/* A line without its newline. */
enum sb_dotenv sb_dotenv_line(const char *line, size_t length);

#endif
