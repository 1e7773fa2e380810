/*
 * linux_git.c - how git is started: what it is told, what it sees, what it may change.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/confine.h"
#include "enforce/plan.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"
#include "repo/git.h"

#define MAX_MEMORY ((rlim_t)2 << 30) /* a pack that unfolds to more is no project's */
#define MAX_FILE ((rlim_t)4 << 30)
#define MAX_SECONDS 600 /* of computing */
#define MAX_WORDS 1200

/* --- what it is told ------------------------------------------------------------------------------ */

/*
 * SECURITY: whatever a repository's settings name, no program of theirs is run.
 *
 * Danger: updating a ref runs the hook reference-transaction, fetching asks core.sshCommand, a credential
 * helper, a proxy or the helper of a URL's scheme, and all of these a config file can name; so can files that it
 * includes.  What stands on the command line counts more than any file, and GIT_ALLOW_PROTOCOL more than
 * protocol.*.allow (git-config(1), git(1)).
 * Price: user-wide settings (proxies, aliases of URLs, helpers) do not count either.
 * Held by: tests/cli/zone_git.py
 */
static const char *const settings[] = {
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null",
	"core.pager=cat",
	"core.askPass=",
	"core.alternateRefsCommand=true",
	"core.fsync=all", /* what was staged is there after a power cut */
	"credential.helper=",
	"diff.external=",
	"fastimport.unpackLimit=0", /* what was added is one pack: there, or not */
	"fetch.recurseSubmodules=false",
	"fetch.writeCommitGraph=false",
	"gc.auto=0",
	"http.followRedirects=false", /* who is asked is who was named */
	"http.lowSpeedLimit=100",
	"http.lowSpeedTime=60",
	"maintenance.auto=false",
	"push.recurseSubmodules=no",
	"push.gpgSign=false",
	"push.followTags=false",
	"submodule.recurse=false",
	"transfer.bundleURI=false",
	"transfer.credentialsInUrl=die",
	"core.sshCommand=ssh -oBatchMode=yes -oClearAllForwardings=yes",
};

static bool is_online(enum sb_git_use use)
{
	return use == SB_GIT_FETCH || use == SB_GIT_SEND;
}

static bool is_of_objects(enum sb_git_use use)
{
	return use == SB_GIT_LOOK || use == SB_GIT_ADD;
}

static bool is_ssh(const struct sb_git *git, enum sb_git_use use)
{
	return is_online(use) && (strncmp(git->url, "ssh://", 6) == 0 || !strstr(git->url, "://"));
}

/* Nothing of the caller's: what names programs, objects or settings has too many names to be taken out. */
static bool make_environment(const struct sb_git *git, enum sb_git_use use, struct sb_buf *out)
{
	static const char fixed[] = "PATH=/usr/local/bin:/usr/bin:/bin\0"
				    "LC_ALL=C\0"
				    "GIT_CONFIG_NOSYSTEM=1\0"
				    "GIT_CONFIG_SYSTEM=/dev/null\0"
				    "GIT_CONFIG_GLOBAL=/dev/null\0"
				    "GIT_ATTR_NOSYSTEM=1\0"
				    "GIT_TERMINAL_PROMPT=0\0"
				    "GIT_ASKPASS=/bin/false\0"
				    "SSH_ASKPASS=/bin/false\0"
				    "GIT_EDITOR=false\0"
				    "GIT_PAGER=cat\0"
				    "GIT_NO_REPLACE_OBJECTS=1\0"
				    "GIT_NO_LAZY_FETCH=1\0"
				    "GIT_GRAFT_FILE=/dev/null/none\0"
				    "GIT_LITERAL_PATHSPECS=1\0"
				    "GIT_OPTIONAL_LOCKS=0\0"
				    "GIT_TRACE2=0\0";

	sb_buf_append(out, fixed, sizeof fixed - 1);
	sb_buf_printf(out, "HOME=%s%c", git->own, '\0');
	sb_buf_printf(out, "GIT_DIR=%s%c", is_of_objects(use) ? git->own : git->directory, '\0');
	if (is_of_objects(use))
		sb_buf_printf(out, "GIT_OBJECT_DIRECTORY=%s%c", git->objects, '\0');
	if (is_online(use) && git->login) {
		/* up to the path: "https://host/" */
		const char *host = strstr(git->url, "://") + 3;
		int length = (int)(host - git->url + (long)strcspn(host, "/"));

		sb_buf_printf(out, "GIT_CONFIG_COUNT=1%cGIT_CONFIG_KEY_0=http.%.*s/.extraHeader%c",
			      '\0', length, git->url, '\0');
		sb_buf_printf(out, "GIT_CONFIG_VALUE_0=%s%c", git->login, '\0');
	}
	if (is_ssh(git, use) && git->agent)
		sb_buf_printf(out, "SSH_AUTH_SOCK=%s%c", git->agent, '\0');
	/* "none" is the name of no scheme */
	sb_buf_printf(out, "GIT_ALLOW_PROTOCOL=%s%c",
		      is_online(use) ? "https:http:git:ssh" : "none", '\0');
	return !sb_buf_failed(out);
}

