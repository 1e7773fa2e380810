/*
 * A profile from its beginning to its end: what every program needs, the policy, the guard's names.
 *
 * Beside files and the network a policy restricts nothing by itself.  What is not listed here is refused
 * all the same where somebody outside would act for the run: services (mach-lookup) that start programs, show windows
 * or keep passwords; other processes; devices.
 */
#include "enforce/darwin_profile.h"

#include <string.h>

#include "enforce/darwin_impl.h"

#define TEXT_LIMIT (4 * 1024 * 1024)

/* Services of the system that programs look things up in; none does anything for whoever asks. */
static const char *const services[] = {
	"com.apple.system.opendirectoryd.libinfo",    /* users and groups */
	"com.apple.system.opendirectoryd.membership", /* the same */
	"com.apple.system.notification_center",       /* notify(3): time zone, network */
	"com.apple.system.logger",                    /* syslog(3) */
	"com.apple.logd",                             /* os_log(3) */
	"com.apple.diagnosticd",                      /* the same */
	"com.apple.bsd.dirhelper",                    /* confstr(3): where $TMPDIR is */
	"com.apple.cfprefsd.daemon",                  /* preferences, which files are read for */
	"com.apple.cfprefsd.agent",                   /* the same */
	"com.apple.CoreServices.coreservicesd",       /* kinds of files */
	"com.apple.FSEvents",                         /* which files have changed */
	"com.apple.SystemConfiguration.configd",      /* names of this machine, proxies */
	"com.apple.SystemConfiguration.DNSConfiguration",
	"com.apple.trustd",       /* is a certificate good? */
	"com.apple.trustd.agent", /* the same */
};

/* What changes through it is nobody's file. */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper",
				      "/dev/ptmx"};

static void put_start(struct sb_seatbelt *seatbelt, const struct sb_seatbelt_options *options)
{
	struct sb_buf *text = &seatbelt->text;

	sb_buf_puts(text, "(version 1)\n"
			  "(deny default)\n"
			  "; operations that not every version knows\n"
			  "(if (not (defined? 'file-link)) (define file-link file-write-data))\n"
			  "(if (not (defined? 'file-write-acl)) (define file-write-acl "
			  "file-write-mode))\n"
			  "\n; processes: those of the run\n"
			  "(allow process-fork)\n"
			  "(allow signal process-info* (target same-sandbox))\n"
			  "(if (defined? 'mach-task-name) (allow mach-task-name (target "
			  "same-sandbox)))\n"
			  "(if (defined? 'system-socket) (allow system-socket))\n"
			  "(allow sysctl-read pseudo-tty)\n"
			  "(allow ipc-posix-sem ipc-posix-shm*)\n"
			  "(allow mach-lookup");
	for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
		sb_buf_printf(text, "\n  (global-name \"%s\")", services[i]);
	sb_buf_puts(text, ")\n\n; devices, and terminals of the run\n"
			  "(allow file-write-data file-ioctl");
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
		sb_buf_printf(text, "\n  (literal \"%s\")", devices[i]);
	if (options->terminal) {
		sb_buf_puts(text, "\n  ");
		sb_seatbelt_path(seatbelt, "literal", options->terminal);
	}
	sb_buf_puts(text, "\n  (require-all (regex \"^/dev/ttys[0-9]+$\") (extension "
			  "\"com.apple.sandbox.pty\")))\n");
}

static void put_network(struct sb_seatbelt *seatbelt, const struct sb_policy *policy)
{
	sb_buf_printf(&seatbelt->text, "\n; network %s; sockets with a path are files\n",
		      sb_policy_network(policy) ? "on" : "off");
	if (sb_policy_network(policy))
		sb_buf_puts(
			&seatbelt->text,
			"(allow network-outbound (remote ip))\n"
			"(allow network-inbound network-bind (local ip))\n"
			"(allow mach-lookup (global-name \"com.apple.dnssd.service\"))\n"
			"(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
}

/* What others have put into temporary directories is theirs. */
static void put_others(struct sb_seatbelt *seatbelt, const char *const *others)
{
	if (!others || !*others)
		return;
	sb_buf_puts(&seatbelt->text, "\n; temporary files of others\n(deny");
	sb_seatbelt_operations(seatbelt, 1u << SB_MODIFY | 1u << SB_CREATE | 1u << SB_DELETE);
	for (; *others; others++) {
		sb_buf_puts(&seatbelt->text, "\n  ");
		sb_seatbelt_path(seatbelt, "subpath", *others);
	}
	sb_buf_puts(&seatbelt->text, ")\n");
}

int sb_seatbelt_make(const struct sb_seatbelt_options *options, struct sb_seatbelt *out,
		     struct sb_error *err)
{
	int status;

	*out = (struct sb_seatbelt){.text = SB_BUF(TEXT_LIMIT)};
	if (sb_policy_mode(options->policy) == SB_MODE_DANGER_FULL_ACCESS) {
		sb_buf_puts(&out->text, "(version 1)\n(allow default)\n");
		return SB_OK;
	}
	if (sb_policy_protect_ignored(options->policy)) {
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"a profile cannot protect what git ignores: it knows names alone");
		return sb_hint(err, "name such files in rules: read build/cache.db");
	}
	put_start(out, options);
	put_network(out, options->policy);
	sb_buf_puts(&out->text, "\n; files: rules of the policy, the most specific last\n(allow");
	sb_seatbelt_operations(out, 1u << SB_READ);
	sb_buf_puts(&out->text, ")\n");
	status = sb_seatbelt_rules(out, options->policy, err);
	if (status == SB_OK)
		put_others(out, options->others);
	if (status == SB_OK)
		status = sb_seatbelt_guard(out, options->policy, err);
	if (status == SB_OK && sb_buf_failed(&out->text))
		status = sb_fail(err, SB_E_NOMEM, 0, "out of memory, or the profile is too long");
	if (status != SB_OK)
		sb_seatbelt_done(out);
	return status;
}
