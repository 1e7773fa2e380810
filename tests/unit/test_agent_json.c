/* Two versions of an agent's own JSON file: which changes are asked about, and how they are called. */
#include "guarded.h"

#include "base/json_read.h"

#define PROJECT(inside) "{\"projects\": {\"/home/u/my-plugin.hooks\": {" inside "}}}"

struct change {
	const char *old, *new;
	const char *why; /* NULL: lands */
};

static const struct change changes[] = {
	/* what claude writes in a new home */
	{NULL, "{\n  \"firstStartTime\": \"2026-11-17T18:40:15.896Z\"\n}", NULL},
	{"{\"firstStartTime\": \"x\"}",
	 "{\"firstStartTime\": \"x\", \"machineID\": \"40ca88\", \"opusProMigrationComplete\": true,"
	 " \"seenNotifications\": {}, \"migrationVersion\": 13, \"userID\": \"19c7\","
	 " \"hasResetAutoModeOptInForDefaultOffer\": true}",
	 NULL},
	{"{}", "{\"hasResetAutoMode\": \"x\"}", "hasResetAutoMode = \"x\""},
	{"{}",
	 "{\"numStartups\": 3, \"installMethod\": \"global\", \"autoUpdates\": false,"
	 " \"customApiKeyResponses\": {\"approved\": [], \"rejected\": []}, \"env\": {},"
	 " \"queuedCommandUpHintCount\": 2, \"editorMode\": \"vim\","
	 " \"cachedGrowthBookFeatures\": {\"tengu_mcp_hooks\": true, \"plugin\": {\"env\": \"x\"}},"
	 " \"tipsHistory\": {\"plugin-tip\": 3, \"hooks\": 1}, \"pluginUsage\": {\"a\": 1},"
	 " \"officialMarketplaceAutoInstallAttempted\": true, \"modelAccessCache\": {\"env\": 1},"
	 " \"githubRepoPaths\": {\"o/my-plugin\": [\"/p\"]}, \"claudeCodeHints\": {\"plugin\": [\"a\"]}}",
	 NULL},
	{"{}",
	 PROJECT("\"allowedTools\": [], \"mcpContextUris\": [], \"mcpServers\": {},"
		 " \"enabledMcpjsonServers\": [], \"disabledMcpjsonServers\": [],"
		 " \"hasTrustDialogAccepted\": false, \"projectOnboardingSeenCount\": 0,"
		 " \"hasClaudeMdExternalIncludesApproved\": false, \"lastToolDuration\": 12,"
		 " \"lastSessionMetrics\": {\"hook_duration_ms\": 2}, \"exampleFiles\": [\"a.c\"],"
		 " \"history\": [{\"display\": \"env\", \"pastedContents\": {\"1\": {\"mcp\": 1}}}]"),
	 NULL},
	/* servers, tools, trust, variables */
	{"{}", "{\"mcpServers\": {\"x\": {\"command\": \"sh\", \"args\": [\"-c\", \"a  b\"]}}}",
	 "mcpServers.x = {\"command\":\"sh\",\"args\":[\"-c\",\"a  b\"]}"},
	{NULL, "{\"mcpServers\": {\"x\": {\"url\": \"http://x\"}}}",
	 "mcpServers.x = {\"url\":\"http://x\"}"},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\"}, \"y\": {\"command\": \"b\"}}}",
	 "{\"mcpServers\": {\"y\": {\"command\": \"b\"}}, \"numStartups\": 2}", NULL},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\"}}}", "{}", NULL},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\"}}}", "{\"mcpServers\": {}}", NULL},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\", \"args\": [\"--safe\"]}}}",
	 "{\"mcpServers\": {\"x\": {\"command\": \"a\", \"args\": []}}}",
	 "mcpServers.x = {\"command\":\"a\",\"args\":[]}"},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\", \"env\": {\"A\": \"1\"}}}}",
	 "{\"mcpServers\": {\"x\": {\"env\": {\"A\": \"1\"}, \"command\": \"a\"}}}", NULL},
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\"}}}",
	 "{\"mcpServers\": {\"x\": {\"command\": \"\\u0061\"}}}", NULL},
	{PROJECT("\"hasTrustDialogAccepted\": false"), PROJECT("\"hasTrustDialogAccepted\": true"),
	 "projects./home/u/my-plugin.hooks.hasTrustDialogAccepted = true"},
	{"{}", PROJECT("\"hasTrustDialogAccepted\": 1"),
	 "projects./home/u/my-plugin.hooks.hasTrustDialogAccepted = 1"},
	{PROJECT("\"hasTrustDialogAccepted\": true"), PROJECT("\"hasTrustDialogAccepted\": false"),
	 NULL},
	{PROJECT("\"hasTrustDialogAccepted\": true"), PROJECT("\"numStartups\": 2"), NULL},
	{PROJECT("\"hasTrustDialogAccepted\": true"), "{\"projects\": {}}", NULL},
	{PROJECT("\"hasTrustDialogAccepted\": true"), "", NULL},
	{PROJECT("\"allowedTools\": [\"A\"]"), PROJECT("\"allowedTools\": [\"A\", \"Bash(*)\"]"),
	 "projects./home/u/my-plugin.hooks.allowedTools = [\"A\",\"Bash(*)\"]"},
	{PROJECT("\"allowedTools\": [\"A\", \"B\", \"C\"]"),
	 PROJECT("\"allowedTools\": [\"A\", \"C\"]"), NULL},
	{PROJECT("\"allowedTools\": [\"A\", \"B\"]"), PROJECT("\"allowedTools\": [\"B\", \"A\"]"),
	 "projects./home/u/my-plugin.hooks.allowedTools = [\"B\",\"A\"]"},
	{"{}", "{\"env\": {\"PATH\": \"/x\"}}", "env.PATH = \"/x\""},
	{"{}", "{\"apiKeyHelper\": \"/x\"}", "apiKeyHelper = \"/x\""},
	{"{}", "{\"skipDangerousModePrompt\": true}", "skipDangerousModePrompt = true"},
	{"{}", "{\"bypassPermissionsModeAccepted\": true}", "bypassPermissionsModeAccepted = true"},
	{"{}", "{\"customApiKeyResponses\": {\"approved\": [\"k\"]}}",
	 "customApiKeyResponses.approved = [\"k\"]"},
	{"{}", "{\"someday\": [{\"deep\": {\"newHookCommand\": \"x\"}}]}",
	 "someday.deep.newHookCommand = \"x\""},
	{"{}", "{\"\\u006dcpServers\": {\"x\": {\"command\": \"a\"}}}",
	 "mcpServers.x = {\"command\":\"a\"}"},
	{"{}", "{\"hasTrustDialogAccepted\": []}", "hasTrustDialogAccepted = []"},
	{"{\"hasTrustDialogAccepted\": false}", "{\"hasTrustDialogAccepted\": {}}",
	 "hasTrustDialogAccepted = {}"},
	{NULL, "{\"projects\": {\"/x\": {\"hasTrustDialogAccepted\": {}}}}",
	 "projects./x.hasTrustDialogAccepted = {}"},
	{"{}", "{\"allowedTools\": [], \"mcpServers\": {}}", NULL},
	{"{}", "{\"__proto__\": {\"theme\": \"x\"}}", "__proto__.theme = \"x\""},
	{"{}", "{\"projects\": {\"__proto__\": {\"a\": 1}}}", "projects.__proto__.a = 1"},
	/* state is state at its place only */
	{"{}", "{\"a\": {\"cachedHooks\": {\"x\": \"y\"}}}", "a.cachedHooks.x = \"y\""},
	{"{}", "{\"mcpHintCount\": \"sh\"}", "mcpHintCount = \"sh\""},
	/* what may be there to stop something */
	{PROJECT("\"disabledMcpjsonServers\": [\"x\"]"), PROJECT("\"disabledMcpjsonServers\": []"),
	 "projects./home/u/my-plugin.hooks.disabledMcpjsonServers = []"},
	{PROJECT("\"disabledMcpjsonServers\": [\"x\"]"), PROJECT(""),
	 "no longer set: projects./home/u/my-plugin.hooks.disabledMcpjsonServers"},
	{PROJECT("\"disabledMcpjsonServers\": [\"x\"]"), "{}",
	 "no longer set: projects./home/u/my-plugin.hooks.disabledMcpjsonServers"},
	{PROJECT("\"disabledMcpjsonServers\": [\"x\"]"),
	 PROJECT("\"disabledMcpjsonServers\": [\"x\", \"y\"]"), NULL},
	{"{\"hooks\": {\"PreToolUse\": [{\"command\": \"check\"}]}}", "{\"hooks\": {}}",
	 "hooks = {}"},
	{"{\"hooks\": {\"PreToolUse\": [{\"command\": \"check\"}], \"b\": [1]}}",
	 "{\"hooks\": {\"b\": [1]}}", "no longer set: hooks.PreToolUse"},
	{"{\"permissions\": {\"allow\": [\"a\"], \"deny\": [\"b\"]}}",
	 "{\"permissions\": {\"allow\": [\"a\"]}}", "no longer set: permissions.deny"},
	{"{}", "{\"disableAllHooks\": true}", "disableAllHooks = true"},
	{"{\"disableAllHooks\": true}", "{}", "no longer set: disableAllHooks"},
	{"{\"denied\": [\"a\"]}", "", "no longer set: denied"},
	/* what was there stays */
	{"{\"mcpServers\": {\"x\": {\"command\": \"a\"}}, \"n\": 1}",
	 "{\"n\": 2, \"mcpServers\": {\"x\": {\"command\": \"a\"}}}", NULL},
	/* another type */
	{"{\"mcpServers\": []}", "{\"mcpServers\": {\"x\": {\"command\": \"a\"}}}",
	 "mcpServers = {\"x\":{\"command\":\"a\"}}"},
	{"{\"a\": {\"disabled\": true}}", "{\"a\": 1}", "no longer set: a.disabled"},
	/* no such file */
	{"{}", "{", "not in JSON's format"},
	{"{}", "[]", "not an object of JSON"},
	{"{}", "{\"a\": 1, \"\\u0061\": 2}", "the same name twice"},
	{"{}", "{\"a\": NaN}", "not in JSON's format"},
	{"{}", "{\"a\": 1,}", "not in JSON's format"},
	{"{}", "\xef\xbb\xbf{}", "not in JSON's format"},
	{"{}", "{} // x", "not in JSON's format"},
	{"{", "{", NULL},
	{"{", "{\"n\": 1}", NULL},
	{"{", "{\"mcpServers\": {\"x\": {\"command\": \"a\"}}}",
	 "mcpServers.x = {\"command\":\"a\"}"},
};

