/*
 * test_zones.c - project and worker files, what a worker gets, and what its child may have.  Examples and names of
 * sections are those of the design that zones come from.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/access.h"
#include "zones/rules.h"
#include "zones/zones.h"

static char top[64]; /* a project, canonical */

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", top, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/sandbash-zones-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	return system(command);
}

static const char project_example[] = "sandbox:\n"
				      "  mode: sandboxed          # or 'direct'\n"
				      "  root: .sandbox           # relative to project root\n"
				      "  zones:\n"
				      "    cache:\n"
				      "      path: ./cache\n"
				      "      mode: rw\n"
				      "    workspace:\n"
				      "      path: ./workspace\n"
				      "      mode: rw\n"
				      "    data:\n"
				      "      path: ./data\n"
				      "      mode: ro             # read-only\n";

static void expect_zone(const struct sb_zones *zones, const char *name, const char *below,
			enum sb_zone_mode mode)
{
	const struct sb_zone *zone = sb_zones_find(zones, name);
	char path[256];

	assert_non_null(zone);
	snprintf(path, sizeof path, "%s/%s", top, below);
	assert_string_equal(zone->path, path);
	assert_int_equal(zone->mode, mode);
}

static void project_configuration(void **state)
{
	struct sb_project project;
	struct sb_error err;

	(void)state;
	put_file("golem-forge.config.yaml", project_example);
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_int_equal(project.zones.count, 3);
	expect_zone(&project.zones, "cache", ".sandbox/cache", SB_ZONE_RW);
	expect_zone(&project.zones, "workspace", ".sandbox/workspace", SB_ZONE_RW);
	expect_zone(&project.zones, "data", ".sandbox/data", SB_ZONE_RO);
	sb_project_done(&project);
}

static void default_zones(void **state)
{
	struct sb_project project;
	struct sb_error err;

	(void)state;
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_null(project.file);
	assert_int_equal(project.zones.count, 2);
	expect_zone(&project.zones, "cache", ".sandbox/cache", SB_ZONE_RW);
	expect_zone(&project.zones, "workspace", ".sandbox/workspace", SB_ZONE_RW);
	sb_project_done(&project);
}

static void backend_modes(void **state)
{
	struct sb_project project;
	struct sb_error err;

	(void)state;
	put_file("sandbash.yaml",
		 "sandbox: {mode: direct, zones: {cache: {path: ./downloads, mode: rw}, "
		 "reports: {}}}\n");
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	expect_zone(&project.zones, "cache", "downloads", SB_ZONE_RW);
	expect_zone(&project.zones, "reports", "reports", SB_ZONE_RO); /* the default */
	sb_project_done(&project);
	put_file("sandbash.yaml", "sandbox:\n  mode: 'sandboxed'\n  root: 'box'\n");
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_int_equal(project.zones.count, 2);
	expect_zone(&project.zones, "cache", "box/cache", SB_ZONE_RW);
	sb_project_done(&project);
	put_file("sandbash.yaml", "sandbox: {zones: {}}\n");
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_int_equal(project.zones.count, 0);
	sb_project_done(&project);
}

static void expect_refused(const char *text, const char *says)
{
	struct sb_project project;
	struct sb_error err = {0};

	put_file("sandbash.yaml", text);
	assert_int_not_equal(sb_project_load(top, &project, &err), SB_OK);
	if (!strstr(err.message, says))
		fail_msg("'%s': '%s', not '%s'", text, err.message, says);
}

#define ZONES "sandbox:\n  zones:\n"

