/*
 * foreign.h - paths that are written as on Windows (F5).
 *
 * Here "C:\x" and "..\up.txt" are names like any other, and files may have them.  But whoever sends such a path
 * mostly means something else, and gets a file of that name in the project.  So what is there can be used by
 * any name; what is not there is not made, moved or looked for by one that is unmistakably Windows':
 *
 *     C:\x  C:/x  \\server\share\x  \\?\x  \x  a\b  ..\b     drives, shares, separators
 *     a.txt:s  a.txt::$DATA                                  streams: a name with extension, then a word
 *     CON  NUL  COM1  con:                                   devices: large letters, no extension
 *
 * Not a:b, aux.c, nul, PROGRA~1, "a." or systemd's a\x2db, which are used here.  A "./" says that the name is
 * meant: "./C:\x", "/home/u/project/./a\b".
 */
#ifndef SB_FILES_FOREIGN_H
#define SB_FILES_FOREIGN_H

#include "files/view.h"

/* How much of path, up to the end of the first such name, at or behind from; 0: there is none. */
size_t sb_foreign_name(const char *path, size_t from);

/* 0, or a refusal that says how to write it.  For a path that led to nothing. */
int sb_job_refuse_foreign(struct sb_job *job, const char *path);

#endif