static const struct sb_guard_bytes empty = {"{}", 2};

static enum sb_guard_verdict compare(struct guarded *fx, struct sb_guard_bytes old,
				     struct sb_guard_bytes new, char *why, size_t size)
{
	return sb_guard_content(fx->guard,
				&(struct sb_guard_landing){SB_GUARD_AGENT_JSON,
							   in(fx->root, ".claude.json"), old, new},
				why, size);
}

/* Of settings everything is obeyed: what is not known asks. */
static void of_settings_only_looks_land(void **state)
{
	static const struct change looks[] = {
		{NULL, "{\"theme\": \"dark\"}", NULL},
		{"{\"theme\": \"dark\"}", "{\"theme\": \"light\"}", NULL},
		{"{\"theme\": \"dark\"}", "{}", NULL},
		{"{\"hooks\": {\"a\": 1}}", "{\"hooks\": {\"a\": 1}, \"theme\": \"x\"}", NULL},
		{"{}", "{\"theme\": {\"command\": \"x\"}}", "theme = {\"command\":\"x\"}"},
		{"{}", "{\"Theme\": \"dark\"}", "Theme = \"dark\""},
		{"{}", "{\"new\": true}", "new = true"},
		{NULL, "{\"env\": {\"PATH\": \"/x\"}}", "env = {\"PATH\":\"/x\"}"},
		{"{\"permissions\": {\"deny\": [\"Bash\"]}}", "{\"theme\": \"dark\"}",
		 "no longer set: permissions"},
		{"{\"theme\": \"dark\"}", "{", "not in JSON's format"},
	};
	struct guarded *fx = *state;

	for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
		char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
		enum sb_guard_verdict verdict = sb_guard_content(
			fx->guard,
			&(struct sb_guard_landing){
				SB_GUARD_AGENT_LOOKS, in(fx->root, ".claude/settings.json"),
				(struct sb_guard_bytes){looks[i].old,
							looks[i].old ? strlen(looks[i].old) : 0},
				(struct sb_guard_bytes){looks[i].new, strlen(looks[i].new)}},
			why, sizeof why);

		if (verdict != (looks[i].why ? SB_GUARD_ASK : SB_GUARD_PLAIN) ||
		    (looks[i].why && strcmp(why, looks[i].why) != 0))
			fail_msg("%s: %s", looks[i].new, why);
	}
}