static void project_mistakes(void **state)
{
	char link[256];

	(void)state;
	expect_refused("sandbox:\n  mod: direct\n",
		       "sandbash.yaml:2:3: expected one of mode, root, zones; "
		       "found 'mod'");
	expect_refused("sandbox:\n  mode: fast\n",
		       "sandbash.yaml:2:9: expected one of 'sandboxed', "
		       "'direct'; found 'fast'");
	expect_refused("sandbox: yes\n", ":1:10: expected a map behind 'sandbox', found a word");
	expect_refused("other: 1\n", ":1:1: expected one of sandbox; found 'other'");
	expect_refused("sandbox:\n  zones:\n    - data\n",
		       ":3:5: expected a map behind 'zones', found a list");
	expect_refused(ZONES "    a: {path: ../x}\n", ":3:15: expected a directory in '");
	expect_refused(ZONES "    a: {path: ../../x}\n", ":3:15: expected a directory in '");
	expect_refused(ZONES "    a: {path: /etc}\n", ":3:15: expected a path relative to '");
	expect_refused(ZONES "    a: {path: ~/x}\n", ":3:15: expected a path relative to '");
	expect_refused("sandbox:\n  root: ..\n", ":2:9: expected a directory in '");
	expect_refused(ZONES "    usr: {}\n",
		       ":3:5: expected a name that is no system directory's; found 'usr'");
	expect_refused(ZONES "    lib64: {}\n", "found 'lib64'");
	expect_refused(ZONES "    a/b: {}\n", ":3:5: expected a name of letters, digits");
	expect_refused(ZONES "    .git: {}\n", "a letter or digit first; found '.git'");
	expect_refused(ZONES "    a: {path: x}\n    b: {path: x/y}\n",
		       ":4:15: expected a directory apart from that of 'a' in line 3");
	expect_refused(ZONES "    a: {path: x/y}\n    b: {path: .}\n", "apart from that of 'a'");
	expect_refused(ZONES "    a: {mode: rx}\n", "expected one of 'ro', 'rw'; found 'rx'");
	expect_refused(ZONES "    a: {}\n    a: {}\n", ":4:5: expected each key once");
	expect_refused("sandbox:\n  mode: direct\n  zones: {a: {path: sandbash.yaml}}\n",
		       "expected a directory, found a file");
	snprintf(link, sizeof link, "%s/out", top);
	assert_int_equal(symlink("/etc", link), 0);
	expect_refused("sandbox:\n  mode: direct\n  zones: {a: {path: out}}\n", ", found '/etc'");
	put_file("golem-forge.config.yaml", "");
	expect_refused("", "which counts?");
}

/* The worker of this text, read from a file. */
static struct sb_worker worker_of(const char *name, const char *text)
{
	struct sb_worker worker;
	struct sb_error err = {0};
	char path[256];

	put_file(name, text);
	snprintf(path, sizeof path, "%s/%s", top, name);
	if (sb_worker_load(path, &worker, &err) != SB_OK)
		fail_msg("%s", err.message);
	return worker;
}

static void worker_declaration(void **state)
{
	struct sb_worker worker = worker_of(
		"formatter.worker", "# formatter.worker\n"
				    "\n"
				    "---\n"
				    "name: formatter\n"
				    "description: Formats data files\n"
				    "sandbox:\n"
				    "  zones:\n"
				    "    - name: data\n"
				    "      mode: rw             # requests read-write access\n"
				    "---\n"
				    "You format files.\n");
	const struct sb_zone *zone = sb_zones_find(&worker.declared, "data");

	(void)state;
	assert_string_equal(worker.name, "formatter");
	assert_string_equal(worker.description, "Formats data files");
	assert_string_equal(worker.text, "You format files.\n");
	assert_non_null(zone);
	assert_int_equal(zone->mode, SB_ZONE_RW);
	assert_int_equal(zone->write, SB_APPROVAL_ASK);
	assert_int_equal(worker.isolation, SB_ISOLATION_CONTAINER);
	assert_false(worker.network);
	assert_null(worker.commands);
	sb_worker_done(&worker);
	worker = worker_of("plain.worker", "---\n---\n");
	assert_string_equal(worker.name, "plain");
	assert_int_equal(worker.declared.count, 0);
	sb_worker_done(&worker);
}

