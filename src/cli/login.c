/*
 * login.c - a program whose own login is hidden in its run is told of, with the way to show it.
 *
 * The kernel refuses such a read, and nobody sees it: so it is said at the start.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/secrets.h"

/* Where the table's base is: in the home directory, or where a variable puts it. */
static char *base_path(const struct sb_home *home, enum sb_secret_base base)
{
	if (base == SB_SECRETS_CONFIG && home->config_home)
		return strdup(home->config_home);
	if (base == SB_SECRETS_DATA && home->data_home)
		return strdup(home->data_home);
	return base == SB_SECRETS_HOME ? strdup(home->home)
				       : sb_path_join(home->home, sb_secrets_directory(base));
}

static void put_option(const struct sb_policy *policy, const char *path, struct sb_buf *out)
{
	SB_AUTO_FREE char *canonical = NULL, *pattern = NULL;
	SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* a path, each byte with a backslash */
	struct stat info;

	if (stat(path, &info) != 0 || sb_path_canonical(path, &canonical, NULL, NULL) != SB_OK ||
	    sb_decide(policy, SB_READ, canonical).verdict == SB_ALLOW)
		return;
	pattern = sb_pattern_escape(canonical);
	if (!pattern)
		return;
	sb_buf_printf(&word, "--allow-read=%s", pattern);
	sb_buf_putc(out, ' ');
	sb_shell_quote(out, word.data);
}

void sb_login_tell(const struct sb_setup *setup, const char *program)
{
	static const enum sb_secret_base bases[] = {SB_SECRETS_HOME, SB_SECRETS_CONFIG,
						    SB_SECRETS_DATA};
	const char *slash = strrchr(program, '/');
	SB_AUTO_BUF struct sb_buf options = SB_BUF(64 * 1024); /* a few paths */

	program = slash ? slash + 1 : program;
	for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
		size_t count;
		const struct sb_secret *secrets = sb_secrets(bases[b], &count);
		SB_AUTO_FREE char *base = NULL;

		for (size_t i = 0; i < count; i++) {
			SB_AUTO_FREE char *path = NULL;

			if (!*secrets[i].program || strcmp(secrets[i].program, program) != 0)
				continue;
			if (!base)
				base = base_path(&setup->home, bases[b]);
			path = base ? sb_path_join(base, secrets[i].path) : NULL;
			if (path)
				put_option(setup->policy, path, &options);
		}
	}
	if (options.length && !options.failed)
		sb_warn("the login of '%s' is hidden in this run; to let it be read: sandbash%s ...",
			program, options.data);
}