static void only_what_runs_is_asked_about(void **state)
{
	struct guarded *fx = *state;

	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		const struct change *change = &changes[i];
		char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
		enum sb_guard_verdict verdict = compare(
			fx,
			(struct sb_guard_bytes){change->old, change->old ? strlen(change->old) : 0},
			(struct sb_guard_bytes){change->new, strlen(change->new)}, why, sizeof why);

		if (verdict != (change->why ? SB_GUARD_ASK : SB_GUARD_PLAIN) ||
		    strcmp(why, change->why ? change->why : "") != 0)
			fail_msg("%s to %s: %d, %s", change->old ? change->old : "nothing",
				 change->new, verdict, why);
	}
}

static void all_of_it_is_told(void **state)
{
	static const char new[] =
		"{\"env\": {\"A\": \"1\"}, \"mcpServers\": {\"x\": {\"a\": 1},"
		" \"y\": {\"b\": 2}}, \"apiKeyHelper\": \"x\", \"hooks\": {\"z\": 1}}";
	struct guarded *fx = *state;
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];

	assert_int_equal(
		compare(fx, empty, (struct sb_guard_bytes){new, sizeof new - 1}, why, sizeof why),
		SB_GUARD_ASK);
	/* one of each kind first */
	assert_string_equal(why, "env.A = \"1\"\nmcpServers.x = {\"a\":1}\n"
				 "hooks.z = 1\napiKeyHelper = \"x\"\n"
				 "and 1 more settings that run something or lead elsewhere");
}