static void approval_system(void **state)
{
	struct sb_worker worker = worker_of("a.worker",
					    "---\n"
					    "sandbox:\n"
					    "  zones:\n"
					    "    - name: input\n"
					    "      mode: ro\n"
					    "      # no approval needed - zone is read-only\n"
					    "    - name: drafts\n"
					    "      mode: rw\n"
					    "      approval:\n"
					    "        write: preApproved    # No prompt\n"
					    "        delete: preApproved\n"
					    "    - name: final\n"
					    "      mode: rw\n"
					    "      approval:\n"
					    "        write: ask            # Prompt user\n"
					    "        delete: blocked       # Prevent entirely\n"
					    "---\n");
	const struct sb_zone *zone;

	(void)state;
	zone = sb_zones_find(&worker.declared, "drafts");
	assert_int_equal(zone->write, SB_PRE_APPROVED);
	assert_int_equal(zone->remove, SB_PRE_APPROVED);
	zone = sb_zones_find(&worker.declared, "final");
	assert_int_equal(zone->write, SB_APPROVAL_ASK);
	assert_int_equal(zone->remove, SB_APPROVAL_BLOCKED);
	zone = sb_zones_find(&worker.declared, "input");
	assert_int_equal(zone->mode, SB_ZONE_RO);
	sb_worker_done(&worker);
}

static void worker_mistakes(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"name: x\n", ":1:1: expected a line '---'"},
		{"---\nname: x\n", ":1:1: expected a second line '---'"},
		{"# a\n\nx\n---\n---\n", ":3:1: expected a line '---'"},
		{"# a\n---\nnam: x\n---\n", ":3:1: expected one of name, description, sandbox"},
		{"# a\n", ":2:1: expected a line '---'"},
		{"---\nnam: x\n---\n", ":2:1: expected one of name, description, sandbox"},
		{"---\nsandbox:\n  zones:\n    data: {mode: ro}\n---\n",
		 ":4:5: expected a list behind 'zones'"},
		{"---\nsandbox:\n  zones:\n    - mode: ro\n---\n", ":4:7: expected a 'name' here"},
		{"---\nsandbox:\n  zones: [data]\n---\n", ":3:11: expected a map, found a word"},
		{"---\nsandbox:\n  zones: [{name: a}, {name: a}]\n---\n",
		 "expected each name once; 'a' is in line 3"},
		{"---\nsandbox:\n  zones: [{name: proc}]\n---\n", "no system directory's"},
		{"---\nsandbox:\n  zones: [{name: a, approval: {write: yes}}]\n---\n",
		 "expected one of 'preApproved', 'ask', 'blocked'; found 'yes'"},
		{"---\nnetwork: maybe\n---\n", ":2:10: expected one of 'off', 'on'"},
		{"---\nisolation: none\n---\n", ":2:12: expected one of 'container'"},
		{"---\ncommands: git\n---\n",
		 ":2:11: expected a list behind 'commands', found a word"},
		{"---\ncommands: [./git]\n---\n", "expected a program's name or an absolute path"},
		{"---\nname: &a x\n---\n", ":2:7: expected a value; anchors"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sb_worker worker;
		struct sb_error err = {0};
		char path[256];

		put_file("w.worker", rows[i].text);
		snprintf(path, sizeof path, "%s/w.worker", top);
		assert_int_not_equal(sb_worker_load(path, &worker, &err), SB_OK);
		if (!strstr(err.message, rows[i].says))
			fail_msg("'%s': '%s', not '%s'", rows[i].text, err.message, rows[i].says);
	}
}

#define FRONT(zones) "---\nsandbox:\n  zones: [" zones "]\n---\n"

