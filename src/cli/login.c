/*
 * login.c - a program whose own login is hidden in its run is told of, with the way to show it.
 *
 * The kernel refuses such a read, and nobody sees it: so it is said at the start.
 */
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "path/path.h"
#include "path/pattern.h"

struct telling {
	const struct sb_policy *policy;
	struct sb_buf *out;
};

static int put_option(void *context, const struct sb_secret *secret, const char *path,
		      struct sb_error *err)
{
	const struct telling *telling = context;
	SB_AUTO_FREE char *canonical = NULL, *pattern = NULL;
	SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* a path, each byte with a backslash */

	(void)secret;
	(void)err;
	if (sb_path_canonical(path, &canonical, NULL, NULL) != SB_OK ||
	    sb_decide(telling->policy, SB_READ, canonical).verdict == SB_ALLOW)
		return SB_OK;
	pattern = sb_pattern_escape(canonical);
	if (!pattern)
		return SB_OK;
	sb_buf_printf(&word, "--allow-read=%s", pattern);
	sb_buf_putc(telling->out, ' ');
	sb_shell_quote(telling->out, word.data);
	return SB_OK;
}

void sb_login_tell(const struct sb_setup *setup, const char *program)
{
	SB_AUTO_BUF struct sb_buf options = SB_BUF(64 * 1024); /* a few paths */
	struct telling telling = {setup->policy, &options};

	program = sb_path_name(program);
	sb_login_paths(&setup->home, program, put_option, &telling, NULL);
	if (options.length && !options.failed)
		sb_warn("the login of '%s' is hidden in this run; to let it be read: sandbash%s ...",
			program, options.data);
}
