#include "config/variables.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "path/path.h"
#include "policy/secrets.h"

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
#define MAX_MOVED 256 /* credentials in directories that are elsewhere: moved.c */

#define NAMES(variable, beneath, flags)                                                            \
	{                                                                                          \
		variable, beneath, flags                                                           \
	}
#define BENEATH(beneath, variable, flags) NAMES(variable, beneath, flags)

/* Arrays, so that no page of them has to be relocated when the program starts. */
static const struct {
	char variable[40], beneath[32]; /* beneath: "" when the variable names the thing */
	unsigned char flags;            /* of enum sb_secret_flags */
} secret_names[] = {
	/* KRB5CCNAME: FILE:/path, DIR:/path */
	SB_NAMED(NAMES, "", 0, "GNUPGHOME", "KUBECONFIG", "AWS_SHARED_CREDENTIALS_FILE",
		 "AWS_CONFIG_FILE", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG",
		 "GOOGLE_APPLICATION_CREDENTIALS", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig",
		 "NETRC", "KRB5CCNAME", "PGPASSFILE", "PASSWORD_STORE_DIR", "GH_CONFIG_DIR",
		 "RCLONE_CONFIG", "BOTO_CONFIG", "TF_CLI_CONFIG_FILE", "XAUTHORITY", "ICEAUTHORITY",
		 "PULSE_COOKIE", "JUPYTER_RUNTIME_DIR", "EMACS_SERVER_FILE", "SOPS_AGE_KEY_FILE",
		 "HF_TOKEN_PATH", "PIP_CONFIG_FILE", "HELM_REGISTRY_CONFIG", "REGISTRY_AUTH_FILE",
		 "MYSQL_TEST_LOGIN_FILE", "STCONFDIR", "STHOMEDIR", "BITWARDENCLI_APPDATA_DIR",
		 "OP_CONFIG_DIR", "LPASS_HOME"),
	SB_NAMED(NAMES, "", 0, "OCI_CLI_CONFIG_FILE", "BORG_KEYS_DIR", "RESTIC_PASSWORD_FILE",
		 "TELEPORT_HOME", "TALOSCONFIG", "PGSERVICEFILE", "SNOWFLAKE_HOME",
		 "DATABRICKS_CONFIG_FILE", "CLEARML_CONFIG_FILE", "GLAB_CONFIG_DIR", "HUB_CONFIG",
		 "SCW_CONFIG_PATH", "RATTLER_AUTH_FILE", "ELECTRUMDIR", "WEECHAT_HOME",
		 "OS_CLIENT_CONFIG_FILE", "X509_USER_PROXY", "X509_USER_KEY", "BORG_KEY_FILE",
		 "RUSTIC_PASSWORD_FILE", "ANSIBLE_VAULT_PASSWORD_FILE", "HCLOUD_CONFIG",
		 "LINODE_CLI_CONFIG", "PASSAGE_DIR", "PASSAGE_IDENTITIES_FILE", "AGE_IDENTITY",
		 "ADB_VENDOR_KEYS", "ARGOCD_CONFIG_DIR", "VAULT_CONFIG_PATH",
		 "IRODS_AUTHENTICATION_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
	SB_NAMED(NAMES, "", 0, "UV_CREDENTIALS_DIR", "PGSSLKEY", "OCI_CLI_KEY_FILE",
		 "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE",
		 "AZURE_AUTH_LOCATION", "ARM_CLIENT_CERTIFICATE_PATH", "ARM_OIDC_TOKEN_FILE_PATH",
		 "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "GOOGLE_GHA_CREDS_PATH",
		 "GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON",
		 "GCP_SERVICE_ACCOUNT_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
		 "AWS_VAULT_FILE_DIR", "ALIBABA_CLOUD_CREDENTIALS_FILE", "S3CMD_CONFIG",
		 "MODAL_CONFIG_PATH", "ANSIBLE_PRIVATE_KEY_FILE", "ANSIBLE_BECOME_PASSWORD_FILE",
		 "ANSIBLE_CONNECTION_PASSWORD_FILE", "ANSIBLE_GALAXY_TOKEN_PATH",
		 "SOPS_AGE_SSH_PRIVATE_KEY_FILE", "LIBVIRT_AUTH_FILE", "KRB5_KTNAME",
		 "KRB5_CLIENT_KTNAME", "CREDENTIALS_DIRECTORY", "BEARER_TOKEN_FILE"),
	/* client keys of services that run what they are sent, and other keys */
	SB_NAMED(NAMES, "", 0, "CONTAINER_SSHKEY", "CONSUL_CLIENT_KEY", "CONSUL_HTTP_TOKEN_FILE",
		 "NOMAD_CLIENT_KEY", "VAULT_CLIENT_KEY", "BAO_CLIENT_KEY", "ETCDCTL_KEY",
		 "TUNNEL_ORIGIN_CERT", "TUNNEL_CRED_FILE", "RAY_AUTH_TOKEN_PATH",
		 "SIDEROV1_KEYS_DIR", "RESTIC_REPOSITORY_FILE", "KOPIA_CONFIG_PATH",
		 "SNOWFLAKE_PRIVATE_KEY_PATH", "SNOWFLAKE_PRIVATE_KEY_FILE", "PYTHON_GITLAB_CFG",
		 "API_PRIVATE_KEYS_DIR", "APP_STORE_CONNECT_API_KEY_PATH",
		 "APP_STORE_CONNECT_API_KEY_KEY_FILEPATH", "SUPPLY_JSON_KEY", "MINISIGN_CONFIG_DIR",
		 "PULUMI_CONFIG_PASSPHRASE_FILE", "EXOSCALE_CONFIG", "RENDER_CLI_CONFIG_PATH",
		 "MCP_REMOTE_CONFIG_DIR", "OPENCLAW_CONFIG_PATH"),
	/* settings that builds need */
	SB_NAMED(NAMES, "", SB_SECRET_NEEDED, "NPM_CONFIG_GLOBALCONFIG", "npm_config_globalconfig",
		 "HGRCPATH", "TASKRC", "R_ENVIRON_USER", "WGETRC"),
	SB_NAMED(NAMES, "", SB_SECRET_MIXED, "ODBCINI", "UV_CONFIG_FILE", "CONDARC", "HATCH_CONFIG",
		 "PDM_CONFIG_FILE", "HELM_REPOSITORY_CONFIG"),
	{"HELM_CONFIG_HOME", "repositories.yaml", SB_SECRET_MIXED},
	{"PGSYSCONFDIR", "pg_service.conf", SB_SECRET_MIXED},
	{"DOCKER_CERT_PATH", "key.pem"},
	SB_NAMED(BENEATH, "MACHINE_STORAGE_PATH", 0, "machines", "certs"),
	{"CF_HOME", ".cf"},
	{"IBMCLOUD_HOME", ".bluemix"},
	{"BORG_BASE_DIR", ".config/borg/keys"},
	{"BORG_CONFIG_DIR", "keys"},
	{"PULUMI_CREDENTIALS_PATH", "credentials.json"},
	{"DOOMLOCALDIR", "cache/server"},
	SB_NAMED(BENEATH, "TNS_ADMIN", 0, "cwallet.sso", "ewallet.p12"),
	{"N8N_USER_FOLDER", ".n8n"},
	{"AIRFLOW_HOME", "standalone_admin_password.txt"},
	SB_NAMED(BENEATH, "JUPYTER_DATA_DIR", 0, "runtime", "notebook_secret"),
	{"IPYTHONDIR", "profile_default/security"},
	SB_NAMED(BENEATH, "HF_HOME", 0, "token", "stored_tokens"),
	{"POETRY_CONFIG_DIR", "auth.toml"},
	{"INCUS_CONF", "client.key"},
	{"LXD_CONF", "client.key"},
	SB_NAMED(BENEATH, "VSCODE_CLI_DATA_DIR", 0, "token.json", "serve-web-token"),
	{"CAROOT", "rootCA-key.pem"},
	{"MC_CONFIG_DIR", "config.json"},
	{"STEPPATH", "secrets"},
	{"DBT_PROFILES_DIR", "profiles.yml"},
	{"KAGGLE_CONFIG_DIR", "kaggle.json"},
	{"HEX_HOME", "hex.config"},
	{"CONAN_HOME", "credentials.json"},
	{"CONAN_USER_HOME", ".conan/.conan.db"},
	{"HELM_CONFIG_HOME", "registry/config.json"},
	{"FLY_CONFIG_DIR", "config.yml"},
	SB_NAMED(BENEATH, "CURL_HOME", 0, ".netrc", ".curlrc"),
	{"GOPASS_HOMEDIR", ".config/gopass"},
	{"LLM_USER_PATH", "keys.json"},
	{"ANDROID_USER_HOME", "adbkey"},
	SB_NAMED(BENEATH, "MINIKUBE_HOME", 0, "profiles", "machines", "certs", "ca.key",
		 ".minikube/profiles", ".minikube/machines", ".minikube/certs", ".minikube/ca.key"),
	{"DOPPLER_CONFIG_DIR", ".doppler.yaml"},
	{"WRANGLER_HOME", "config"},
	{"GEM_HOME", "credentials"},
	{"MYSQL_HOME", "my.cnf"},
};

struct paths {
	const char *all[sizeof secret_names / sizeof secret_names[0] + MAX_LISTED + MAX_MOVED + 1];
	size_t count;
};

static void add(struct paths *to, const char *path)
{
	to->all[to->count] = path;
	to->count += path != NULL;
}

/* Settings that are not there, or hold no password; only a program's state may be a directory. */
static bool is_harmless(const char *path, unsigned flags)
{
	struct stat info;

	return (flags & SB_SECRET_MIXED) &&
	       (stat(path, &info) != 0 ||
		(S_ISDIR(info.st_mode) && (flags & SB_SECRET_STATE) != SB_SECRET_STATE) ||
		!sb_may_hold_password(AT_FDCWD, path, flags));
}

/* Takes path, which may be NULL. */
static bool add_if_secret(struct paths *to, char *path, unsigned flags)
{
	if (path && is_harmless(path, flags)) {
		free(path);
		return false;
	}
	add(to, path);
	return path != NULL;
}

/* What the table has in the usual directory of a row of moved.c, where it is now. */
static size_t add_moved(struct paths *to, const struct sb_moved *moved, const char *directory,
			size_t most)
{
	size_t rows, length = strlen(moved->usual), added = 0;
	const struct sb_secret *secrets = sb_secrets(moved->base, &rows);

	for (size_t i = 0; i < rows && added < most; i++) {
		const struct sb_secret *one = &secrets[i];
		char *path;

		if (strncmp(one->path, moved->usual, length) != 0 || one->path[length] != '/' ||
		    (one->flags & SB_SECRET_PUBLIC))
			continue;
		if (asprintf(&path, "%s%s%s%s", directory, *moved->beneath ? "/" : "",
			     moved->beneath, one->path + length) < 0)
			continue;
		added += add_if_secret(to, path, one->flags);
	}
	return added;
}

/*
 * Credentials where variables put them.  The strings live as long as the program; what
 * does not fit is not there.
 */
static const char *const *secrets(sb_variable *variable)
{
	static struct paths paths;
	size_t listed = 0, places, left = MAX_MOVED;
	const struct sb_moved *moved = sb_moved_places(&places);

	paths.count = 0;
	for (size_t i = 0; i < sizeof secret_names / sizeof secret_names[0]; i++) {
		const char *value = variable(secret_names[i].variable);
		/* KUBECONFIG is a list, and a kind comes before some secret_names; a file whose name has a colon in it is meant as a whole, too */
		const char *at = value && !*secret_names[i].beneath && strchr(value, ':') ? value
											  : NULL;

		if (value && value[0] == '/')
			add_if_secret(&paths,
				      *secret_names[i].beneath
					      ? sb_path_join(value, secret_names[i].beneath)
					      : strdup(value),
				      secret_names[i].flags);
		for (; at && *at && listed < MAX_LISTED; at += *at == ':') {
			size_t length = strcspn(at, ":");

			add_if_secret(&paths, *at == '/' ? strndup(at, length) : NULL,
				      secret_names[i].flags);
			listed += *at == '/';
			at += length;
		}
	}
	for (size_t i = 0; i < places; i++) {
		const char *value = variable(moved[i].variable);

		if (value && value[0] == '/')
			left -= add_moved(&paths, &moved[i], value, left);
	}
	paths.all[paths.count] = NULL;
	return paths.all;
}

struct sb_environment sb_environment_of(sb_variable *variable)
{
	return (struct sb_environment){
		.home = variable("HOME"),
		.xdg_config_home = variable("XDG_CONFIG_HOME"),
		.xdg_state_home = variable("XDG_STATE_HOME"),
		.xdg_data_home = variable("XDG_DATA_HOME"),
		.xdg_cache_home = variable("XDG_CACHE_HOME"),
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