/* What child, called by one that declares as parent does, has: "data:rw cache:ro", or the error. */
static void delegate(const char *parent_text, const char *child_text, char *out, size_t size)
{
	struct sb_worker parent = worker_of("parent.worker", parent_text);
	struct sb_worker child = worker_of("child.worker", child_text);
	struct sb_zones has, gets = {0};
	struct sb_project project;
	struct sb_error err = {0};

	put_file(
		"sandbash.yaml",
		"sandbox:\n  zones: {data: {mode: rw}, workspace: {mode: rw}, cache: {mode: rw}}\n");
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_int_equal(sb_worker_grant(&parent, &project.zones, NULL, &has, &err), SB_OK);
	out[0] = '\0';
	if (sb_worker_grant(&child, &has, &parent, &gets, &err) != SB_OK)
		snprintf(out, size, "%s", err.message);
	for (size_t i = 0; i < gets.count; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s:%s,%s,%s ", gets.all[i].name,
			 sb_zone_mode_name(gets.all[i].mode), sb_approval_name(gets.all[i].write),
			 sb_approval_name(gets.all[i].remove));
	sb_zones_done(&gets);
	sb_zones_done(&has);
	sb_project_done(&project);
	sb_worker_done(&child);
	sb_worker_done(&parent);
}

static void worker_delegation(void **state)
{
	char got[1024];

	(void)state;
	delegate(
		FRONT("{name: data, mode: rw}, {name: workspace, mode: rw}, {name: cache, mode: rw}"),
		FRONT("{name: data, mode: rw}"), got, sizeof got);
	assert_string_equal(got, "data:rw,ask,ask ");
	delegate(FRONT("{name: data, mode: ro}"), FRONT("{name: data, mode: rw}"), got, sizeof got);
	assert_non_null(strstr(
		got, "child.worker:3:18: data: Child requests 'rw' but parent only has 'ro'"));
	delegate(FRONT("{name: data, mode: rw}, {name: workspace, mode: rw}"), "---\n---\n", got,
		 sizeof got);
	assert_string_equal(got, "");
	delegate(FRONT("{name: data, mode: rw}"), FRONT("{name: data}"), got, sizeof got);
	assert_string_equal(got, "data:ro,ask,ask ");
	delegate(FRONT("{name: data}"), FRONT("{name: cache}"), got, sizeof got);
	assert_non_null(strstr(got, "cache: Child requests 'ro' but parent does not have it"));
	/* the stricter approval counts, whoever says it */
	delegate(
		FRONT("{name: data, mode: rw, approval: {write: blocked, delete: preApproved}}"),
		FRONT("{name: data, mode: rw, approval: {write: preApproved, delete: preApproved}}"),
		got, sizeof got);
	assert_string_equal(got, "data:rw,blocked,preApproved ");
	delegate("---\nnetwork: off\n---\n", "---\nnetwork: on\n---\n", got, sizeof got);
	assert_non_null(strstr(got, "Child requests the network but parent does not have it"));
	delegate("---\ncommands: [git]\n---\n", "---\n---\n", got, sizeof got);
	assert_non_null(strstr(got, "Child requests every command"));
	delegate("---\ncommands: [git]\n---\n", "---\ncommands: [sh]\n---\n", got, sizeof got);
	assert_non_null(strstr(got, "Child requests the command 'sh'"));
	delegate("---\ncommands: [git, sh]\n---\n", "---\ncommands: [sh]\n---\n", got, sizeof got);
	assert_string_equal(got, "");
}

/* The first example of all: the worker asks for what the project does not offer. */
static void project_is_ceiling(void **state)
{
	struct sb_worker worker = worker_of("formatter.worker", FRONT("{name: data, mode: rw}"));
	struct sb_project project;
	struct sb_zones gets;
	struct sb_error err;

	(void)state;
	put_file("sandbash.yaml", project_example);
	assert_int_equal(sb_project_load(top, &project, &err), SB_OK);
	assert_int_equal(sb_worker_grant(&worker, &project.zones, NULL, &gets, &err), SB_E_REFUSED);
	assert_non_null(strstr(err.message,
			       "data: the worker requests 'rw' but the project only has 'ro'"));
	sb_project_done(&project);
	sb_worker_done(&worker);
}

