/*
 * Directories that variables put elsewhere: one table for what is hidden there and what is obeyed.
 */
#include "config/variables.h"

static const struct sb_moved moved[] = {
	/* agents */
	{"CLAUDE_CONFIG_DIR", SB_SECRETS_HOME, ".claude", true},
	{"CODEX_HOME", SB_SECRETS_HOME, ".codex", true},
	{"OPENCODE_CONFIG_DIR", SB_SECRETS_HOME, ".opencode", true},
	{"COPILOT_HOME", SB_SECRETS_HOME, ".copilot", true},
	{"HERMES_HOME", SB_SECRETS_HOME, ".hermes", true},
	{"VIBE_HOME", SB_SECRETS_HOME, ".vibe", true},
	{"CURSOR_CONFIG_DIR", SB_SECRETS_HOME, ".cursor", true},
	{"QWEN_HOME", SB_SECRETS_HOME, ".qwen", true},
	{"KIMI_SHARE_DIR", SB_SECRETS_HOME, ".kimi", true},
	{"KIMI_CODE_HOME", SB_SECRETS_HOME, ".kimi-code", true},
	{"GROK_HOME", SB_SECRETS_HOME, ".grok", true},
	{"OPENCLAW_STATE_DIR", SB_SECRETS_HOME, ".openclaw", true},
	{"CONTINUE_GLOBAL_DIR", SB_SECRETS_HOME, ".continue", true},
	{"CLINE_DIR", SB_SECRETS_HOME, ".cline", true},
	{"CLINE_DATA_DIR", SB_SECRETS_HOME, ".cline/data", true},
	{"CRUSH_GLOBAL_CONFIG", SB_SECRETS_CONFIG, "crush", true},
	{"CRUSH_GLOBAL_DATA", SB_SECRETS_DATA, "crush", true},
	/* all of it is obeyed whatever it is called: obeyed.c */
	{"PI_CODING_AGENT_DIR", SB_SECRETS_HOME, ".pi/agent", false},
	/* called as usual there, and guarded by that name */
	{"GEMINI_CLI_HOME", SB_SECRETS_HOME, ".gemini", false, ".gemini"},
	/* not GOOSE_PATH_ROOT: its profile could not open the agent's own login there */

	/* tools, of which parts are obeyed: obeyed.c */
	{"XDG_CACHE_HOME", SB_SECRETS_HOME, ".cache", false},
	{"XDG_STATE_HOME", SB_SECRETS_HOME, ".local/state", false},
	{"CARGO_HOME", SB_SECRETS_HOME, ".cargo", false},
	{"DOCKER_CONFIG", SB_SECRETS_HOME, ".docker", false},
	{"GRADLE_USER_HOME", SB_SECRETS_HOME, ".gradle", false},
	{"BUNDLE_USER_HOME", SB_SECRETS_HOME, ".bundle", false},
	{"VAGRANT_HOME", SB_SECRETS_HOME, ".vagrant.d", false},
	{"PUB_CACHE", SB_SECRETS_HOME, ".pub-cache", false},
	{"WANDB_CONFIG_DIR", SB_SECRETS_CONFIG, "wandb", false},
	{"FOUNDRY_DIR", SB_SECRETS_HOME, ".foundry", false},
	{"COMPOSER_HOME", SB_SECRETS_HOME, ".composer", false},
	{"PULUMI_HOME", SB_SECRETS_HOME, ".pulumi", false},
	{"JUPYTER_CONFIG_DIR", SB_SECRETS_HOME, ".jupyter", false},
	{"JENKINS_HOME", SB_SECRETS_HOME, ".jenkins", false},
};

const struct sb_moved *sb_moved_places(size_t *out_count)
{
	*out_count = sizeof moved / sizeof moved[0];
	return moved;
}
