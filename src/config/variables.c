#include "config/variables.h"

#include <string.h>

#include "path/path.h"

/*
 * Variables that name a socket whose owner does for a client what the client may not:
 * signs, starts containers, types into terminals, evaluates code in an editor.
 */
static const char *const service_names[] = {
	"SSH_AUTH_SOCK",
	"DBUS_SESSION_BUS_ADDRESS",
	"DBUS_SYSTEM_BUS_ADDRESS",
	"DOCKER_HOST",
	"CONTAINER_HOST",
	"TMUX",
	"NVIM",
	"NVIM_LISTEN_ADDRESS",
	"VSCODE_IPC_HOOK_CLI",
	"VSCODE_GIT_IPC_HANDLE",
	"SWAYSOCK",
	"I3SOCK",
	"KITTY_LISTEN_ON",
	"WEZTERM_UNIX_SOCKET",
	"ALACRITTY_SOCKET",
	"GNOME_KEYRING_CONTROL",
	"SESSION_MANAGER",
};

static const char *const *services(sb_variable *variable)
{
	static const char *values[sizeof service_names / sizeof service_names[0] + 1];
	size_t count = 0;

	for (size_t i = 0; i < sizeof service_names / sizeof service_names[0]; i++) {
		const char *value = variable(service_names[i]);

		if (value && *value)
			values[count++] = value;
	}
	values[count] = NULL;
	return values;
}

const struct sb_named_socket *sb_named_sockets(sb_variable *variable, size_t *out_count)
{
	static struct sb_named_socket found[sizeof service_names / sizeof service_names[0]];

	for (size_t i = 0; i < sizeof service_names / sizeof service_names[0]; i++)
		found[i] = (struct sb_named_socket){service_names[i], variable(service_names[i])};
	*out_count = sizeof service_names / sizeof service_names[0];
	return found;
}

#define MAX_LISTED 32 /* files of lists */

static const struct {
	const char *variable, *beneath; /* beneath: NULL when the variable names the thing */
} secret_names[] = {
	{"GNUPGHOME", NULL},
	{"KUBECONFIG", NULL},
	{"AWS_SHARED_CREDENTIALS_FILE", NULL},
	{"AWS_CONFIG_FILE", NULL},
	{"AZURE_CONFIG_DIR", NULL},
	{"CLOUDSDK_CONFIG", NULL},
	{"GOOGLE_APPLICATION_CREDENTIALS", NULL},
	{"DOCKER_CONFIG", "config.json"},
	{"CARGO_HOME", "credentials.toml"},
	{"CARGO_HOME", "credentials"},
	{"NPM_CONFIG_USERCONFIG", NULL},
	{"npm_config_userconfig", NULL},
	{"NETRC", NULL},
	{"KRB5CCNAME", NULL}, /* FILE:/path, DIR:/path */
	{"PGPASSFILE", NULL},
	{"PASSWORD_STORE_DIR", NULL},
	{"GH_CONFIG_DIR", NULL},
	{"RCLONE_CONFIG", NULL},
	{"BOTO_CONFIG", NULL},
	{"TF_CLI_CONFIG_FILE", NULL},
	{"XAUTHORITY", NULL},
	{"ICEAUTHORITY", NULL},
	{"PULSE_COOKIE", NULL},
	{"JUPYTER_RUNTIME_DIR", NULL},
	{"JUPYTER_DATA_DIR", "runtime"},
	{"JUPYTER_DATA_DIR", "notebook_secret"},
	{"IPYTHONDIR", "profile_default/security"},
	{"EMACS_SERVER_FILE", NULL},
	{"GRADLE_USER_HOME", "daemon"},
	{"SOPS_AGE_KEY_FILE", NULL},
	{"HF_TOKEN_PATH", NULL},
	{"HF_HOME", "token"},
	{"HF_HOME", "stored_tokens"},
	{"PULUMI_HOME", "credentials.json"},
	{"CLAUDE_CONFIG_DIR", ".credentials.json"},
	{"CODEX_HOME", "auth.json"},
	{"CODEX_HOME", ".credentials.json"},
	{"PIP_CONFIG_FILE", NULL},
	{"POETRY_CONFIG_DIR", "auth.toml"},
	{"COMPOSER_HOME", "auth.json"},
	{"HELM_REGISTRY_CONFIG", NULL},
	{"REGISTRY_AUTH_FILE", NULL},
	{"MYSQL_TEST_LOGIN_FILE", NULL},
	{"XDG_STATE_HOME", "syncthing"},
	{"STCONFDIR", NULL},
	{"STHOMEDIR", NULL},
	{"INCUS_CONF", "client.key"},
	{"LXD_CONF", "client.key"},
	{"VSCODE_CLI_DATA_DIR", "token.json"},
	{"VSCODE_CLI_DATA_DIR", "serve-web-token"},
	{"CAROOT", "rootCA-key.pem"},
	{"BITWARDENCLI_APPDATA_DIR", NULL},
	{"OP_CONFIG_DIR", NULL},
	{"LPASS_HOME", NULL},
	{"OCI_CLI_CONFIG_FILE", NULL},
	{"MC_CONFIG_DIR", "config.json"},
	{"BORG_KEYS_DIR", NULL},
	{"RESTIC_PASSWORD_FILE", NULL},
	{"STEPPATH", "secrets"},
	{"TELEPORT_HOME", NULL},
	{"TALOSCONFIG", NULL},
	{"PGSERVICEFILE", NULL},
	{"SNOWFLAKE_HOME", NULL},
	{"DBT_PROFILES_DIR", "profiles.yml"},
	{"KAGGLE_CONFIG_DIR", "kaggle.json"},
	{"DATABRICKS_CONFIG_FILE", NULL},
	{"CLEARML_CONFIG_FILE", NULL},
	{"COPILOT_HOME", "config.json"},
	{"GLAB_CONFIG_DIR", NULL},
	{"HUB_CONFIG", NULL},
	{"SCW_CONFIG_PATH", NULL},
	{"RATTLER_AUTH_FILE", NULL},
	{"HEX_HOME", "hex.config"},
	{"ELECTRUMDIR", NULL},
	{"WEECHAT_HOME", NULL},
};