/* --- as rules ------------------------------------------------------------------------------------ */

static struct sb_zone one_zone(char *name, char *path, enum sb_zone_mode mode,
			       enum sb_approval write, enum sb_approval remove)
{
	return (struct sb_zone){
		.name = name, .path = path, .mode = mode, .write = write, .remove = remove};
}

static void expect_verdicts(const struct sb_policy *policy, const char *path, const char *expected)
{
	static const char letters[] = "+a-"; /* allow, ask, deny */
	char got[SB_OP_COUNT + 1] = "";

	for (int op = 0; op < SB_OP_COUNT; op++)
		got[op] = letters[sb_decide(policy, (enum sb_op)op, path).verdict];
	assert_string_equal(got, expected);
}

static void add_rule(struct sb_policy *policy, const struct sb_access *access, const char *pattern,
		     enum sb_tier tier)
{
	struct sb_rule rule = {
		.access = *access, .tier = tier, .pattern = pattern, .origin = "test"};

	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
}

static void mode_and_approval_as_rules(void **state)
{
	struct sb_zone all[] = {
		one_zone("drafts", "/p/drafts", SB_ZONE_RW, SB_PRE_APPROVED, SB_PRE_APPROVED),
		one_zone("final", "/p/final", SB_ZONE_RW, SB_APPROVAL_ASK, SB_APPROVAL_BLOCKED),
		one_zone("input", "/p/in*put", SB_ZONE_RO, SB_PRE_APPROVED, SB_PRE_APPROVED),
	};
	struct sb_zones zones = {all, 3};
	struct sb_policy *seen = sb_policy_new(), *real = sb_policy_new(), *user = sb_policy_new();

	(void)state;
	assert_int_equal(sb_zones_rules(seen, &zones, SB_ZONE_SEEN, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(seen, NULL), SB_OK);
	expect_verdicts(seen, "/drafts/x", "++++"); /* read, modify, create, delete */
	expect_verdicts(seen, "/final/x", "+aa-");
	expect_verdicts(seen, "/input/x", "+---");
	expect_verdicts(seen, "/usr/bin/x", "+---");
	expect_verdicts(seen, "/draftsx", "+---");
	assert_string_equal(sb_decide(seen, SB_MODIFY, "/input/x").rule->origin,
			    "/input is read-only");
	assert_int_equal(sb_zones_rules(real, &zones, SB_ZONE_REAL, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(real, NULL), SB_OK);
	expect_verdicts(real, "/p/in*put/x", "+---");
	expect_verdicts(real, "/p/input/x", "+aaa"); /* no rule's */
	sb_policy_set(user, SB_SETTING_WORKERS, SB_WORKERS_ASK);
	assert_int_equal(sb_policy_seal(user, NULL), SB_OK);
	sb_zones_tighten(&zones, user);
	assert_int_equal(all[0].write, SB_APPROVAL_ASK);
	assert_int_equal(all[1].remove, SB_APPROVAL_BLOCKED);
	sb_policy_free(seen);
	sb_policy_free(real);
	sb_policy_free(user);
}

/* Where the user's own rules say more about a directory than a worker's file does. */
static void rules_of_the_user_hold(void **state)
{
	struct sb_zone all[] = {
		one_zone("data", "/home/u/p/data", SB_ZONE_RO, SB_APPROVAL_ASK, SB_APPROVAL_ASK),
		one_zone("desk", "/home/u/p/desk", SB_ZONE_RW, SB_PRE_APPROVED, SB_PRE_APPROVED),
	};
	struct sb_zones zones = {all, 2};
	struct sb_policy *user = sb_policy_new(), *seen = sb_policy_new();

	(void)state;
	add_rule(user, &sb_access_write, "/home/u/p", SB_TIER_BUILTIN);
	add_rule(user, &sb_access_write, "/home/u/p/data/open", SB_TIER_GLOBAL);
	add_rule(user, &sb_access_deny, "/home/u/p/desk/.ssh", SB_TIER_BUILTIN);
	add_rule(user, &sb_access_deny, "/home/u/p/desk/secret", SB_TIER_GLOBAL);
	add_rule(user, &sb_access_deny, "/home/u/**/*.pem", SB_TIER_GLOBAL);
	add_rule(user, &sb_access_read, "/home/u/p/desk/test.pem", SB_TIER_GLOBAL);
	add_rule(user, &sb_access_ask, "/home/*/p/desk/asked", SB_TIER_GLOBAL);
	add_rule(user, &sb_access_deny, "/home/*/q/desk/other", SB_TIER_GLOBAL);
	assert_int_equal(sb_policy_seal(user, NULL), SB_OK);
	assert_int_equal(sb_zones_rules(seen, &zones, SB_ZONE_SEEN, NULL), SB_OK);
	assert_int_equal(sb_zones_inherit(seen, &zones, SB_ZONE_SEEN, user, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(seen, NULL), SB_OK);
	expect_verdicts(seen, "/desk/x", "++++");
	expect_verdicts(seen, "/desk/secret/x", "----");
	expect_verdicts(seen, "/desk/.ssh/id", "----");
	expect_verdicts(seen, "/desk/deep/a.pem", "----");
	expect_verdicts(seen, "/data/a.pem", "----");
	expect_verdicts(seen, "/desk/test.pem", "+---");
	expect_verdicts(seen, "/desk/asked", "+aaa");
	expect_verdicts(seen, "/desk/other", "++++");
	expect_verdicts(seen, "/data/open", "+---"); /* a rule of the user's opens nothing */
	sb_policy_free(user);
	sb_policy_free(seen);
}

static void rules_around_the_directory(void **state)
{
	struct sb_zone all[] = {
		one_zone("desk", "/home/u/p/desk", SB_ZONE_RW, SB_PRE_APPROVED, SB_PRE_APPROVED)};
	struct sb_zones zones = {all, 1};
	struct sb_policy *user = sb_policy_new(), *seen = sb_policy_new();
	struct sb_error err;

	(void)state;
	add_rule(user, &sb_access_read, "/home/u", SB_TIER_GLOBAL);
	assert_int_equal(sb_policy_seal(user, NULL), SB_OK);
	sb_zones_tighten(&zones, user);
	assert_int_equal(sb_zones_rules(seen, &zones, SB_ZONE_SEEN, NULL), SB_OK);
	assert_int_equal(sb_zones_inherit(seen, &zones, SB_ZONE_SEEN, user, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(seen, NULL), SB_OK);
	expect_verdicts(seen, "/desk/x", "+---");
	sb_policy_free(user);
	sb_policy_free(seen);
	user = sb_policy_new();
	seen = sb_policy_new();
	add_rule(user, &sb_access_deny, "/home/**", SB_TIER_GLOBAL);
	assert_int_equal(sb_policy_seal(user, NULL), SB_OK);
	assert_int_equal(sb_zones_inherit(seen, &zones, SB_ZONE_SEEN, user, &err), SB_E_REFUSED);
	assert_non_null(strstr(err.message, "/desk: a rule hides its directory"));
	sb_policy_free(user);
	sb_policy_free(seen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(project_configuration),  TEST(default_zones),
	TEST(backend_modes),          TEST(project_mistakes),
	TEST(worker_declaration),     TEST(approval_system),
	TEST(worker_mistakes),        TEST(worker_delegation),
	TEST(project_is_ceiling),     TEST(mode_and_approval_as_rules),
	TEST(rules_of_the_user_hold), TEST(rules_around_the_directory),
};

UNIT_MAIN("zones")
