/*
 * report.h - the file of --report: chosen before the run, written after it.
 *
 *     find -> the command runs -> write -> done
 *
 * The command may own the directory it lies in.  So where it leads is settled before, links and
 * all; afterwards the directory must still be the same one, reached through no link, and what has
 * the name by then is replaced, not followed.  No descriptor is kept meanwhile, but by who leaves for a view.
 */
#ifndef SB_CLI_REPORT_H
#define SB_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbash/error.h"

struct sb_report_file {
	char *directory; /* canonical; NULL: no report is wanted */
	char *name;
	dev_t device;
	ino_t inode;
	bool is_held; /* where no path leads to the directory any more, */
	int held;     /* this does; O_PATH */
};

/* path: as given, relative to cwd.  SB_E_MISSING: there is no such directory. */
int sb_report_find(const char *path, const char *cwd, const char *home, struct sb_report_file *out,
		   struct sb_error *err);
int sb_report_write(const struct sb_report_file *file, const char *bytes, size_t length,
		    struct sb_error *err);
void sb_report_done(struct sb_report_file *file);

#endif