/* --- what it may touch ------------------------------------------------------------------------------ */

static int add_rule(struct sb_policy *policy, const struct sb_access *access, const char *path,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);
	const struct sb_rule rule = {.access = *access,
				     .tier = SB_TIER_FLAG,
				     .any_mode = true,
				     .pattern = pattern,
				     .origin = "git for a zone"};

	return pattern ? sb_policy_add(policy, &rule, err) : sb_no_memory(err);
}

/* As policy/builtin.c has it: to use, not to replace. */
static const struct sb_access use_device = {.verdict = {[SB_READ] = SB_ALLOW,
							[SB_MODIFY] = SB_ALLOW,
							[SB_CREATE] = SB_DENY,
							[SB_DELETE] = SB_DENY}};

/* Where people keep what is theirs; of these only what rules open is seen. */
static int hide_people(const struct sb_git *git, enum sb_git_use use, struct sb_policy *policy,
		       struct sb_error *err)
{
	/* names of hosts are looked up by what is in /run */
	const char *const places[] = {git->home, "/home",    "/root",
				      "/srv",    "/mnt",     "/media",
				      "/tmp",    "/var/tmp", is_online(use) ? "/run/user" : "/run"};
	char *hidden[sizeof places / sizeof places[0]];
	size_t count = 0;
	int status = SB_OK;

	for (size_t i = 0; i < sizeof places / sizeof places[0] && status == SB_OK; i++) {
		char *path = realpath(places[i], NULL);
		bool known = !path || strcmp(path, "/") == 0;

		for (size_t j = 0; j < count && !known; j++)
			known = strcmp(hidden[j], path) == 0;
		/* the repository itself may be at such a place, and is named by a rule of its own */
		known |= path && (strcmp(path, git->directory) == 0 || strcmp(path, git->own) == 0);
		if (known) {
			free(path);
			continue;
		}
		hidden[count++] = path;
		status = add_rule(policy, &sb_access_deny, path, err);
	}
	while (count)
		free(hidden[--count]);
	return status;
}

/* A git that its user keeps among his own files, with what belongs to it. */
static int show_program(const struct sb_git *git, struct sb_policy *policy, struct sb_error *err)
{
	SB_AUTO_FREE char *file = realpath(git->program, NULL);
	SB_AUTO_FREE char *bin = file ? sb_path_parent(file) : NULL;

	if (!bin || sb_path_within("/usr", bin) || sb_path_within("/bin", bin))
		return SB_OK;
	return add_rule(policy, &sb_access_read, bin, err);
}

/* Its own settings and keys, and who holds those. */
static int show_ssh(const struct sb_git *git, struct sb_policy *policy, struct sb_error *err)
{
	SB_AUTO_FREE char *joined = sb_path_join(git->home, ".ssh");
	SB_AUTO_FREE char *keys = joined ? realpath(joined, NULL) : NULL;
	SB_AUTO_FREE char *agent = git->agent ? realpath(git->agent, NULL) : NULL;
	int status = keys ? add_rule(policy, &sb_access_read, keys, err) : SB_OK;

	if (status == SB_OK && agent)
		status = add_rule(policy, &sb_access_write, agent, err);
	return status;
}

static int make_policy(const struct sb_git *git, enum sb_git_use use, struct sb_policy *policy,
		       struct sb_error *err)
{
	bool sets = use == SB_GIT_SET_REFS || use == SB_GIT_FETCH;
	int status = hide_people(git, use, policy, err);

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	sb_policy_set(policy, SB_SETTING_TMP, SB_TMP_OFF);
	sb_policy_set(policy, SB_SETTING_NETWORK, is_online(use) ? SB_NETWORK_ON : SB_NETWORK_OFF);
	if (status == SB_OK)
		status = show_program(git, policy, err);
	if (status == SB_OK && is_ssh(git, use))
		status = show_ssh(git, policy, err);
	if (status == SB_OK)
		status = add_rule(policy, &use_device, "/dev/null", err);
	if (status == SB_OK)
		status = add_rule(policy, &use_device, "/dev/urandom", err);
	if (status == SB_OK)
		status = add_rule(policy, use == SB_GIT_ADD ? &sb_access_write : &sb_access_read,
				  git->own, err);
	if (status == SB_OK)
		status = add_rule(policy, sets ? &sb_access_write : &sb_access_read, git->directory,
				  err);
	if (status == SB_OK && use == SB_GIT_ADD)
		status = add_rule(policy, &sb_access_write, git->objects, err);
	return status == SB_OK ? sb_policy_seal(policy, err) : status;
}

