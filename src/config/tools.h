/*
 * tools.h - profiles for package managers and builders, chosen by what is in the project.
 *
 *     sb_tools_find() when a profile is chosen -> sb_tool_cache() as one is read
 *                                             -> sb_tools_settle() when all rules are known
 *
 * SECURITY: a project chooses its tools, so what they open is worth nothing outside.
 *
 * Danger: a file that is named package.json would open the caches that programs outside run code
 * from: a package that lies there is unpacked, compiled and run without another look.
 * Price: each project fetches its packages itself.
 * Held by: tests/cli/tool_profiles.py
 *
 * A tool gets one directory of the project's own, which no program outside knows of, by variables.
 */
#ifndef SB_CONFIG_TOOLS_H
#define SB_CONFIG_TOOLS_H

#include <stdbool.h>

#include "sandbash/error.h"

struct sb_maker;
struct sb_setup;
struct sb_rule_source;

/* Those that the projects have files of, beside the one that was chosen. */
int sb_tools_find(struct sb_maker *maker, struct sb_error *err);

/* A line "PATH NAME=VALUE". */
int sb_tool_cache(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		  struct sb_error *err);

/* Which of the variables are set: those whose usual place is closed. */
int sb_tools_settle(struct sb_setup *setup, struct sb_error *err);

#endif
