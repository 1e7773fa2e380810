/*
 * viewed.c - links in a worker's directory, where they are followed: outside.
 *
 * SECURITY: what a link in a worker's directory leads to is judged for where that lies outside.
 *
 * Danger: ../../.config/autostart is nowhere in the worker's world, and so is /home/you/.ssh; whoever follows the
 * link outside gets there.  That tree is out of sight here.  And /tmp, /dev/shm and the terminals are other ones there,
 * which everybody writes in: a link of the worker's own in them is no part of the way.  So a relative link stays in its
 * directory; an absolute one leads to a part of the system that is there, which both have, through nothing else, or to
 * names that nobody has outside.
 * Price: other links ask.
 * Held by: tests/cli/worker_links.py, tests/mcp/worker.py
 */
#include <string.h>

#include "base/auto.h"
#include "judge/judge_impl.h"
#include "path/path.h"

/* What a worker sees of the machine, and what is the same outside: enforce/view.h. */
static const char *const shared[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libo32",
	/* */
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/crypto-policies", "/etc/localtime",
	"/etc/os-release", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts",
	"/etc/resolv.conf", "/etc/gai.conf", "/etc/services",
	/* */
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/proc"};

/* Where links are the machine's as well; what is in these is none of its own. */
static const char *const machines[] = {"/etc", "/dev"};
static const char *const own[] = {"/dev/shm", "/dev/pts", "/dev/mqueue"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_in(const char *const *all, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (sb_path_within(all[i], path))
			return true;
	return false;
}

static bool is_shared(const char *path)
{
	return is_in(shared, COUNT(shared), path);
}

struct way {
	bool changes; /* a link on it is somebody's here and nobody's outside, or another one's */
};

static int heed_way(void *context, const char *link, struct sb_error *err)
{
	struct way *way = context;

	(void)err;
	if (sb_path_within("/proc", link))
		return SB_E_REFUSED; /* who judges links to there looks at the rest */
	way->changes = !is_shared(link) &&
		       (!is_in(machines, COUNT(machines), link) || is_in(own, COUNT(own), link));
	return way->changes ? SB_E_REFUSED : SB_OK;
}

/* Where site lies, by the name that its path begins with; NULL: in none, or no memory. */
static char *zone_of(const struct sb_grounds *grounds, const struct sb_site *site)
{
	const char *path = site->path;

	if (!grounds->zones)
		return strndup(path, 1 + strcspn(path + 1, "/"));
	return site->bound && site->bound->pattern[1] && sb_path_within(site->bound->pattern, path)
		       ? strdup(site->bound->pattern)
		       : NULL;
}

/* "/NAME": one of the worker's directories, by the name that it knows? */
static bool is_zone(const struct sb_grounds *grounds, const char *top)
{
	struct sb_decision decision;

	if (!grounds->zones) {
		decision = sb_decide(grounds->policy, SB_CREATE, top);
		return decision.rule && decision.rule->tier == SB_TIER_DIRECTORY &&
		       decision.rule->pattern[1];
	}
	for (size_t i = 0; grounds->zones[i]; i++)
		if (grounds->zones[i][1] && strcmp(grounds->zones[i], top) == 0)
			return true;
	return false;
}

/* The first name of an absolute path. */
static char *top_of(const char *text)
{
	do
		text += strspn(text, "/");
	while (*text == '.' && (text[1] == '/' || !text[1]) && *++text);
	return *text ? strndup(text - 1, 1 + strcspn(text, "/")) : strdup("/");
}

bool sb_leads_out_of_view(const struct sb_grounds *grounds, const struct sb_link *link,
			  const char *real, int missing)
{
	SB_AUTO_FREE char *top = NULL, *rest = NULL;
	struct way way = {false};

	if (link->text[0] != '/') {
		top = zone_of(grounds, link->site);
		if (!top || !sb_path_within(top, link->parent))
			return true;
		rest = sb_path_join(link->parent + strlen(top), link->text);
		return !rest || (real ? !sb_path_stays_beneath(top, rest)
				      : sb_link_climbs(link->text, link->parent + strlen(top)));
	}
	top = top_of(link->text);
	if (!top)
		return true;
	if (is_zone(grounds, top))
		return grounds->zones ? sb_path_exists(top) : grounds->shadowed;
	if (!real || missing || !is_shared(real) || !strchr(real + 1, '/'))
		return true; /* through /home and its like others may lead */
	sb_path_links(link->text, heed_way, &way, NULL);
	return way.changes;
}
