#include "cli/learn_never.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/secrets.h"
#include "policy/text.h"
#include "supervise/case.h"

#define CHANGES ((1u << SB_MODIFY) | (1u << SB_CREATE) | (1u << SB_DELETE))

int sb_never_open(const struct sb_setup *setup, const char *learned, struct sb_never *out,
		  struct sb_error *err)
{
	const struct sb_rule everything = {.access = sb_access_write,
					   .tier = SB_TIER_GLOBAL,
					   .pattern = "/",
					   .origin = "--learn"};
	int status;

	*out = (struct sb_never){.setup = setup, .learned = learned, .all = sb_policy_new()};
	if (!out->all)
		return sb_no_memory(err);
	status = sb_policy_add(out->all, &everything, err);
	if (status == SB_OK)
		status = sb_policy_seal(out->all, err);
	if (status == SB_OK)
		status = sb_guard_of(setup, out->all, &out->guard, err);
	if (status == SB_OK)
		sb_grounds_init(&out->grounds, out->all, out->guard);
	return status;
}

void sb_never_done(struct sb_never *never)
{
	sb_guard_free(never->guard);
	sb_policy_free(never->all);
	*never = (struct sb_never){0};
}

static bool say(struct sb_buf *out, const char *first, const char *second)
{
	sb_buf_puts(out, first);
	sb_buf_puts(out, second);
	return true;
}

/* --- places ------------------------------------------------------------------------------- */

/* Of everybody on this machine: what is there is run or obeyed by others.  The first can be read ... */
static const char *const system_places[] = {
	"/bin",    "/boot", "/etc", "/gnu",  "/lib",  "/lib32", "/lib64",
	"/libx32", "/nix",  "/opt", "/sbin", "/snap", "/usr",   "/var",
};

/* ... and these are no files. */
static const char *const kernel_places[] = {"/dev", "/proc", "/run", "/sys"};

/* In the home directory: every program has something of its own there. */
static const char *const common_places[] = {
	".cache",     ".config",      ".local",       ".local/bin",
	".local/lib", ".local/share", ".local/state", "bin",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_in_one(const char *const *places, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (sb_path_within(places[i], path))
			return true;
	return false;
}

static bool is_system_place(const char *home, const char *path, unsigned ops)
{
	if (sb_path_within(home, path) || sb_path_within("/var/tmp", path))
		return false;
	return is_in_one(kernel_places, COUNT(kernel_places), path) ||
	       ((ops & CHANGES) && is_in_one(system_places, COUNT(system_places), path));
}

/* Is it such a place, or around one? */
static bool is_common_place(const struct sb_home *home, const char *path)
{
	const char *const named[] = {home->config_home, home->data_home, home->xdg_config,
				     home->xdg_data,    home->tmpdir,    home->xdg_cache,
				     home->xdg_state,   "/tmp",          "/var/tmp"};

	for (size_t i = 0; i < COUNT(named); i++)
		if (named[i] && sb_path_within(path, named[i]))
			return true;
	for (size_t i = 0; i < COUNT(common_places); i++) {
		SB_AUTO_FREE char *place = sb_path_join(home->home, common_places[i]);

		if (!place || strcmp(place, path) == 0)
			return true;
	}
	return false;
}

/* "/x": too near the root to be about one program's files. */
static bool is_at_top(const char *path)
{
	return !strchr(path + 1, '/');
}

static bool is_in_place(const struct sb_never *never, const char *path, unsigned ops,
			struct sb_buf *out)
{
	const struct sb_setup *setup = never->setup;

	if (sb_path_within(path, setup->home.home))
		return say(out,
			   strcmp(path, setup->home.home) == 0 ? "your home directory itself"
							       : "around your home directory",
			   "");
	if (setup->home.account_home && sb_path_within(path, setup->home.account_home))
		return say(out, "your home directory itself", "");
	if (is_system_place(setup->home.home, path, ops))
		return say(out, "a system directory", "");
	for (size_t i = 0; setup->projects[i]; i++)
		if (sb_path_within(path, setup->projects[i]))
			return say(out, "a project lies in it", "");
	if (sb_path_within(path, setup->home.config_dir) ||
	    sb_path_within(path, setup->home.state_dir))
		return say(out, "sandbash's own files lie in it", "");
	if (is_common_place(&setup->home, path) || is_at_top(path))
		return say(out, "a directory of many programs",
			   sb_path_exists(path) ? "" : ", to be made by hand");
	return false;
}

/* --- credentials -------------------------------------------------------------------------- */

/* Is it one, in one, or around one, as a pattern of the table says? */
static bool meets(const char *pattern_text, const char *path)
{
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};

	if (sb_pattern_parse(pattern_text, &pattern, NULL) != SB_OK)
		return true;
	return sb_pattern_covers(&pattern, path) || sb_pattern_reaches(&pattern, path);
}