/* --- starting it ---------------------------------------------------------------------------------- */

struct start {
	const struct sb_git *git;
	const struct sb_plan *plan;
	const struct sb_policy *policy;
	char **words, **environment;
	int in, out, errors;
};

static void limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_max > most) {
		limit.rlim_cur = limit.rlim_max = most;
		setrlimit(resource, &limit);
	}
}

_Noreturn static void become_git(const struct start *start)
{
	const struct sb_confine_options options = {.best_effort = start->git->best_effort,
						   .policy = start->policy};
	static struct sb_weaknesses weak; /* large, and nothing else runs here */
	struct sb_layers layers;
	struct sb_error err;
	sigset_t none;

	if (dup2(start->in, 0) < 0 || dup2(start->out, 1) < 0 || dup2(start->errors, 2) < 0 ||
	    chdir(start->git->own) != 0)
		_exit(SB_GIT_NOT_STARTED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (sb_confine(start->plan, &options, &layers, &weak, &err) != SB_OK) {
		dprintf(2, "%s\n", err.message);
		for (size_t i = 0; i < weak.open; i++)
			dprintf(2, "%s\n", weak.text[i]);
		_exit(SB_GIT_NOT_STARTED);
	}
	limit(RLIMIT_DATA, MAX_MEMORY);
	limit(RLIMIT_FSIZE, MAX_FILE);
	limit(RLIMIT_CPU, MAX_SECONDS);
	limit(RLIMIT_CORE, 0);
	execve(start->git->program, start->words, start->environment);
	dprintf(2, "cannot run '%s': %s\n", start->git->program, strerror(errno));
	_exit(SB_GIT_NOT_STARTED);
}

static int fork_git(struct start *start, struct sb_git_child *out, struct sb_error *err)
{
	int in[2], results[2];
	SB_AUTO_FD int errors = memfd_create("git", MFD_CLOEXEC);

	if (errors < 0 || pipe2(in, O_CLOEXEC) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start git");
	if (pipe2(results, O_CLOEXEC) != 0) {
		close(in[0]);
		close(in[1]);
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start git");
	}
	start->in = in[0];
	start->out = results[1];
	start->errors = errors;
	out->process = fork();
	if (out->process == 0)
		become_git(start);
	close(in[0]);
	close(results[1]);
	out->in = in[1];
	out->out = results[0];
	out->errors = sb_take_fd(&errors);
	out->at = out->end = 0;
	if (out->process > 0)
		return SB_OK;
	close(out->in);
	close(out->out);
	close(out->errors);
	return sb_fail(err, SB_E_SYSTEM, errno, "cannot start git");
}

/* Strings one behind the other, as execve(2) wants them. */
static bool split(struct sb_buf *text, char **out, size_t most)
{
	size_t count = 0;

	for (size_t at = 0; at < text->length; at += strlen(text->data + at) + 1) {
		if (count + 1 >= most)
			return false;
		out[count++] = text->data + at;
	}
	out[count] = NULL;
	return true;
}

static int make_words(const struct sb_git *git, const char *const *args, char **out,
		      struct sb_error *err)
{
	size_t count = 0;

	out[count++] = git->program;
	out[count++] = (char *)"--no-pager";
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		out[count++] = (char *)"-c";
		out[count++] = (char *)settings[i];
	}
	for (; *args && count < MAX_WORDS - 1; args++)
		out[count++] = (char *)*args;
	out[count] = NULL;
	return *args ? sb_fail(err, SB_E_INVALID, 0, "too many paths at once") : SB_OK;
}

int sb_git_start(const struct sb_git *git, enum sb_git_use use, const char *const *args,
		 struct sb_git_child *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf environment = SB_BUF(32 * 1024);
	char *words[MAX_WORDS], *variables[64];
	struct sb_policy *policy = sb_policy_new();
	struct sb_plan plan = {0};
	struct start start = {.git = git,
			      .plan = &plan,
			      .policy = policy,
			      .words = words,
			      .environment = variables};
	const struct sb_plan_request place = {.cwd = git->own,
					      .command = git->program,
					      .projects = (const char *const[]){git->own, NULL}};
	int status;

	if (!policy || !make_environment(git, use, &environment) ||
	    !split(&environment, variables, sizeof variables / sizeof variables[0])) {
		sb_policy_free(policy);
		return sb_no_memory(err);
	}
	status = make_words(git, args, words, err);
	if (status == SB_OK)
		status = make_policy(git, use, policy, err);
	if (status == SB_OK)
		status = sb_plan_make(policy, &place, &plan, err);
	if (status == SB_OK)
		status = fork_git(&start, out, err);
	sb_plan_done(&plan);
	sb_policy_free(policy);
	return status;
}
