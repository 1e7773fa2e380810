#include "policy/settings.h"

#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

const struct sb_setting_row sb_settings[SB_SETTING_COUNT] = {
	[SB_SETTING_MODE] = {"mode",
			     {"danger-full-access", "workspace-write", "read-only"},
			     {"--mode=danger-full-access", "--mode=workspace-write",
			      "--mode=read-only"},
			     SB_MODE_WORKSPACE_WRITE,
			     SB_MODE_DANGER_FULL_ACCESS,
			     false},
	[SB_SETTING_NETWORK] = {"network",
				{"on", "learn", "ask", "off"},
				{"--network=on", "--network=learn", "--network=ask",
				 "--network=off"},
				SB_NETWORK_ON,
				SB_NETWORK_ASK,
				false},
	/* the real /tmp is not stricter than a private one, but no floor either */
	[SB_SETTING_TMP] = {"tmp",
			    {"private", "shared", "off"},
			    {NULL, "--shared-tmp", "--no-tmp"},
			    SB_TMP_PRIVATE,
			    SB_TMP_OFF,
			    true},
	[SB_SETTING_PROTECT_IGNORED] =
		{"protect-ignored", {"off", "on"}, {NULL, "--protect-ignored"}, false, true, false},
	[SB_SETTING_CLEAN_ENV] =
		{"clean-env", {"off", "on"}, {NULL, "--clean-env"}, false, true, false},
	[SB_SETTING_WORKERS] = {"workers",
				{"declared", "ask"},
				{NULL, NULL},
				SB_WORKERS_DECLARED,
				SB_WORKERS_ASK,
				false},
	[SB_SETTING_UNSANDBOXED] = {"unsandboxed",
				    {"ask", "off"},
				    {NULL, NULL},
				    SB_UNSANDBOXED_OFF,
				    SB_UNSANDBOXED_OFF,
				    .strictest = true},
	[SB_SETTING_LOG_ALLOWED] =
		{"log-allowed", {"off", "on"}, {NULL, "--log-allowed"}, false, true, false},
};

int sb_setting_parse(enum sb_setting setting, const char *text, int *out_value,
		     struct sb_error *err)
{
	const struct sb_setting_row *row = &sb_settings[setting];
	SB_AUTO_BUF struct sb_buf words = SB_BUF(256);
	int count = 0;

	for (; count < SB_SETTING_VALUES && row->values[count]; count++)
		if (strcmp(row->values[count], text) == 0) {
			*out_value = count;
			return SB_OK;
		}
	for (int i = 0; i < count; i++)
		sb_buf_printf(&words, "%s'%s'",
			      i == 0           ? ""
			      : i == count - 1 ? " or "
					       : ", ",
			      row->values[i]);
	return sb_fail(err, SB_E_INVALID, 0, "%s is %s, not '%s'", row->word, words.data, text);
}

int sb_setting_choose(enum sb_setting setting, const int *system, int chosen)
{
	const struct sb_setting_row *row = &sb_settings[setting];

	return system && *system >= row->floor && *system > chosen ? *system : chosen;
}