/*
 * Credentials where variables put them.  The strings live as long as the program; what
 * does not fit is not there.
 */
static const char *const *secrets(sb_variable *variable)
{
	static const char *paths[sizeof secret_names / sizeof secret_names[0] + MAX_LISTED + 1];
	size_t count = 0, listed = 0;

	for (size_t i = 0; i < sizeof secret_names / sizeof secret_names[0]; i++) {
		const char *value = variable(secret_names[i].variable);
		/* KUBECONFIG is a list, and a kind comes before some secret_names; a file whose name has a colon in it is meant as a whole, too */
		const char *at = value && !secret_names[i].beneath && strchr(value, ':') ? value
											 : NULL;

		if (value && value[0] == '/') {
			paths[count] = secret_names[i].beneath
					       ? sb_path_join(value, secret_names[i].beneath)
					       : value;
			count += paths[count] != NULL;
		}
		for (; at && *at && listed < MAX_LISTED; at += *at == ':') {
			size_t length = strcspn(at, ":");

			paths[count] = *at == '/' ? strndup(at, length) : NULL;
			listed += paths[count] != NULL;
			count += paths[count] != NULL;
			at += length;
		}
	}
	paths[count] = NULL;
	return paths;
}

struct sb_environment sb_environment_of(sb_variable *variable)
{
	return (struct sb_environment){
		.home = variable("HOME"),
		.xdg_config_home = variable("XDG_CONFIG_HOME"),
		.xdg_state_home = variable("XDG_STATE_HOME"),
		.xdg_data_home = variable("XDG_DATA_HOME"),
		.xdg_runtime_dir = variable("XDG_RUNTIME_DIR"),
		.git_global = variable("GIT_CONFIG_GLOBAL"),
		.git_system = variable("GIT_CONFIG_SYSTEM"),
		.tmpdir = variable("TMPDIR"),
		.mode = variable("SANDBASH_MODE"),
		.network = variable("SANDBASH_NETWORK"),
		.secrets = secrets(variable),
		.obeyed = sb_obeyed_by(variable),
		.services = services(variable),
		.variable = variable,
	};
}