static bool is_secret_in(const char *base, enum sb_secret_base which, const char *path,
			 struct sb_buf *out)
{
	size_t count;
	const struct sb_secret *secrets = sb_secrets(which, &count);
	SB_AUTO_FREE char *start = which == SB_SECRETS_PATTERNS ? sb_pattern_escape(base)
								: strdup(base);

	/* nothing of the table is in /x if it is about /y */
	if (!sb_path_within(base, path) && !sb_path_within(path, base))
		return false;
	for (size_t i = 0; i < count; i++) {
		SB_AUTO_FREE char *place = start ? sb_path_join(start, secrets[i].path) : NULL;

		if (!place)
			return say(out, "out of memory", "");
		if (secrets[i].flags & SB_SECRET_PUBLIC)
			continue; /* what is around it is in the table */
		if (which == SB_SECRETS_PATTERNS
			    ? meets(place, path)
			    : sb_path_within(place, path) || sb_path_within(path, place))
			return say(out, "a credential: ", secrets[i].reason);
	}
	return false;
}

static bool is_secret(const struct sb_never *never, const char *path, struct sb_buf *out)
{
	const struct sb_home *home = &never->setup->home;
	const char *const moved[] = {home->config_home, home->data_home};
	static const enum sb_secret_base moved_bases[] = {SB_SECRETS_CONFIG, SB_SECRETS_DATA};

	for (int base = SB_SECRETS_HOME; base <= SB_SECRETS_PATTERNS; base++) {
		const char *directory = sb_secrets_directory((enum sb_secret_base)base);
		SB_AUTO_FREE char *place = directory && *directory
						   ? sb_path_join(home->home, directory)
						   : strdup(home->home);

		if (!place || is_secret_in(place, (enum sb_secret_base)base, path, out))
			return true;
	}
	for (size_t i = 0; i < COUNT(moved); i++)
		if (moved[i] && is_secret_in(moved[i], moved_bases[i], path, out))
			return true;
	return false;
}

/* --- what programs outside obey ------------------------------------------------------------- */

static bool say_row(const struct sb_guard_row *row, struct sb_buf *out)
{
	if (row)
		sb_buf_printf(out, "guarded: %s: %s", row->who, row->why);
	else
		sb_buf_puts(out, "guarded");
	return true;
}

/* Names that only count in the home directory: what a link there leads to is the guard's, the rest is ours. */
static const struct sb_guard_row *find_in_home(const struct sb_never *never, const char *path)
{
	SB_AUTO_FREE char *home = sb_pattern_escape(never->setup->home.home);
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++) {
		SB_AUTO_FREE char *pattern = NULL;

		if (!(rows[i].flags & SB_GUARD_IN_HOME))
			continue;
		pattern = home ? sb_path_join(home, rows[i].pattern) : NULL;
		if (!pattern || meets(pattern, path))
			return &rows[i];
	}
	return NULL;
}

/* In a directory of $PATH, or around one: somebody types the name, and it runs. */
static bool is_on_path(const char *path)
{
	const char *entry = getenv("PATH");

	while (entry && *entry) {
		size_t length = strcspn(entry, ":");
		SB_AUTO_FREE char *text = strndup(entry, length);
		SB_AUTO_FREE char *place = NULL;

		if (!text)
			return true;
		if (text[0] == '/' && sb_path_canonical(text, &place, NULL, NULL) == SB_OK &&
		    (sb_path_within(place, path) || sb_path_within(path, place)))
			return true;
		entry += length + (entry[length] == ':');
	}
	return false;
}

