/*
 * shadows.h - modules that tools take from the current directory in place of their own.
 *
 * "python3 -m venv" and "-m pip" have the current directory first on their search path, so ./venv.py and ./json.py
 * run; luacheck and luarocks look for ./lfs.lua.  Who makes an environment there means to run none of the project.
 * They are the project's own code all the same, and land: told at the end of a run, like instructions (guard.h).
 */
#ifndef SB_GUARD_SHADOWS_H
#define SB_GUARD_SHADOWS_H

#include <stddef.h>

/*
 * Is path (absolute) such a module, NAME.py or NAME/__init__.py?  The length of the directory that it would be
 * loaded in, and *out_who loads it; else 0.  Whether tools are started there is the caller's to know.
 */
size_t sb_guard_shadows(const char *path, const char **out_who);

#endif
