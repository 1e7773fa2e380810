/*
 * dotenv_names.h - variables that programs obey.
 */
#ifndef SB_GUARD_DOTENV_NAMES_H
#define SB_GUARD_DOTENV_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Does a program that sees it run something else, load it, or take its settings from elsewhere? */
bool sb_dotenv_steers(const char *name, size_t length);

/* A number of bash, ksh or zsh: an assigned value is evaluated, and "ENV=5" in it assigns. */
bool sb_dotenv_is_number(const char *name, size_t length);

/* It runs nothing, but leads people or agents to another machine, or makes them believe one. */
bool sb_dotenv_leads(const char *name, size_t length);

/* Where interpreters look for modules. */
bool sb_dotenv_is_search_path(const char *name, size_t length);

#endif
