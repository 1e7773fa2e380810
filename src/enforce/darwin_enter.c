/*
 * What only macOS has: its sandbox, and its log.  Compiled for it alone (scripts/cross-darwin).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "base/auto.h"
#include "enforce/darwin_run.h"

/* libSystem has them; no header of the SDK does. */
int sandbox_init_with_parameters(const char *profile, uint64_t flags,
				 const char *const parameters[], char **errorbuf);
void sandbox_free_error(char *errorbuf);

/*
 * SECURITY: names are compared as APFS compares them.
 *
 * Danger: HFS+ leaves characters out that show as nothing: ".g\u200cit" is ".git" there, and no regular expression
 * of the profile says so.
 * Price: no project on such a disk.
 * Held by: nothing; it needs a Mac with such a disk (docs/macos.md).
 */
static int refuse_hfs(struct sb_error *err)
{
	struct statfs info;

	if (statfs(".", &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot tell what disk this is");
	if (strcmp(info.f_fstypename, "hfs") != 0)
		return SB_OK;
	sb_fail(err, SB_E_UNSUPPORTED, 0, "guarded names cannot be held on a disk with HFS+");
	return sb_hint(err, "move the project to a disk with APFS");
}

int sb_seatbelt_enter(const struct sb_seatbelt *seatbelt, struct sb_error *err)
{
	SB_AUTO_FREE const char **parameters = calloc(2 * seatbelt->count + 1, sizeof *parameters);
	char *why = NULL;
	int status = refuse_hfs(err);

	if (status != SB_OK)
		return status;
	if (!parameters)
		return sb_no_memory(err);
	for (size_t i = 0; i < seatbelt->count; i++) {
		parameters[2 * i] = seatbelt->parameters[i].name;
		parameters[2 * i + 1] = seatbelt->parameters[i].value;
	}
	if (sandbox_init_with_parameters(seatbelt->text.data, 0, parameters, &why) == 0)
		return SB_OK;
	sb_fail(err, SB_E_UNSUPPORTED, 0, "cannot enter the sandbox: %s",
		why ? why : "no reason given");
	if (why)
		sandbox_free_error(why);
	return sb_hint(err, "nothing was run; inside another sandbox there can be none");
}

void sb_seatbelt_log(time_t since, void (*take)(void *context, const char *line), void *context)
{
	char command[256], line[4096], start[32];
	struct tm local;
	FILE *log;

	if (!localtime_r(&since, &local) ||
	    !strftime(start, sizeof start, "%Y-%m-%d %H:%M:%S", &local))
		return;
	snprintf(command, sizeof command,
		 "exec /usr/bin/log show --style compact --start '%s' --predicate "
		 "'sender == \"Sandbox\"' 2>/dev/null",
		 start);
	log = popen(command, "r");
	while (log && fgets(line, sizeof line, log))
		if (strchr(line, '\n')) /* one that is cut tells half a path */
			take(context, line);
	if (log)
		pclose(log);
}
