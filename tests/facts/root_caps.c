/*
 * Dropping all capabilities is not enough for uid 0: at the next exec root gets them
 * back.  no_new_privs or the locked SECBIT_NOROOT prevent that, each by itself.
 */
#include "fact.h"

#include <linux/capability.h>
#include <linux/securebits.h>

static bool no_new_privs, noroot;

/* Become uid 0 of a user namespace, drop everything, exec; returns 1 if caps came back. */
static int run(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER) < 0 || (errno = map_ids(0, uid, 0, gid)))
		return broken("user namespace");
	if (noroot && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0) < 0)
		return broken("securebits");
	if (no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return broken("no_new_privs");
	if (syscall(SYS_capset, &header, none) < 0)
		return broken("capset");
	execl("/bin/sh", "sh", "-c",
	      "while read name value; do "
	      "[ $name = CapEff: ] && [ $value != 0000000000000000 ] && exit 1; "
	      "done < /proc/self/status; exit 0",
	      (char *)NULL);
	return broken("exec");
}

static int probe_userns(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	return unshare(CLONE_NEWUSER) < 0 ? errno : map_ids(0, uid, 0, gid);
}

int main(void)
{
	int result = attempt(probe_userns);

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		skip_all("no_new_privs is set already");
	if (result)
		skip_all("no user namespace with uid 0 here: %s", strerror(result));
	expect(attempt(run), 1, "uid 0 without capabilities has them again after exec");
	no_new_privs = true;
	expect(attempt(run), 0, "not with no_new_privs");
	no_new_privs = false;
	noroot = true;
	expect(attempt(run), 0, "not with SECBIT_NOROOT");
	return fact_done();
}