/* A long line, a tab in a text and a lone surrogate are a daily thing in it. */
static void long_lines_land(void **state)
{
	struct guarded *fx = *state;
	static char text[100000];
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
	size_t length = (size_t)snprintf(text, sizeof text, "{\"a\": \"\\ud800\\t");

	memset(text + length, 'x', 90000);
	length += 90000;
	length += (size_t)snprintf(text + length, sizeof text - length, "\"}\r\n");
	assert_int_equal(compare(fx, empty, (struct sb_guard_bytes){text, length}, why, sizeof why),
			 SB_GUARD_PLAIN);
	text[20] = '\0';
	assert_int_equal(compare(fx, empty, (struct sb_guard_bytes){text, length}, why, sizeof why),
			 SB_GUARD_ASK);
}

static void limits_hold(void **state)
{
	struct guarded *fx = *state;
	size_t size = SB_GUARD_MAX_AGENT_BYTES + 1, length = 0;
	char *text = malloc(size), why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];

	assert_non_null(text);
	/* as deep as it goes, and one deeper */
	for (unsigned lists = SB_JSON_MAX_DEPTH - 1; lists <= SB_JSON_MAX_DEPTH; lists++) {
		length = (size_t)snprintf(text, size, "{\"a\":");
		memset(text + length, '[', lists);
		memset(text + length + lists, ']', lists);
		length += 2 * (size_t)lists;
		text[length++] = '}';
		assert_int_equal(
			compare(fx, empty, (struct sb_guard_bytes){text, length}, why, sizeof why),
			lists < SB_JSON_MAX_DEPTH ? SB_GUARD_PLAIN : SB_GUARD_ASK);
	}
	memset(text, '[', size);
	assert_int_equal(
		compare(fx, empty, (struct sb_guard_bytes){text, size - 1}, why, sizeof why),
		SB_GUARD_ASK);
	assert_string_equal(why, "nested too deeply");
	assert_int_equal(compare(fx, empty, (struct sb_guard_bytes){text, size}, why, sizeof why),
			 SB_GUARD_ASK);
	assert_string_equal(why, "too long to be looked at");
	/* more values than anybody has */
	length = (size_t)snprintf(text, size, "{\"a\":[1");
	while (length < size - 4)
		length += (size_t)snprintf(text + length, size - length, ",1");
	length += (size_t)snprintf(text + length, size - length, "]}");
	assert_int_equal(compare(fx, empty, (struct sb_guard_bytes){text, length}, why, sizeof why),
			 SB_GUARD_ASK);
	assert_string_equal(why, "too long to be looked at");
	/* many names, each of them asked about */
	length = (size_t)snprintf(text, size, "{\"env\":{");
	for (unsigned i = 0; i < 200000; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\"%u\":\"x\"",
					   i ? "," : "", i);
	length += (size_t)snprintf(text + length, size - length, "}}");
	assert_int_equal(compare(fx, empty, (struct sb_guard_bytes){text, length}, why, sizeof why),
			 SB_GUARD_ASK);
	assert_non_null(strstr(why, "or more settings"));
	free(text);
}

#define WITH_GUARD(test) cmocka_unit_test_setup_teardown(test, guarded_setup, guarded_teardown)

static const struct CMUnitTest tests[] = {
	WITH_GUARD(only_what_runs_is_asked_about),
	WITH_GUARD(of_settings_only_looks_land),
	WITH_GUARD(all_of_it_is_told),
	WITH_GUARD(long_lines_land),
	WITH_GUARD(limits_hold),
};

UNIT_MAIN("agent json")
