/* test_builtin.c - what every run starts with, and that no project can loosen it. */
#include "tree.h"

#include <errno.h>

#include "base/buf.h"
#include "policy/builtin.h"
#include "policy/secrets.h"
#include "policy/text.h"

/* A home with a project in it, and the place that describes them. */
struct fixture {
	char *root; /* the test's directory */
	char home[PATH_MAX], project[PATH_MAX], config[PATH_MAX], state_dir[PATH_MAX];
	const char *projects[3];
	struct sb_surroundings place;
	struct sb_policy *policy;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	snprintf(fx->home, sizeof fx->home, "%s", in(fx->root, "home"));
	snprintf(fx->project, sizeof fx->project, "%s", in(fx->root, "home/project"));
	snprintf(fx->config, sizeof fx->config, "%s", in(fx->root, "home/.config/sandbash"));
	snprintf(fx->state_dir, sizeof fx->state_dir, "%s",
		 in(fx->root, "home/.local/state/sandbash"));
	make_dir(fx->root, "home");
	make_dir(fx->root, "home/project");
	fx->projects[0] = fx->project;
	fx->place = (struct sb_surroundings){.home = fx->home,
					     .projects = fx->projects,
					     .config_dir = fx->config,
					     .state_dir = fx->state_dir};
	fx->policy = sb_policy_new();
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	sb_policy_free(fx->policy);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

static void add(struct fixture *fx, enum sb_tier tier, const char *access, const char *pattern)
{
	struct sb_rule rule = {.tier = tier, .pattern = pattern, .origin = "test"};
	struct sb_error err = {0};

	assert_int_equal(sb_access_parse(access, strlen(access), &rule.access, NULL), SB_OK);
	if (sb_policy_add(fx->policy, &rule, &err) != SB_OK)
		fail_msg("%s: %s", pattern, err.message);
}

static void seal(struct fixture *fx)
{
	struct sb_error err = {0};

	if (sb_builtin_add(fx->policy, &fx->place, &err) != SB_OK)
		fail_msg("%s", err.message);
	assert_int_equal(sb_policy_seal(fx->policy, &err), SB_OK);
}

static void has(struct fixture *fx, const char *path, const char *expected)
{
	struct sb_access access = sb_decide_all(fx->policy, path);
	SB_AUTO_BUF struct sb_buf got;

	sb_buf_init(&got, 100);
	sb_access_print(&access, &got);
	if (strcmp(got.data, expected) != 0)
		fail_msg("%s: %s, not %s", path, got.data, expected);
}

static void home_has(struct fixture *fx, const char *name, const char *expected)
{
	has(fx, in(fx->home, name), expected);
}

static void project_has(struct fixture *fx, const char *name, const char *expected)
{
	has(fx, in(fx->project, name), expected);
}

static void S1_the_project_is_writable_and_nothing_else(void **state)
{
	struct fixture *fx = *state;

	seal(fx);
	has(fx, fx->project, "write");
	project_has(fx, "src/deep/file.c", "write");
	has(fx, in(fx->root, "home/project-evil/x"), "ask"); /* P9 */
	has(fx, fx->home, "ask");
	home_has(fx, "notes", "ask");
	has(fx, "/etc/passwd", "ask");
	has(fx, "/", "ask");
}

static void P4_credentials_are_unreadable(void **state)
{
	static const char *const secrets[] = {
		".ssh",
		".ssh/id_ed25519",
		".aws/credentials",
		".gnupg/x",
		".netrc",
		".kube/config",
		".docker/config.json",
		".npmrc",
		".pypirc",
		".git-credentials",
		".config/gh",
		".local/share/keyrings/x",
		".mozilla/x",
		".config/google-chrome/x",
	};
	struct fixture *fx = *state;

	seal(fx);
	for (size_t i = 0; i < COUNT(secrets); i++)
		home_has(fx, secrets[i], "deny");
	home_has(fx, ".ssh/known_hosts", "read");
	home_has(fx, ".ssh/config", "read");
	home_has(fx, ".ssh2/id", "ask");
	home_has(fx, ".docker/contexts", "ask");
}

/* A text that fills its place in the row has lost its NUL, and goes on into the next. */
static void every_secret_has_its_end(void **state)
{
	(void)state;
	for (int base = SB_SECRETS_HOME; base <= SB_SECRETS_PATTERNS; base++) {
		size_t count;
		const struct sb_secret *secrets = sb_secrets((enum sb_secret_base)base, &count);

		assert_true(count > 0);
		for (size_t i = 0; i < count; i++) {
			assert_true(memchr(secrets[i].path, '\0', sizeof secrets[i].path));
			assert_true(memchr(secrets[i].reason, '\0', sizeof secrets[i].reason));
			assert_true(memchr(secrets[i].program, '\0', sizeof secrets[i].program));
		}
	}
}

static void P2_run_later_names_ask(void **state)
{
	static const char *const guarded[] = {
		".git/hooks/pre-commit",
		".git/config",
		".envrc",
		".bashrc",
		".vscode/tasks.json",
		".idea/x",
		".mcp.json",
		".zshrc",
		".npmrc",
		".claude/settings.json",
		".git/hooks",
		".cursor/x",
		".local/bin/ls",
	};
	struct fixture *fx = *state;

	make_dir(fx->projects[0], ".git");
	seal(fx);
	for (size_t i = 0; i < COUNT(guarded); i++)
		project_has(fx, guarded[i], "ask");
	project_has(fx, ".git/index", "write"); /* git commit works */
	project_has(fx, ".git/HEAD", "write");
	project_has(fx, ".git/refs/heads/main", "write");
	project_has(fx, ".git/configuration", "write");
	project_has(fx, ".git/info/attributes", "write"); /* chooses among drivers of the config */
}

/* A guard judges at any depth, and lets a checked config through: no rule may stand in its way. */
static void a_guard_takes_over(void **state)
{
	struct fixture *fx = *state;

	fx->place.guarded = true;
	make_dir(fx->projects[0], ".git");
	seal(fx);
	project_has(fx, ".git/config", "write");
	project_has(fx, ".envrc", "write");
}

static void put(const char *root, const char *name, const char *text)
{
	FILE *file = fopen(in(root, name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A path that a row of the credentials means, beneath the home: a "*" as some name. */
static const char *secret_example(enum sb_secret_base base, const char *row)
{
	static char path[PATH_MAX];
	const char *directory = sb_secrets_directory(base);
	size_t end = (size_t)snprintf(path, sizeof path, "%s%s", directory, *directory ? "/" : "");

	for (; *row && end + 1 < sizeof path; row++)
		path[end++] = *row == '*' ? 'x' : *row;
	path[end] = '\0';
	return path;
}

/* Directories on the way, and at the end one more or a file with a password in it. */
static void plant_secret(struct fixture *fx, const char *path, bool file)
{
	char part[PATH_MAX];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
		assert_true(mkdir(in(fx->home, part), 0755) == 0 || errno == EEXIST);
	}
	if (file)
		put(fx->home, path, "password=x\n");
	else
		assert_true(mkdir(in(fx->home, path), 0755) == 0 || errno == EEXIST);
}

static void P4_every_row_is_unreadable_where_it_is_there(void **state)
{
	struct fixture *fx = *state;
	size_t count;

	for (int base = SB_SECRETS_HOME; base <= SB_SECRETS_PATTERNS; base++) {
		const struct sb_secret *rows = sb_secrets((enum sb_secret_base)base, &count);

		for (size_t i = 0; i < count; i++)
			plant_secret(fx, secret_example((enum sb_secret_base)base, rows[i].path),
				     rows[i].flags & SB_SECRET_MIXED);
	}
	make_dir(fx->home, "snap/other");
	seal(fx);
	for (int base = SB_SECRETS_HOME; base <= SB_SECRETS_PATTERNS; base++) {
		const struct sb_secret *rows = sb_secrets((enum sb_secret_base)base, &count);

		for (size_t i = 0; i < count; i++) {
			home_has(fx, secret_example((enum sb_secret_base)base, rows[i].path),
				 rows[i].flags & SB_SECRET_PUBLIC ? "read" : "deny");
			for (size_t other = 0; other < i; other++)
				assert_string_not_equal(rows[i].path, rows[other].path);
		}
	}
	home_has(fx, "snap/other", "ask");
	home_has(fx, ".vscode-server/data", "ask");
	home_has(fx, ".local/state", "ask");
}

/* P3: a linked worktree reaches what git needs of the main repository, and nothing more. */
static void make_linked(struct fixture *fx)
{
	char text[2 * PATH_MAX];

	make_dir(fx->home, "main");
	make_dir(fx->home, "main/.git");
	make_dir(fx->home, "main/.git/objects");
	make_dir(fx->home, "main/.git/refs");
	make_dir(fx->home, "main/.git/hooks");
	make_dir(fx->home, "main/.git/worktrees");
	make_dir(fx->home, "main/.git/worktrees/project");
	put(fx->home, "main/.git/config", "");
	put(fx->home, "main/.git/HEAD", "");
	put(fx->home, "main/.git/worktrees/project/commondir", "../..\n");
	snprintf(text, sizeof text, "%s/.git\n", fx->project);
	put(fx->home, "main/.git/worktrees/project/gitdir", text);
	snprintf(text, sizeof text, "gitdir: %s/main/.git/worktrees/project\n", fx->home);
	put(fx->project, ".git", text);
}

static void P3_a_linked_worktree_reaches_its_data(void **state)
{
	struct fixture *fx = *state;

	make_linked(fx);
	seal(fx);
	home_has(fx, "main/.git/objects/ab/cd", "write");
	home_has(fx, "main/.git/refs/heads/x", "write");
	home_has(fx, "main/.git/packed-refs.lock", "write");
	home_has(fx, "main/.git/worktrees/project/index.lock", "write");
	home_has(fx, "main/.git/worktrees/project/commondir", "ask");
	home_has(fx, "main/.git/worktrees/project/gitdir", "ask");
	home_has(fx, "main/.git/worktrees/project/config.worktree", "ask");
	home_has(fx, "main/.git/worktrees/other/index", "ask");
	home_has(fx, "main/.git/config", "ask");
	home_has(fx, "main/.git/HEAD", "ask");
	home_has(fx, "main/.git/hooks/pre-commit", "ask");
	home_has(fx, "main/file", "ask");
}

static void P3_with_a_guard_its_config_too(void **state)
{
	struct fixture *fx = *state;

	make_linked(fx);
	fx->place.guarded = true;
	seal(fx);
	home_has(fx, "main/.git/config", "write");
	home_has(fx, "main/.git/config.lock", "write");
	home_has(fx, "main/.git/worktrees/other/index", "write");
	home_has(fx, "main/.git/HEAD", "ask");
	home_has(fx, "main/.git/hooks/pre-commit", "ask");
}

/* What the user closed stays closed, however specific the parts are. */
static void P3_a_closed_repository_stays_closed(void **state)
{
	struct fixture *fx = *state;

	make_linked(fx);
	add(fx, SB_TIER_FLAG, "read", in(fx->home, "main"));
	seal(fx);
	home_has(fx, "main/.git/objects/ab/cd", "read");
	home_has(fx, "main/.git/worktrees/project/index", "read");
}

/* Where there is no repository, git init has to be able to make one. */
static void a_repository_can_be_made(void **state)
{
	struct fixture *fx = *state;

	seal(fx);
	project_has(fx, ".git/hooks/pre-commit.sample", "write");
	project_has(fx, ".git/config", "write");
	project_has(fx, ".envrc", "ask");
}

static void P8_a_broader_rule_of_the_user_holds_in_guarded_names(void **state)
{
	struct fixture *fx = *state;

	add(fx, SB_TIER_DIRECTORY, "read", in(fx->project, ".git"));
	add(fx, SB_TIER_GLOBAL, "deny", in(fx->project, "**/*.pem"));
	add(fx, SB_TIER_GLOBAL, "deny", in(fx->project, ".claude"));
	add(fx, SB_TIER_GLOBAL, "deny", in(fx->home, ".config"));
	add(fx, SB_TIER_FLAG, "write", in(fx->project, ".vscode"));
	seal(fx);
	project_has(fx, ".git/hooks/x", "read");
	project_has(fx, ".git/config", "read");
	project_has(fx, ".idea/key.pem", "deny");
	project_has(fx, ".claude/settings.json", "deny");
	home_has(fx, ".config/sandbash/config", "deny");
	project_has(fx, ".vscode/tasks.json", "write"); /* what the user names is the user's */
}

static void S9_own_files_stay_closed_for_changes(void **state)
{
	struct fixture *fx = *state;

	add(fx, SB_TIER_FLAG, "write", fx->home);
	add(fx, SB_TIER_FLAG, "write", fx->config);
	add(fx, SB_TIER_FLAG, "write", in(fx->config, "projects"));
	add(fx, SB_TIER_SYSTEM, "write", in(fx->config, "projects/x"));
	add(fx, SB_TIER_FLAG, "write", "/etc/sandbash/config");
	seal(fx);
	has(fx, in(fx->config, "config"), "read");
	has(fx, in(fx->config, "projects/x"), "read");
	has(fx, in(fx->state_dir, "log"), "deny"); /* command lines hold passwords */
	has(fx, "/etc/sandbash/config", "read");
	home_has(fx, ".config/other", "write");
	home_has(fx, ".config/sandbash-evil", "write");
}

static void S9_even_when_the_project_is_around_or_inside_them(void **state)
{
	struct fixture *fx = *state;

	fx->projects[0] = fx->home;
	fx->projects[1] = fx->config;
	seal(fx);
	home_has(fx, "x", "write");
	has(fx, in(fx->config, "config"), "read");
	has(fx, fx->config, "read");
}

static void the_home_as_a_project_keeps_its_secrets(void **state)
{
	struct fixture *fx = *state;

	fx->projects[0] = fx->home;
	seal(fx);
	home_has(fx, "src/x", "write");
	home_has(fx, ".ssh/id_rsa", "deny");
	home_has(fx, ".ssh/authorized_keys", "deny");
	home_has(fx, ".ssh/config", "read");
	home_has(fx, ".npmrc", "deny"); /* a secret and a guarded name: the stricter counts */
	home_has(fx, ".bashrc", "ask");
}

static void P5_each_project_has_its_own_guards(void **state)
{
	struct fixture *fx = *state;
	char second[PATH_MAX];

	snprintf(second, sizeof second, "%s", in(fx->root, "second"));
	make_dir(fx->root, "second");
	make_dir(second, ".git");
	make_dir(fx->projects[0], ".git");
	fx->projects[1] = second;
	seal(fx);
	has(fx, in(second, "x"), "write");
	has(fx, in(second, ".git/hooks/x"), "ask");
	project_has(fx, ".git/hooks/x", "ask");
	has(fx, in(fx->root, "second-evil"), "ask");
}

/* ---- links in a project ---- */

/* ESCAPES: a repository must not grant itself anything. */
static void a_link_in_the_project_opens_no_secret(void **state)
{
	struct fixture *fx = *state;

	make_dir(fx->home, ".ssh");
	make_file(fx->home, ".ssh/id_rsa");
	make_dir(fx->home, "private");
	make_file(fx->home, "private/letter");
	make_dir(fx->project, "secrets");
	make_file(fx->project, "secrets/key");
	make_dir(fx->project, "vendor");
	make_link(fx->project, ".vscode", "../.ssh/id_rsa");
	make_link(fx->project, ".idea", in(fx->home, "private/letter"));
	make_link(fx->project, ".envrc", "secrets/key");
	make_link(fx->project, ".cursor", "vendor");
	make_link(fx->project, ".mcp.json", "../.config/sandbash/config");
	add(fx, SB_TIER_GLOBAL, "deny", in(fx->home, "private"));
	add(fx, SB_TIER_GLOBAL, "deny", in(fx->project, "secrets"));
	add(fx, SB_TIER_GLOBAL, "read", in(fx->project, "vendor"));
	seal(fx);
	home_has(fx, ".ssh/id_rsa", "deny");
	home_has(fx, "private/letter", "deny");
	project_has(fx, "secrets/key", "deny");
	project_has(fx, "vendor/x", "read");
	home_has(fx, ".config/sandbash/config", "read");
}

static void P3_a_guarded_name_holds_through_links(void **state)
{
	struct fixture *fx = *state;

	make_dir(fx->project, "settings");
	make_dir(fx->project, "real-git");
	make_dir(fx->project, "real-git/hooks");
	make_dir(fx->project, "scripts");
	make_link(fx->project, ".vscode", "settings");
	make_link(fx->project, ".git", "real-git");
	make_link(fx->project, "real-git/config", "../scripts/config");
	seal(fx);
	project_has(fx, "settings/tasks.json", "ask"); /* what it leads to */
	project_has(fx, ".vscode", "ask");             /* and the link itself */
	project_has(fx, "real-git/hooks/x", "ask");
	project_has(fx, "real-git/config", "ask");
	project_has(fx, "scripts/config", "ask");
	project_has(fx, "real-git/HEAD", "write");
	project_has(fx, "scripts/other", "write");
	/* replacing a link in the middle would leave all of the above behind */
	project_has(fx, ".git", "ask");
	project_has(fx, ".git/hooks/x", "ask");
}

static void a_dangling_guarded_link_guards_its_target(void **state)
{
	struct fixture *fx = *state;

	make_link(fx->project, ".vscode", "not/there/yet");
	make_link(fx->project, ".envrc", "/nowhere/x");
	seal(fx);
	project_has(fx, "not/there/yet/tasks.json", "ask");
	project_has(fx, "not/there/other", "write");
	project_has(fx, ".vscode", "ask");
}

static void a_project_full_of_loops_still_starts(void **state)
{
	struct fixture *fx = *state;

	make_link(fx->project, ".vscode", ".vscode");
	make_link(fx->project, ".git", "a");
	make_link(fx->project, "a", ".git");
	make_link(fx->project, ".config", "loop");
	make_link(fx->project, "loop", ".config/fish");
	seal(fx);
	project_has(fx, ".vscode", "ask");
	project_has(fx, ".git", "ask");
	project_has(fx, ".config", "ask");
	project_has(fx, "x", "write");
}

static void secrets_behind_links_are_secrets(void **state)
{
	struct fixture *fx = *state;

	make_dir(fx->home, "dotfiles");
	make_dir(fx->home, "dotfiles/ssh");
	make_dir(fx->home, "dotfiles/config");
	make_link(fx->home, ".ssh", "dotfiles/ssh");
	make_link(fx->home, ".config", "dotfiles/config");
	seal(fx);
	home_has(fx, "dotfiles/ssh/id_rsa", "deny");
	home_has(fx, "dotfiles/ssh/known_hosts", "read");
	home_has(fx, ".ssh", "deny");
	home_has(fx, "dotfiles/config/gh/hosts.yml", "deny");
	home_has(fx, "dotfiles/config/other", "ask");
	home_has(fx, ".config", "ask"); /* other things go through this one */
}

/* ---- the rest ---- */

static void names_of_directories_are_never_patterns(void **state)
{
	static const char *const names[] = {"*", "[ab]", "a\\b", "new\nline", "\xff", "# x", "?"};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(names); i++) {
		char project[PATH_MAX];

		snprintf(project, sizeof project, "%s", in(fx->home, names[i]));
		make_dir(fx->home, names[i]);
		make_dir(project, ".git");
		fx->projects[0] = project;
		sb_policy_free(fx->policy);
		fx->policy = sb_policy_new();
		seal(fx);
		has(fx, in(project, "x"), "write");
		has(fx, in(project, ".git/hooks/x"), "ask");
		home_has(fx, "other/x", "ask");
		home_has(fx, "a/x", "ask");
	}
}

static void P1_read_only_mode_leaves_devices_and_shared_memory(void **state)
{
	struct fixture *fx = *state;

	fx->place.tmpdir = "/var/tmp";
	sb_policy_set(fx->policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	seal(fx);
	has(fx, "/dev/null", "read+modify");
	has(fx, "/dev/tty", "read+modify");
	has(fx, "/dev/shm/x", "write");
	has(fx, "/tmp/x", "read");
	has(fx, "/var/tmp/x", "read");
	project_has(fx, "x", "read");
	project_has(fx, ".git/hooks/x", "read");
	home_has(fx, ".ssh/id", "deny");
	has(fx, "/etc/passwd", "read");
}

static void devices_are_used_not_replaced(void **state)
{
	struct fixture *fx = *state;

	seal(fx);
	has(fx, "/dev/null", "read+modify");
	has(fx, "/dev/pts/3", "read+modify");
	has(fx, "/dev/sda", "ask");
	has(fx, "/dev/nullx", "ask");
}

static void P2_temp_is_writable_unless_switched_off(void **state)
{
	struct fixture *fx = *state;

	fx->place.tmpdir = "/srv/mine";
	seal(fx);
	has(fx, "/tmp/x", "write");
	has(fx, "/var/tmp/x", "write");
	has(fx, "/srv/mine/x", "write");
	has(fx, "/srv/x", "ask");
	sb_policy_free(fx->policy);
	fx->policy = sb_policy_new();
	sb_policy_set(fx->policy, SB_SETTING_TMP, SB_TMP_OFF);
	seal(fx);
	has(fx, "/tmp/x", "ask");
	has(fx, "/var/tmp/x", "ask");
	has(fx, "/srv/mine/x", "ask");
	has(fx, "/dev/shm/x", "write");
}

static void sockets_that_lead_outside_are_closed(void **state)
{
	struct fixture *fx = *state;

	fx->place.runtime_dir = "/run/user/1000";
	seal(fx);
	has(fx, "/run/docker.sock", "deny");
	has(fx, "/run/podman/podman.sock", "deny");
	has(fx, "/run/dbus/system_bus_socket", "deny");
	has(fx, "/run/user/1000/bus", "deny");
	has(fx, "/run/user/1000/gnupg/S.gpg-agent", "deny");
	has(fx, "/run/user/1000/other", "deny");
	has(fx, "/run/user/1001/other", "ask");
}

static void works_without_what_may_be_missing(void **state)
{
	struct fixture *fx = *state;

	fx->place.home = NULL;
	fx->place.config_dir = fx->place.state_dir = NULL;
	seal(fx);
	project_has(fx, "x", "write");
}

static void every_rule_says_why(void **state)
{
	struct fixture *fx = *state;

	seal(fx);
	assert_true(sb_policy_count(fx->policy) > 100);
	for (size_t i = 0; i < sb_policy_count(fx->policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(fx->policy, i);

		assert_int_equal(rule->tier, SB_TIER_BUILTIN);
		assert_memory_equal(rule->origin, "built-in: ", 10);
		assert_true(strlen(rule->origin) > 12);
	}
}

/* In whatever order rules and built-in rules are added. */
static void later_tiers_may_come_first(void **state)
{
	struct fixture *fx = *state;
	struct sb_error err = {0};

	assert_int_equal(sb_builtin_add(fx->policy, &fx->place, &err), SB_OK);
	add(fx, SB_TIER_GLOBAL, "read", in(fx->home, ".ssh"));
	add(fx, SB_TIER_GLOBAL, "write", in(fx->project, ".vscode"));
	assert_int_equal(sb_policy_seal(fx->policy, &err), SB_OK);
	home_has(fx, ".ssh/id_rsa", "read");
	project_has(fx, ".vscode/x", "write");
	sb_policy_free(fx->policy);
	fx->policy = sb_policy_new();
	add(fx, SB_TIER_GLOBAL, "read", in(fx->home, ".ssh"));
	add(fx, SB_TIER_GLOBAL, "write", in(fx->project, ".vscode"));
	seal(fx);
	home_has(fx, ".ssh/id_rsa", "read");
	project_has(fx, ".vscode/x", "write");
}

#define WITH_HOME(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_HOME(S1_the_project_is_writable_and_nothing_else),
	cmocka_unit_test(every_secret_has_its_end),
	WITH_HOME(P4_credentials_are_unreadable),
	WITH_HOME(P4_every_row_is_unreadable_where_it_is_there),
	WITH_HOME(P2_run_later_names_ask),
	WITH_HOME(a_guard_takes_over),
	WITH_HOME(P3_a_linked_worktree_reaches_its_data),
	WITH_HOME(P3_with_a_guard_its_config_too),
	WITH_HOME(P3_a_closed_repository_stays_closed),
	WITH_HOME(a_repository_can_be_made),
	WITH_HOME(P8_a_broader_rule_of_the_user_holds_in_guarded_names),
	WITH_HOME(S9_own_files_stay_closed_for_changes),
	WITH_HOME(S9_even_when_the_project_is_around_or_inside_them),
	WITH_HOME(the_home_as_a_project_keeps_its_secrets),
	WITH_HOME(P5_each_project_has_its_own_guards),
	WITH_HOME(a_link_in_the_project_opens_no_secret),
	WITH_HOME(P3_a_guarded_name_holds_through_links),
	WITH_HOME(a_dangling_guarded_link_guards_its_target),
	WITH_HOME(a_project_full_of_loops_still_starts),
	WITH_HOME(secrets_behind_links_are_secrets),
	WITH_HOME(names_of_directories_are_never_patterns),
	WITH_HOME(P1_read_only_mode_leaves_devices_and_shared_memory),
	WITH_HOME(devices_are_used_not_replaced),
	WITH_HOME(P2_temp_is_writable_unless_switched_off),
	WITH_HOME(sockets_that_lead_outside_are_closed),
	WITH_HOME(works_without_what_may_be_missing),
	WITH_HOME(every_rule_says_why),
	WITH_HOME(later_tiers_may_come_first),
};

UNIT_MAIN("builtin")