/* Whoever listens there does for others what these may not. */
static bool is_service(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

/* By its name, or by that of something that may be in it. */
static bool is_guarded(const struct sb_never *never, const char *path, unsigned ops,
		       struct sb_buf *out)
{
	const struct sb_guard_row *row = sb_guard_row_in(never->guard, path);
	struct sb_case what = {.deed = SB_DEED_WRITE};
	struct sb_guard_answer answer;
	struct sb_guard_place place;
	struct sb_spot spot;
	bool found = false;

	if (!row)
		row = find_in_home(never, path);
	if (row)
		return say_row(row, out);
	if (is_on_path(path))
		return say(out, "programs on your PATH", "");
	if (is_service(path))
		return say(out, "a service outside", "");
	if (sb_look_at(path, &spot, NULL) != SB_OK) {
		sb_spot_done(&spot);
		return say(out, "it cannot be looked at", "");
	}
	what.site = sb_spot_site(&spot);
	for (int op = 0; op < SB_OP_COUNT && !found; op++) {
		struct sb_judged judged;

		if (!(ops & 1u << op))
			continue;
		sb_judge_op(&never->grounds, (enum sb_op)op, &what, &judged);
		found = judged.decision.verdict != SB_ALLOW ||
			judged.guard.verdict != SB_GUARD_PLAIN;
		if (found)
			say_row(judged.guard.row, out);
	}
	place = (struct sb_guard_place){spot.directory, spot.path, spot.name, 0};
	if (!found &&
	    sb_guard_judge(never->guard, SB_GUARD_SYMLINK, &place, &answer) != SB_GUARD_PLAIN)
		found = say_row(answer.row, out);
	sb_spot_done(&spot);
	return found;
}

/* --- rules -------------------------------------------------------------------------------- */

bool sb_never_is_learned(const struct sb_never *never, const char *origin)
{
	size_t length = never->learned ? strlen(never->learned) : 0;

	return length && strncmp(origin, never->learned, length) == 0 &&
	       strncmp(origin + length, " line ", 6) == 0;
}

/* One of those as we write them: what it does not allow was not needed yet. */
static bool may_be_widened(const struct sb_never *never, const struct sb_rule *rule)
{
	bool plain = !sb_pattern_is_glob(rule->pattern) &&
		     rule->access.verdict[SB_READ] == SB_ALLOW;

	for (int op = 0; op < SB_OP_COUNT; op++)
		plain &= rule->access.verdict[op] != SB_ASK;
	return plain && !rule->access.quiet && sb_never_is_learned(never, rule->origin);
}

/* Does a rule say less about something in it?  A rule for all of it would be another rule for that. */
static bool is_singled_out(const struct sb_never *never, const char *path, unsigned ops,
			   struct sb_buf *out)
{
	const struct sb_policy *policy = never->setup->policy;

	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision beneath;

		if (!(ops & 1u << op))
			continue;
		beneath = sb_decide_moved(policy, (enum sb_op)op, path, NULL);
		if (beneath.verdict != SB_ALLOW &&
		    !(beneath.rule && may_be_widened(never, beneath.rule)))
			return say(out, "another rule is about something in it: ",
				   beneath.rule ? beneath.rule->origin : "");
	}
	return false;
}

/* Does the rule say it of this very path, and not of a directory around it? */
static bool begins_at(const struct sb_rule *rule, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};

	if (!parent || sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return true;
	return !sb_pattern_covers(&pattern, parent);
}

/* A rule that names it was meant: it is for whoever wrote it to change. */
static bool is_named(const struct sb_never *never, const char *path, unsigned ops,
		     struct sb_buf *out)
{
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision decision = sb_decide(never->setup->policy, (enum sb_op)op, path);
		const struct sb_rule *rule = decision.rule;

		if (ops & 1u << op && decision.verdict != SB_ALLOW && rule &&
		    !may_be_widened(never, rule) &&
		    (rule->tier == SB_TIER_BUILTIN || begins_at(rule, path)))
			return say(out, "a rule is about it: ", rule->origin);
	}
	return false;
}

bool sb_never_why(const struct sb_never *never, const char *path, unsigned ops, bool whole,
		  struct sb_buf *out)
{
	out->length = 0;
	if (is_in_place(never, path, ops, out) || is_secret(never, path, out))
		return true;
	if ((ops & CHANGES) && is_guarded(never, path, ops, out))
		return true;
	return is_named(never, path, ops, out) ||
	       ((whole || sb_path_is_directory(path)) && is_singled_out(never, path, ops, out));
}
