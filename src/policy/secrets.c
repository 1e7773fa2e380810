/*
 * The table: one row per name, and whose it is (those of the home directory: secrets_home.c).  Programs that work without a secret get EACCES for it.
 *
 * What is NOT here, and why:
 *   ~/.gitconfig, ~/.claude.json, settings of agents   tools need them to start at all; whoever keeps a
 *       token there closes them with a deny rule
 *   ~/.cabal/config   names passwords in comments, in every copy, and cabal needs it
 *   shell histories, .env files   hold anything; see docs/security.md
 */
#include "policy/secrets.h"

#include <stddef.h>
#include <string.h>

/* Beneath ~/.config. */
static const struct sb_secret config_secrets[] = {
	{"gcloud", "Google Cloud credentials"},
	{"doctl", "DigitalOcean token"},
	{"hcloud", "Hetzner Cloud token"},
	{"containers/auth.json", "container registry logins"},
	{"git/credentials", "git passwords"},
	{"gh", "GitHub token"},
	{"hub", "GitHub token"},
	{"glab-cli", "GitLab token"},
	{"composer/auth.json", "Composer tokens"},
	{"rclone", "cloud storage logins"},
	{"op", "1Password session"},
	{"Bitwarden CLI", "Bitwarden vault"},
	{"keepassxc", "KeePassXC settings and keys"},
	{"google-chrome", "browser profile: cookies and passwords"},
	{"chromium", "browser profile: cookies and passwords"},
	{"BraveSoftware", "browser profile: cookies and passwords"},
	{"microsoft-edge", "browser profile: cookies and passwords"},
	{"vivaldi", "browser profile: cookies and passwords"},

	/* agents and editors */
	{"github-copilot", "Copilot's login", SB_SECRET_FOUND, "copilot"},
	{"cursor/auth.json", "Cursor's login", SB_SECRET_FOUND, "cursor-agent"},
	{"goose/secrets.yaml", "goose's keys", SB_SECRET_FOUND, "goose"},
	{"goose/databricks/oauth", "goose's login", SB_SECRET_FOUND, "goose"},
	{"goose/githubcopilot", "goose's login", SB_SECRET_FOUND, "goose"},
	{"manicode/credentials.json", "Codebuff's login", SB_SECRET_FOUND, "codebuff"},
	{"io.datasette.llm/keys.json", "llm's keys", SB_SECRET_FOUND, "llm"},
	{"fabric/.env", "fabric's keys", SB_SECRET_FOUND, "fabric"},
	{"aichat/config.yaml", "aichat's keys", SB_SECRET_FOUND | SB_SECRET_MIXED, "aichat"},
	{"crush/crush.json", "Crush's keys", SB_SECRET_FOUND | SB_SECRET_MIXED, "crush"},
	{"gptme/config.toml", "gptme's keys", SB_SECRET_FOUND | SB_SECRET_MIXED, "gptme"},
	{"mods/mods.yml", "mods' keys", SB_SECRET_FOUND | SB_SECRET_MIXED, "mods"},
	{"shell_gpt/.sgptrc", "ShellGPT's keys", SB_SECRET_FOUND | SB_SECRET_MIXED, "sgpt"},
	{"TabNine", "Tabnine's login", SB_SECRET_FOUND},
	{"Claude", "Claude Desktop's login and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "editor's state: logins of extensions", SB_SECRET_FOUND,
		 "Code/User/globalStorage", "Code - Insiders/User/globalStorage",
		 "Code - OSS/User/globalStorage", "VSCodium/User/globalStorage",
		 "Cursor/User/globalStorage", "Windsurf/User/globalStorage",
		 "Kiro/User/globalStorage", "Trae/User/globalStorage",
		 "Antigravity/User/globalStorage", "Positron/User/globalStorage"),

	/* browsers, mail and chats */
	SB_NAMED(SB_SECRET, "browser profile: cookies and passwords", SB_SECRET_FOUND,
		 "google-chrome-beta", "google-chrome-unstable", "google-chrome-for-testing"),
	{"httpie/sessions", "logins and cookies of HTTPie", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "browser profile: cookies and passwords", SB_SECRET_FOUND,
		 "google-chrome-canary", "opera", "opera-beta", "opera-developer",
		 "microsoft-edge-beta", "microsoft-edge-dev", "vivaldi-snapshot", "yandex-browser",
		 "thorium", "zen"),
	{"falkon", "browser profile: cookies", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "browser profile: cookies and passwords", SB_SECRET_FOUND, "mozilla",
		 "librewolf", "net.imput.helium"),
	SB_NAMED(SB_SECRET, "mail passwords", SB_SECRET_FOUND, "evolution", "msmtp", "isyncrc",
		 "himalaya", "aerc/accounts.conf"),
	{"mutt/muttrc", "mail passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"neomutt/neomuttrc", "mail passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"offlineimap", "mail passwords", SB_SECRET_FOUND},
	{"getmail", "mail passwords", SB_SECRET_FOUND},
	{"meli/config.toml", "mail passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"vdirsyncer", "calendar passwords", SB_SECRET_FOUND},
	{"calcurse/caldav/config", "calendar passwords", SB_SECRET_FOUND},
	{"protonmail", "mail and passwords", SB_SECRET_FOUND},
	{"Proton Mail", "mail and login", SB_SECRET_FOUND},
	{"Mailspring", "mail and passwords", SB_SECRET_FOUND},
	{"goimapnotify", "mail passwords", SB_SECRET_FOUND},
	{"Slack", "messages and login", SB_SECRET_FOUND},
	{"discord", "messages and login", SB_SECRET_FOUND},
	{"Signal", "messages and keys", SB_SECRET_FOUND},
	{"Signal Beta", "messages and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "messages and login", SB_SECRET_FOUND, "discordcanary", "discordptb",
		 "vesktop", "Microsoft/Microsoft Teams", "teams-for-linux"),
	{"Element", "messages and keys", SB_SECRET_FOUND},
	{"Element-Nightly", "messages and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "messages and login", SB_SECRET_FOUND, "Mattermost", "Rocket.Chat",
		 "Zulip"),
	{"zoom.conf", "Zoom's login", SB_SECRET_FOUND},
	{"zoomus.conf", "Zoom's login", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "messages and passwords", SB_SECRET_FOUND, "weechat", "hexchat",
		 "halloy"),
	{"senpai", "IRC password", SB_SECRET_FOUND},
	{"gajim", "messages and passwords", SB_SECRET_FOUND},
	{"nheko", "messages and keys", SB_SECRET_FOUND},
	{"gomuks", "messages and keys", SB_SECRET_FOUND},
	{"toot", "Mastodon token", SB_SECRET_FOUND},

	/* package managers */
	{"pip/pip.conf", "pip index passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"uv/uv.toml", "package index passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"NuGet/NuGet.Config", "NuGet passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"pnpm/rc", "npm tokens", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"pypoetry/auth.toml", "Poetry passwords", SB_SECRET_FOUND},
	{"helm/registry/config.json", "container registry logins", SB_SECRET_FOUND},
	{"helm/repositories.yaml", "chart repository passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"dart/pub-credentials.json", "pub.dev login", SB_SECRET_FOUND},
	{"binstar", "conda tokens", SB_SECRET_FOUND},
	{"goreleaser", "release tokens", SB_SECRET_FOUND},
	{"pdm/config.toml", "package index passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"hatch/config.toml", "package index passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"cachix", "Cachix token", SB_SECRET_FOUND},
	{"attic", "Attic token", SB_SECRET_FOUND},
	{"coursier/credentials.properties", "Coursier passwords", SB_SECRET_FOUND},
	{"configstore/snyk.json", "Snyk token", SB_SECRET_FOUND},
	{"shopify-cli-kit-nodejs", "Shopify login", SB_SECRET_FOUND},
	{"algolia", "Algolia keys", SB_SECRET_FOUND},
	{"nix/nix.conf", "nix' access tokens", SB_SECRET_FOUND | SB_SECRET_NEEDED},
	{"hg/hgrc", "Mercurial passwords", SB_SECRET_FOUND | SB_SECRET_NEEDED},
	{"ghorg/conf.yaml", "ghorg's tokens", SB_SECRET_FOUND},
	{"pet/config.toml", "pet's gist token", SB_SECRET_FOUND},
	{"opentofu/credentials.tfrc.json", "OpenTofu tokens", SB_SECRET_FOUND},
	{"opentofu/tofurc", "OpenTofu tokens", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"breezy/authentication.conf", "Breezy passwords", SB_SECRET_FOUND},
	{"osc/oscrc", "Open Build Service password", SB_SECRET_FOUND},

	/* clouds and services */
	{"com.vercel.cli", "Vercel token", SB_SECRET_FOUND},
	{"netlify", "Netlify token", SB_SECRET_FOUND},
	{".wrangler", "Cloudflare token", SB_SECRET_FOUND},
	{"configstore/firebase-tools.json", "Firebase token", SB_SECRET_FOUND},
	{"firebase", "Firebase token", SB_SECRET_FOUND},
	{"scw", "Scaleway keys", SB_SECRET_FOUND},
	{"linode-cli", "Linode token", SB_SECRET_FOUND},
	{"vultr-cli.yaml", "Vultr token", SB_SECRET_FOUND},
	{"exoscale", "Exoscale keys", SB_SECRET_FOUND},
	{"openstack", "OpenStack passwords", SB_SECRET_FOUND},
	{"heroku", "Heroku token", SB_SECRET_FOUND},
	{"stripe", "Stripe keys", SB_SECRET_FOUND},
	{"ngrok", "ngrok token", SB_SECRET_FOUND},
	{"argocd", "Argo CD token", SB_SECRET_FOUND},
	{"buildkite", "Buildkite token", SB_SECRET_FOUND},
	{"dart/pub-tokens.json", "tokens of package servers", SB_SECRET_FOUND},
	{"twitch-cli/.twitch-cli.env", "Twitch token", SB_SECRET_FOUND},
	{"gws/credentials.json", "Google Workspace login", SB_SECRET_FOUND},
	{"spotifyd/spotifyd.conf", "Spotify password", SB_SECRET_FOUND},
	{"deluge/auth", "passwords of a service that runs programs", SB_SECRET_FOUND},
	{"curlrc", "curl's passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"atlascli/config.toml", "MongoDB Atlas keys", SB_SECRET_FOUND},
	{"yandex-cloud/config.yaml", "Yandex Cloud token", SB_SECRET_FOUND},
	{"earthengine/credentials", "Earth Engine login", SB_SECRET_FOUND},
	{"gspread", "gspread's Google login", SB_SECRET_FOUND},
	{"clever-cloud/clever-tools.json", "Clever Cloud token", SB_SECRET_FOUND},
	{"newsboat/config", "newsboat's passwords", SB_SECRET_FOUND | SB_SECRET_NEEDED},
	{"task/taskrc", "Taskwarrior's sync secret", SB_SECRET_FOUND | SB_SECRET_NEEDED},
	{"transmission-daemon/settings.json", "Transmission's password", SB_SECRET_FOUND},
	{"hcp", "HashiCorp login", SB_SECRET_FOUND},
	{"ionosctl", "IONOS keys", SB_SECRET_FOUND},
	{"upctl.yaml", "UpCloud password", SB_SECRET_FOUND},
	{"aws-sso", "AWS login", SB_SECRET_FOUND},
	{"k3d", "Kubernetes credentials", SB_SECRET_FOUND},
	{"lxc/client.key", "key to container managers", SB_SECRET_FOUND},
	{"lxc/oidctokens", "logins to container managers", SB_SECRET_FOUND},
	{"incus/client.key", "key to container managers", SB_SECRET_FOUND},
	{"incus/oidctokens", "logins to container managers", SB_SECRET_FOUND},
	{"libvirt/auth.conf", "libvirt passwords", SB_SECRET_FOUND},
	{"lab", "GitLab token", SB_SECRET_FOUND},
	{"tea", "Gitea token", SB_SECRET_FOUND},
	{"hut", "sourcehut token", SB_SECRET_FOUND},
	{".jira", "Jira token", SB_SECRET_FOUND},
	{"acli", "Atlassian token", SB_SECRET_FOUND},
	{"snowflake", "Snowflake password", SB_SECRET_FOUND},
	{"kaggle", "Kaggle key", SB_SECRET_FOUND},
	{"replicate", "Replicate token", SB_SECRET_FOUND},
	{"turso", "Turso token", SB_SECRET_FOUND},
	{"planetscale", "PlanetScale token", SB_SECRET_FOUND},
	{"neonctl", "Neon token", SB_SECRET_FOUND},
	{"edgedb/credentials", "database passwords", SB_SECRET_FOUND},
	{"gel/credentials", "database passwords", SB_SECRET_FOUND},
	{"b2", "Backblaze keys", SB_SECRET_FOUND},
	{"onedrive", "OneDrive login", SB_SECRET_FOUND},
	{"gdrive3", "Google Drive login", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "backup passwords", SB_SECRET_FOUND, "kopia", "rustic", "borgmatic"),
	{"vastai", "Vast.ai key", SB_SECRET_FOUND},
	{"pgcli/config", "database passwords", SB_SECRET_FOUND | SB_SECRET_MIXED},
	{"beekeeper-studio", "database passwords", SB_SECRET_FOUND},
	{"Postman", "Postman's login and keys", SB_SECRET_FOUND},
	{"Insomnia", "Insomnia's login and keys", SB_SECRET_FOUND},
	{"hardhat-nodejs", "wallet", SB_SECRET_FOUND},
	{"filezilla", "FTP passwords", SB_SECRET_FOUND},
	{"remmina", "remote desktop passwords", SB_SECRET_FOUND},
	{"tigervnc", "VNC password", SB_SECRET_FOUND},
	{"kdeconnect", "keys to the user's phone", SB_SECRET_FOUND},
	{"chrome-remote-desktop", "remote desktop keys", SB_SECRET_FOUND},
	{"putty", "SSH sessions and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "SSH logins", SB_SECRET_FOUND, "Termius", "electerm", "asbru"),
	SB_NAMED(SB_SECRET, "remote desktop password", SB_SECRET_FOUND, "rustdesk", "teamviewer",
		 "sunshine"),
	{"wayvnc/config", "VNC password", SB_SECRET_FOUND | SB_SECRET_MIXED},

	/* keys and passwords */
	{"sops/age", "age keys of sops", SB_SECRET_FOUND},
	{"age", "age keys", SB_SECRET_FOUND},
	{"chezmoi/key.txt", "age key of chezmoi", SB_SECRET_FOUND},
	{"borg/keys", "backup keys", SB_SECRET_FOUND},
	{"1Password", "1Password settings and keys", SB_SECRET_FOUND},
	{"Bitwarden", "Bitwarden vault", SB_SECRET_FOUND},
	{"gopass", "password store", SB_SECRET_FOUND},
	{"rbw", "Bitwarden settings", SB_SECRET_FOUND},
	{"Proton Pass", "password store", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "wallet", SB_SECRET_FOUND, "solana", "Exodus", "Ledger Live", "@trezor",
		 "atomic"),

	/* tokens of services on loopback that run code for whoever has them */
	{"pulse/cookie", "sound server's cookie", SB_SECRET_FOUND},
	{"emacs/server", "Emacs' server: evaluates what it is sent", SB_SECRET_FOUND},
	{"code-server/config.yaml", "password of an editor's server", SB_SECRET_FOUND},
	{"syncthing", "key of the Syncthing service", SB_SECRET_FOUND},
	{"obs-studio/plugin_config/obs-websocket", "password of OBS' service", SB_SECRET_FOUND},
};

/* Beneath ~/.local/share. */
static const struct sb_secret data_secrets[] = {
	{"keyrings", "desktop keyring"},
	{"python_keyring", "passwords of pip, twine and others", SB_SECRET_FOUND},
	{"kwalletd", "desktop keyring"},
	{"pki", "certificates and their keys", SB_SECRET_FOUND},
	{"sequoia", "OpenPGP keys", SB_SECRET_FOUND},
	{".IdentityService", "logins to Microsoft's services", SB_SECRET_FOUND},
	{"opencode/auth.json", "opencode's login", SB_SECRET_FOUND, "opencode"},
	{"opencode/mcp-auth.json", "opencode's logins to MCP servers", SB_SECRET_FOUND, "opencode"},
	{"kilo/auth.json", "Kilo Code's login", SB_SECRET_FOUND, "kilo"},
	{"amp/secrets.json", "Amp's login", SB_SECRET_FOUND, "amp"},
	{"crush/crush.json", "Crush's keys", SB_SECRET_FOUND, "crush"},
	{"amazon-q/data.sqlite3", "Amazon Q's login", SB_SECRET_FOUND, "q"},
	{"kiro-cli/data.sqlite3", "Kiro's login", SB_SECRET_FOUND, "kiro-cli"},
	{"code-server/User/globalStorage", "editor's state: logins of extensions", SB_SECRET_FOUND},
	{"com.vercel.cli", "Vercel token", SB_SECRET_FOUND},
	{"uv/credentials", "package index passwords", SB_SECRET_FOUND},
	{"gem/credentials", "RubyGems token", SB_SECRET_FOUND},
	{"gopass", "password store", SB_SECRET_FOUND},
	{"rbw", "Bitwarden vault", SB_SECRET_FOUND},
	{"lpass", "LastPass vault", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "browser profile: cookies", SB_SECRET_FOUND, "qutebrowser", "epiphany",
		 "falkon", "torbrowser"),
	{"evolution", "mail and passwords", SB_SECRET_FOUND},
	{"TelegramDesktop", "messages and login", SB_SECRET_FOUND},
	{"signal-cli", "messages and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "messages and passwords", SB_SECRET_FOUND, "gajim", "profanity",
		 "dino"),
	SB_NAMED(SB_SECRET, "messages and keys", SB_SECRET_FOUND, "fractal", "iamb", "nheko"),
	{"weechat", "messages and passwords", SB_SECRET_FOUND},
	{"geary", "mail", SB_SECRET_FOUND},
	{"DBeaverData", "database passwords", SB_SECRET_FOUND},
	{"lftp/bookmarks", "FTP passwords", SB_SECRET_FOUND},
	{"atuin/key", "key of the shell history", SB_SECRET_FOUND},
	{"atuin/session", "Atuin's login", SB_SECRET_FOUND},
	{"mkcert/rootCA-key.pem", "key of a certificate authority", SB_SECRET_FOUND},
	{"caddy/pki", "key of a certificate authority", SB_SECRET_FOUND},
	{"caddy/certificates", "certificate keys", SB_SECRET_FOUND},
	{"caddy/acme", "certificate keys", SB_SECRET_FOUND},
	{"containers/podman/machine", "keys of virtual machines", SB_SECRET_FOUND},
	{"multipass-client-certificate", "key to virtual machines", SB_SECRET_FOUND},
	{"networkmanagement/certificates", "keys of VPN connections", SB_SECRET_FOUND},
	{"gnome-remote-desktop", "remote desktop password", SB_SECRET_FOUND},
	{"forgejo-cli", "Forgejo token", SB_SECRET_FOUND},
	{"gcalcli/oauth", "Google Calendar login", SB_SECRET_FOUND},
	{"io.parity.ethereum/keys", "wallet", SB_SECRET_FOUND},
	{"Bisq", "wallet", SB_SECRET_FOUND},
	{"Steam/config", "Steam's login", SB_SECRET_FOUND},
	{"PrismLauncher/accounts.json", "Minecraft login", SB_SECRET_FOUND},
	{"remmina", "remote desktop passwords", SB_SECRET_FOUND},
	{"jupyter/runtime", "tokens of running Jupyter servers and kernels", SB_SECRET_FOUND},
	{"jupyter/notebook_secret", "signs notebooks as trusted", SB_SECRET_FOUND},
};

/* Beneath ~/snap: a table of its own, so that one look at the directory answers for all. */
static const struct sb_secret snap_secrets[] = {
	SB_NAMED(SB_SECRET, "browser profile: cookies and passwords", SB_SECRET_FOUND, "firefox",
		 "chromium", "brave", "opera", "vivaldi"),
	{"slack", "messages and login", SB_SECRET_FOUND},
	{"discord", "messages and login", SB_SECRET_FOUND},
	{"signal-desktop", "messages and keys", SB_SECRET_FOUND},
	SB_NAMED(SB_SECRET, "messages and login", SB_SECRET_FOUND, "telegram-desktop",
		 "element-desktop", "teams-for-linux", "mattermost-desktop"),
	{"bitwarden", "Bitwarden vault", SB_SECRET_FOUND},
	{"bw", "Bitwarden vault", SB_SECRET_FOUND},
	{"1password", "1Password settings and keys", SB_SECRET_FOUND},
	{"keepassxc", "KeePassXC settings and keys", SB_SECRET_FOUND},
	{"gh", "GitHub token", SB_SECRET_FOUND},
	{"doctl", "DigitalOcean token", SB_SECRET_FOUND},
	{"lxd/common/config", "keys to container managers", SB_SECRET_FOUND},
	{"multipass", "key to virtual machines", SB_SECRET_FOUND},
	{"syncthing", "key of the Syncthing service", SB_SECRET_FOUND},
	{"dbeaver-ce", "database passwords", SB_SECRET_FOUND},
	{"beekeeper-studio", "database passwords", SB_SECRET_FOUND},
	{"postman", "Postman's login and keys", SB_SECRET_FOUND},
	{"thunderbird", "mail and passwords", SB_SECRET_FOUND},
};

/* Beneath $HOME, names with wildcards; closed where they are there. */
static const struct sb_secret secret_patterns[] = {
	{".cache/bazel/_bazel_*/*/server",
	 "Bazel's server: runs what it is sent; --output_base=DIR gives a run its own"},
	{".config/obs-studio/basic/profiles/*/service.*", "stream key of OBS"},
	{".config/JetBrains/*/c.kdbx", "passwords of the IDE"},
	{".config/JetBrains/*/c.pwd", "passwords of the IDE"},
	{".config/JetBrains/*/user*.token", "token of the IDE's service"},
	{".config/Google/*/c.kdbx", "passwords of the IDE"},
	{".config/Google/*/c.pwd", "passwords of the IDE"},
	{".vscode-server/.*.token", "token of an editor's server"},
	{".vscode-server-insiders/.*.token", "token of an editor's server"},
	{".vscodium-server/.*.token", "token of an editor's server"},
	{".cursor-server/.*.token", "token of an editor's server"},
	{".windsurf-server/.*.token", "token of an editor's server"},
	{".trae-server/.*.token", "token of an editor's server"},
	{".positron-server/.*.token", "token of an editor's server"},
	{".antigravity-server/.*.token", "token of an editor's server"},
	{".kiro-server/.*.token", "token of an editor's server"},
	{".cursor/projects/*/mcp-auth.json", "Cursor's logins to MCP servers"},
	{".openclaw/agents/*/agent/auth-profiles.json", "OpenClaw's logins"},
	{".chef/*.pem", "keys to Chef servers"},
	{".julia/servers/*/auth.toml", "Julia package server login"},
	{".step/authorities/*/secrets", "certificate keys"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const struct sb_secret *sb_secrets(enum sb_secret_base base, size_t *out_count)
{
	switch (base) {
	case SB_SECRETS_HOME:
		*out_count = sb_home_secret_count;
		return sb_home_secrets;
	case SB_SECRETS_CONFIG:
		*out_count = COUNT(config_secrets);
		return config_secrets;
	case SB_SECRETS_DATA:
		*out_count = COUNT(data_secrets);
		return data_secrets;
	case SB_SECRETS_SNAP:
		*out_count = COUNT(snap_secrets);
		return snap_secrets;
	case SB_SECRETS_PATTERNS:
		break;
	}
	*out_count = COUNT(secret_patterns);
	return secret_patterns;
}

const char *sb_secrets_directory(enum sb_secret_base base)
{
	static const char *const directories[] = {
		[SB_SECRETS_HOME] = "",
		[SB_SECRETS_CONFIG] = ".config",
		[SB_SECRETS_DATA] = ".local/share",
		[SB_SECRETS_SNAP] = "snap",
		[SB_SECRETS_PATTERNS] = "",
	};

	return directories[base];
}
