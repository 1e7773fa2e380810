/*
 * versions.h - files that say which version of a tool is run (.nvmrc, .tool-versions, rust-toolchain).
 */
#ifndef SB_GUARD_VERSIONS_H
#define SB_GUARD_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Is a line of the file at path nothing but versions, names of tools and comments? */
bool sb_version_line_is_plain(const char *path, const char *line, size_t length);

#endif
