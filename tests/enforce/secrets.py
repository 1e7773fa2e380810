"""P4: credential stores and what the user names are unreadable, by every spelling."""

import os

from attack import ABSENT, CROSSING, act, boxed, refused, signature, unchanged, works
from tap import ALL_VARIANTS, SUPERVISED, check, contains, equal, lacks, run_all, test

STORES = (".ssh/id_ed25519", ".ssh/id_rsa.pub.bak", ".aws/credentials", ".aws/sso/cache/x.json",
          ".gnupg/private-keys-v1.d/x.key", ".netrc", ".kube/config", ".docker/config.json",
          ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".config/gh/hosts.yml",
          ".config/gcloud/credentials.db", ".config/git/credentials", ".cargo/credentials.toml",
          ".local/share/keyrings/login.keyring", ".mozilla/firefox/p/cookies.sqlite",
          ".password-store/x.gpg", ".azure/x.json", ".vault-token", ".erlang.cookie",
          ".gitlab-runner/config.toml")
READABLE = (".ssh/known_hosts", ".ssh/config", ".aws-notes", ".sshx/key", "notes.txt",
            ".docker/daemon.json", ".config/ghx/hosts.yml", ".cargo/config.toml", ".gitconfig")
HIDDEN = CROSSING + ABSENT + ("ENOENT",)


def store(fx):
    for name in STORES + READABLE:
        fx.write(fx.home / name, f"content of {name}\n")


@test("P4 credential stores are unreadable, their neighbours are not", variants=ALL_VARIANTS)
def stores(fx):
    store(fx)
    before = signature(fx.home / ".ssh")
    for name in STORES:
        path = fx.home / name
        refused(boxed(fx, "read", path), HIDDEN, name)
        works(act(fx, "read", path), f"control {name}")
    for name in READABLE:
        result = fx.sandbash("cat", fx.home / name)
        equal(result.stdout, f"content of {name}\n", name)
    unchanged(before, fx.home / ".ssh")


@test("P4 where links in hidden directories lead is hidden, too, and by these names", variants=ALL_VARIANTS)
def behind_links(fx):
    hidden = {".aws/credentials": "dots/aws/credentials", ".ssh/id_rsa": "dots/ssh/id_rsa", ".kube/more/config": "dots/kube",
              ".gnupg/private-keys-v1.d": "dots/gnupg", "closed/uf": "dots/uf"}
    for link, target in hidden.items():
        fx.write(fx.home / target / ("key" if "gnupg" in target else ""), "a key\n")
        (fx.home / link).parent.mkdir(parents=True, exist_ok=True)
        (fx.home / link).symlink_to(fx.home / target)
    fx.write(fx.home / ".ssh/known_hosts", "public\n")
    fx.write(fx.home / "dots/ssh/config", "public\n")
    (fx.home / ".ssh/config").symlink_to("../dots/ssh/config")
    (fx.home / ".ssh/up").symlink_to("..")
    (fx.home / ".ssh/project").symlink_to(fx.project)
    (fx.home / ".ssh/system").symlink_to("/etc/passwd")
    fx.write(fx.home / "dots/aws/notes", "notes\n")
    names = [name for pair in hidden.items() for name in pair]
    for name in names:
        path = fx.home / name / ("key" if "gnupg" in name or "private" in name else "")
        works(act(fx, "read", path), f"control {name}")
        refused(boxed(fx, "read", path, flags=[f"--deny={fx.home}/closed"]), HIDDEN, name)
    for name in ("dots/ssh/config", ".ssh/known_hosts", "dots/aws/notes"):
        equal(fx.sandbash(f"--deny={fx.home}/closed", "cat", fx.home / name).status, 0, f"neighbour {name}")
    equal(fx.sandbash("sh", "-c", "cat /etc/passwd >/dev/null && touch here").status, 0, "neighbour")
    contains(fx.sandbash("--explain", str(fx.home / ".aws/credentials")).stdout, "deny", "the same answer")
    equal(fx.sandbash(f"--allow-read={fx.home}/dots", "cat", fx.home / "dots/uf").status, 0, "a rule of the user's opens it")


COPIES = (".netrc~", ".netrc.~2~", ".netrc.swp", ".netrc.swo", ".netrc.bak", ".netrc.orig", ".netrc.old", ".netrc.save", ".netrc.tmp.7",
          ".netrc.lock", ".netrc-bak", ".netrc_old", "#.netrc#", ".netrc.1", ".pgpass.backup", ".ssh.bak/id_rsa", ".gnupg-old/key",
          ".claude/.credentials.json.bak", ".claude/.credentials.json~", ".codex/auth.json~", ".codex/.auth.json.swp",
          ".cargo/credentials.toml.orig", ".config/git/credentials~", ".config/gh.bak/hosts.yml", ".local/share/uv/credentials.old/x")
NO_COPIES = ("notes~", "notes.bak", ".bashrc~", ".netrcs~", ".netrc.md", ".netrc-howto", ".claude/settings.json.bak", ".codex/notes.swp",
             ".curlrc.bak", ".config/ghx.bak", ".android/adbkey.pub")


@test("P4 copies that lie beside credentials are unreadable, also where these are gone", variants=ALL_VARIANTS)
def copies(fx):
    for name in COPIES + NO_COPIES + (".netrc", ".claude/.credentials.json", ".codex/auth.json"):
        fx.write(fx.home / name, f"content of {name}\n")
    fx.write(fx.home / ".wgetrc.bak", "password=x\n")
    fx.write(fx.home / ".pypirc.lock", "")
    names = "\n".join(str(fx.home / name) for name in COPIES + (".wgetrc.bak",))
    loop = ["sh", "-c", 'echo "$1" | while read -r name; do cat "$name" 2>&1 >/dev/null && echo "READ $name"; done', "sh"]
    equal(fx.run(*loop, names).stdout.count("READ"), len(COPIES) + 1, "the control")
    result = fx.sandbash(*loop, names)
    lacks(result.stdout, "READ", result.stderr)
    for name in NO_COPIES:
        equal(fx.sandbash("cat", fx.home / name).stdout, f"content of {name}\n", f"neighbour {name}")
    equal(fx.sandbash("cat", fx.home / ".pypirc.lock").status, 0, "an empty one hides nothing")
    if fx.variant != "nested":
        equal(fx.sandbash(f"--allow-read={fx.home}/.netrc.bak", "cat", fx.home / ".netrc.bak").status, 0, "a rule of the user's opens it")


@test("P4 KUBECONFIG is a list of files, KRB5CCNAME may say their kind", variants=ALL_VARIANTS)
def lists(fx):
    for name in ("k/one", "k/two", "k/other", "beside"):
        fx.write(fx.home / name, "cluster\n")
    env = {"KUBECONFIG": f"{fx.home}/k/one:relative:{fx.home}/k/two:"}
    for name in ("k/one", "k/two"):
        check(fx.sandbash("cat", fx.home / name, env=env).status != 0, name)
        equal(fx.sandbash("cat", fx.home / name).status, 0, f"control {name}")
    equal(fx.sandbash("cat", fx.home / "k/other", env=env).status, 0, "neighbour")
    for value, name in (("FILE:%s/k/one", "k/one"), ("%s/k/one", "k/one"), ("DIR:%s/k", "k/two")):
        env = {"KRB5CCNAME": value % fx.home}
        check(fx.sandbash("cat", fx.home / name, env=env).status != 0, value)
        equal(fx.sandbash("cat", fx.home / "beside", env=env).status, 0, "neighbour")


# Whoever adds a row to src/policy/secrets.c may add its name here.
MORE = (".cache/ms-playwright/mcp-chrome-profile/Default/Cookies", ".cache/chrome-devtools-mcp/chrome-profile/Default/Cookies", ".fastlane/spaceship/me/cookie",
        ".config/heroic/gog_store/auth.json", ".config/depot/depot.yaml", ".config/nats/context/x.json", ".config/xh/sessions/host/x.json",
        ".config/v2ray/config.json", ".config/gsconnect/private.pem", ".local/share/gnupg/private-keys-v1.d/x.key", ".local/share/barrier/SSL/Barrier.pem",
        ".gmail-mcp/credentials.json", ".mux/providers.jsonc", "forge/.credentials.json", ".prefect/profiles.toml", ".dropbear/id_dropbear",
        ".cisco/certificates/client/private/x.key", ".devpod/contexts/default/x",
        ".config/erlang/.erlang.cookie", ".ipython/profile_mine/security/ipcontroller.json", ".claude/ide/1234.lock",
        ".cache/JetBrains/Idea2023/token", ".m2/mvnd/registry/1.0/registry.bin", ".emulator_console_auth_token",
        ".globus/userkey.pem", ".irods/.irodsA", ".aws-vault/keys/x", ".vault_pass", ".config/restic/password", ".twurlrc",
        ".config/nix/netrc", ".config/Code/Cookies", ".credentials/x.json",
        ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".gemini/.env",
        ".qwen/oauth_creds.json", ".local/share/opencode/auth.json", ".config/github-copilot/apps.json",
        ".copilot/config.json", ".config/cursor/auth.json", ".local/share/amp/secrets.json",
        ".config/goose/secrets.yaml", ".config/Code/User/globalStorage/state.vscdb",
        ".config/Cursor/User/globalStorage/state.vscdb", ".vscode-server/data/User/globalStorage/x",
        "snap/firefox/common/.mozilla/firefox/p/logins.json", "snap/chromium/common/Cookies",
        ".var/app/org.mozilla.firefox/.mozilla/firefox/p/logins.json", ".mcp-auth/x/tokens.json",
        ".config/pypoetry/auth.toml", ".hex/hex.config", ".pulumi/credentials.json",
        ".local/share/com.vercel.cli/auth.json", ".config/netlify/config.json",
        ".config/.wrangler/config/default.toml", ".aliyun/config.json", ".config/sops/age/keys.txt",
        ".config/age/key", ".cache/huggingface/token", ".railway/config.json",
        ".config/configstore/firebase-tools.json", ".mylogin.cnf", ".authinfo", ".msmtprc",
        ".Xauthority", ".ICEauthority", ".config/pulse/cookie", ".snap/auth/auth.json", ".local/share/python_keyring/keyring_pass.cfg",
        ".earthly/auth.json", ".slack/credentials.json", ".confluent/config.json", ".config/osc/oscrc", ".oscrc", ".openhands/settings.json",
        ".puppetlabs/token", ".dogrc", ".config/gws/credentials.json", ".cifs-credentials", ".config/calcurse/caldav/config",
        ".config/spotifyd/spotifyd.conf", ".config/obs-studio/basic/profiles/Mine/service.json", ".fedora.cert", ".dbus-keyrings/x",
        ".rclone.conf", "_netrc", ".config/atlascli/config.toml", ".config/yandex-cloud/config.yaml", ".config/earthengine/credentials",
        ".config/gspread/service_account.json", ".ansible/galaxy_token", ".config/clever-cloud/clever-tools.json", ".config/ghorg/conf.yaml",
        ".config/pet/config.toml", ".lftp/bookmarks", ".wakatime.cfg", ".config/transmission-daemon/settings.json",
        ".local/share/jupyter/runtime/jpserver-1.json", ".emacs.d/server/server",
        ".config/emacs/server/server", ".gradle/daemon/8.5/registry.bin",
        ".ipython/profile_default/security/x.json", ".config/code-server/config.yaml",
        ".cache/bazel/_bazel_me/0123/server/request_cookie", ".config/JetBrains/Idea2026/c.kdbx",
        ".config/JetBrains/Idea2026/user.web.token", ".vscode-server/.abc.token",
        ".cursor/projects/p/mcp-auth.json", ".vscode-server/data/token",
        ".local/state/syncthing/key.pem", ".config/incus/client.key", ".minikube/ca.key",
        "snap/slack/current/x", ".subversion/auth/svn.simple/x", ".config/Element/x",
        ".local/share/atuin/key", ".local/share/mkcert/rootCA-key.pem", ".lnd/data/x",
        ".openclaw/agents/main/agent/auth-profiles.json", ".weechat/sec.conf", ".config/kopia/x",
        ".google_authenticator", ".influxdbv2/configs", ".clickhouse-client/config.xml", ".cvspass", ".w3m/passwd",
        ".config/httpie/sessions/h/s.json", ".local/share/pki/nssdb/key4.db", ".local/share/.IdentityService/msal.cache",
        ".letta/settings.json", ".mux/secrets.json", "forge/.credentials.json", ".grok/auth.json", ".gmail-mcp/credentials.json",
        ".fastmcp/oauth-mcp-client-cache/x", ".cache/chrome-devtools-mcp/chrome-profile/Cookies", ".cache/ms-playwright/mcp-chrome/Cookies",
        ".edgerc", ".appstoreconnect/private_keys/AuthKey_X.p8", ".private_keys/AuthKey_X.p8", ".paperspace/config.json", ".beam/config.ini",
        ".steampipe/config/aws.spc", ".cdsapirc", ".ncftp/bookmarks", ".task/private.key.pem", ".ansible/vault_pass", ".config/pnpm/auth.ini",
        ".config/fastly/config.toml", ".config/dagger/credentials.json", ".claude/backups/.claude.json.backup.1", ".claude-code-router/config.json",
        ".config/claude/.credentials.json",
        ".config/anthropic/credentials/x.json", ".config/GitKraken/x", ".config/Ferdium/x", ".config/nats/context/x.json", ".config/coderv2/session",
        ".config/depot/depot.yaml", ".config/hex/hex.config", ".config/copr", ".local/share/binstar/x.token", ".local/share/gnupg/x", ".dropbear/id_dropbear",
        ".docker/key.pem", ".docker/machine/machines/default/id_rsa", ".earthly/certs/earthly_key.pem", ".earthly/auth.credentials",
        ".config/earthly/auth.credentials", ".chef/encrypted_data_bag_secret", ".hab/cache/keys/x.sig.key", ".condor/tokens.d/x", ".ray/auth_token",
        "actions-runner/.credentials_rsaparams", ".postgresql/postgresql.key", ".dolt/creds/x.jwk", ".duckdb/stored_secrets/x", ".kasmpasswd",
        ".tezos-client/secret_keys", ".tarsnap.key", ".emacs.d/var/server/auth/server", ".config/emacs/.local/cache/server/server",
        ".buck/buckd/p/v2/buckd.info", ".jenkins/secrets/master.key", ".node-red/.sessions.json", ".n8n/config", ".homeassistant/.storage/auth",
        ".octoprint/users.yaml", ".sabnzbd/sabnzbd.ini", ".kodi/userdata/guisettings.xml", ".tor/control_auth_cookie", ".cline/data/settings/providers.json",
        ".kimi-code/credentials/x.json", ".config/deluge/hostlist.conf", ".config/deluge/hostlist.conf.1.2", ".config/Sonarr/config.xml", ".config/R/rsconnect/accounts/s.io/me.dcf",
        ".config/notation/localkeys/x.key", ".local/share/containers/storage/secrets/filedriver/secretsdata.json", ".local/share/juju/accounts.yaml",
        ".local/share/livebook/livebook_config.ets", ".sbt/1.0/server/0a1b/token.json", ".config/dfx/identity/default/identity.pem",
        ".config/containers/certs.d/host/client.key", ".docker/certs.d/host/client.key", "airflow/simple_auth_manager_passwords.json.generated",
        ".config/transmission/settings.json", ".talos/keys/x.pgp", ".flyrc", ".govmomi/sessions/x", ".rsconnect-python/servers.json",
        ".fastlane/spaceship/me/cookie", ".gaia/keyring-file/x", ".config/sing-box/config.json", ".streamlit/secrets.toml", ".local/share/gurk/x",
        ".cache/ms-playwright-mcp/p/Cookies", ".config/google-chrome-for-testing/Default/Cookies", ".chef/me.pem", ".sfdx/me@example.org.json", ".sfdx/key.json")
BESIDE = (".docker/cert.pem", ".docker/ca.pem", ".docker/certs.d/host/ca.crt", ".earthly/x", ".hab/x", ".condor/x", ".ray/x", "actions-runner/run.sh",
          ".postgresql/postgresql.crt", ".dolt/x", ".emacs.d/var/x", ".config/emacs/.local/cache/x", ".buck/x", ".jenkins/config.xml",
          ".node-red/flows.json", ".octoprint/x", ".kodi/userdata/x", ".sbt/1.0/server/0a1b/x", ".sbt/1.0/plugins/x", ".config/dfx/networks.json",
          ".config/containers/registries.conf", ".jupyter/lab/x", ".cline/data/x", ".config/R/x", ".local/share/containers/storage/x", "airflow/airflow.cfg",
          ".beam/x", ".steampipe/x", ".task/pending.data", ".config/fastly/x", ".config/dagger/x", ".claude-code-router/x", ".config/claude/x",
          ".cache/ms-playwright/chromium-1/chrome", ".config/anthropic/x", ".letta/x", "forge/x", ".config/nats/x", ".streamlit/config.toml", ".gaia/config/x",
          ".ansible/collections/x", ".config/earthengine/x", ".lftp/rc", ".config/clever-cloud/x", ".confluent/notes", ".config/calcurse/conf", ".config/obs-studio/basic/profiles/Mine/basic.ini", ".earthly/config.yml",
          ".claude/settings.json", ".codex/config.toml", ".gemini/settings.json",
          ".local/share/opencode/state", ".config/Code/User/settings.json", "snap/other/common/x",
          ".config/configstore/other.json", ".cache/huggingface/hub/model", ".emacs.d/init.el",
          ".gradle/caches/x", ".local/share/jupyter/kernels/x.json", ".cursor/projects/p/x.json",
          ".cache/bazel/_bazel_me/0123/execroot/x", ".vscode-server/x", ".config/pulse/client.conf",
          ".cache/ms-playwright/chromium-1/x", ".fastlane/x", ".config/heroic/config.json", ".config/nats/x", ".devpod/x", ".cisco/x",
          ".vscode-server/data/x", ".local/state/x", ".config/incus/config.yml", ".subversion/config",
          ".minikube/ca.crt", ".local/share/atuin/history.db", ".local/share/mkcert/rootCA.pem",
          ".openclaw/agents/main/x", ".config/httpie/config.json", ".w3m/history", ".chef/config.rb", ".sfdx-notes", "project/.sfdx/sfdx-config.json")


def readable(fx, names, *flags, env=None):
    """Those of names whose contents a command gets to see."""
    script = 'for f; do cat "$f" >/dev/null 2>&1 && echo "$f"; done; true'
    result = fx.sandbash(*flags, "sh", "-c", script, "-", *[fx.home / n for n in names], env=env)
    works(result)
    return [os.path.relpath(line, fx.home) for line in result.stdout.splitlines()]


@test("P4 logins of agents, tokens of services and other stores are unreadable",
      variants=ALL_VARIANTS)
def more_stores(fx):
    for name in MORE + BESIDE:
        fx.write(fx.home / name, f"content of {name}\n")
    equal(readable(fx, MORE + BESIDE), list(BESIDE))
    for name in MORE:
        works(act(fx, "read", fx.home / name), f"control {name}")
    if fx.variant == "nested":  # what the outer run hides the inner one cannot show
        return
    opened = [".claude/.credentials.json", ".cache/bazel/_bazel_me/0123/server/request_cookie"]
    equal(readable(fx, MORE, *[f"--allow-read={fx.home / name}" for name in opened]), opened)


MIXED = (".claude.json", ".claude/.claude.json", ".claude.json.backup", ".config/claude/.claude.json", ".config/dvc/config", ".m2/settings.xml", ".gradle/gradle.properties", ".config/pip/pip.conf",
         ".nuget/NuGet/NuGet.Config", ".bundle/config", ".condarc", ".terraformrc", ".config/mycli/myclirc", ".local/share/scalacli/secrets/config.json")


@test("P4 settings that builds need are hidden if they hold a password", variants=ALL_VARIANTS)
def mixed(fx):
    for name in MIXED:
        fx.write(fx.home / name, "parallel=true\nthreads = 4\n")
    equal(readable(fx, MIXED), list(MIXED))
    for secret in ("<password>x</password>", "repoPwd=x", "url = https://me:x@host/", "_authToken=x", '{"primaryApiKey":"sk-ant-x"}',
                   '{"mcpServers":{"x":{"env":{"GITHUB_TOKEN":"x"}}}}'):
        for name in MIXED:
            fx.write(fx.home / name, f"parallel=true\n{secret}\n")
        equal(readable(fx, MIXED), [], secret)
    if fx.variant != "nested":
        shown = readable(fx, MIXED, f"--allow-read={fx.home}/.m2/settings.xml")
        equal(shown, [".m2/settings.xml"])


NEEDED = (".hgrc", ".config/hg/hgrc", ".config/nix/nix.conf", ".taskrc", ".newsboat/config", ".jupyter/jupyter_server_config.py", ".jupyter/jupyter_notebook_config.json",
          ".jupyter/jupyter_lab_config.py", ".aria2/aria2.conf", ".config/aria2/aria2.conf", ".chef/credentials", ".config/qBittorrent/qBittorrent.conf")


@test("P4 settings that name users and public keys are hidden for a password or token alone", variants=ALL_VARIANTS)
def needed(fx):
    for text, shown in (("[ui]\nusername = me <me@example.org>\ntrusted-public-keys = x\n", list(NEEDED)),
                        ("[auth]\nx.password = x\n", []), ("access-tokens = github.com=x\n", []), ("sync.encryption_secret=x\n", []), ("rpc-secret=x\n", []),
                        ("c.ServerApp.token = 'x'\n", []), ('{"ServerApp": {"password": "argon2:x"}}', [])):
        for name in NEEDED:
            fx.write(fx.home / name, text)
        equal(readable(fx, NEEDED), shown, text)
        for name in NEEDED:
            works(act(fx, "read", fx.home / name), f"control {name}")


@test("P4 what the environment names is unreadable, and what XDG directories hold",
      variants=("full", "flat"))
def named_places(fx):
    named = {"XAUTHORITY": "x/cookie", "JUPYTER_RUNTIME_DIR": "jup", "SOPS_AGE_KEY_FILE": "keys/age",
             "CLAUDE_CONFIG_DIR": "cl", "CODEX_HOME": "cx", "HF_HOME": "hf",
             "GRADLE_USER_HOME": "gr", "CAROOT": "ca", "XDG_STATE_HOME": "st", "INCUS_CONF": "inc",
             "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "cfg", "QWEN_HOME": "qw", "CONAN_HOME": "co",
             "X509_USER_PROXY": "proxy.pem", "MINIKUBE_HOME": "mini", "HERMES_HOME": "her", "VIBE_HOME": "vb", "PI_CODING_AGENT_DIR": "pi",
             "KIMI_SHARE_DIR": "kimi", "XDG_CACHE_HOME": "cc", "VAGRANT_HOME": "vg", "PUB_CACHE": "pub", "FOUNDRY_DIR": "fd", "AWS_WEB_IDENTITY_TOKEN_FILE": "web.jwt"}
    hidden = ("x/cookie", "jup/nbserver-1.json", "keys/age", "cl/.credentials.json", "cx/auth.json",
              "hf/token", "gr/daemon/x", "data/opencode/auth.json", "data/jupyter/runtime/x.json",
              "data/keyrings/x", "cfg/github-copilot/apps.json", "cfg/glab-cli/x",
              "ca/rootCA-key.pem", "st/syncthing/key.pem", "inc/client.key", "qw/oauth_creds.json", "co/credentials.json",
              "proxy.pem", "mini/profiles/x/client.key", "cl/ide/1.lock", "her/.env", "her/auth.json", "vb/.env", "pi/auth.json", "kimi/credentials/x",
              "cc/huggingface/token", "vg/data/vagrant_login_token", "pub/credentials.json", "fd/keystores/x", "web.jwt")
    beside = ("x/other", "keys/other", "cl/settings.json", "hf/hub", "data/other", "cfg/other",
              "ca/rootCA.pem", "st/other", "inc/config.yml", "qw/settings.json", "co/profiles/default", "mini/cache/x", "her/config.yaml", "vb/config.toml", "pi/settings.json",
              "cc/huggingface/hub", "vg/boxes/x", "pub/hosted/x", "fd/cache/x")
    env = {name: fx.home / where for name, where in named.items()}
    for name in hidden + beside:
        fx.write(fx.home / name, "x")
    equal(readable(fx, hidden + beside, env=env), list(beside))
    equal(readable(fx, hidden), list(hidden))  # control


# variable, what it names of the home directory's table there, what lies beside it
MOVED = (("HERMES_HOME", "auth.json", "notes"), ("VIBE_HOME", ".env", "config.toml"), ("KIMI_SHARE_DIR", "credentials/x.json", "logs/x"),
         ("PI_CODING_AGENT_DIR", "auth.json", "settings.json"),
         ("XDG_CACHE_HOME", "huggingface/token", "huggingface/hub/x"),
         ("GRADLE_USER_HOME", "gradle.properties", "caches/x"), ("BUNDLE_USER_HOME", "config", "cache/x"), ("CARGO_HOME", "credentials.toml", "registry/x"),
         ("VAGRANT_HOME", "data/vagrant_login_token", "boxes/x"), ("PUB_CACHE", "credentials.json", "hosted/x"), ("COPILOT_HOME", "config.json", "logs/x"),
         ("WANDB_CONFIG_DIR", "settings", "x"), ("FOUNDRY_DIR", "keystores/x", "cache/x"), ("DOCKER_CONFIG", "config.json", "daemon.json"),
         ("COMPOSER_HOME", "auth.json", "config.json"), ("PULUMI_HOME", "credentials.json", "plugins/x"), ("MYSQL_HOME", "my.cnf", "x"),
         ("GEMINI_CLI_HOME", ".gemini/oauth_creds.json", ".gemini/settings.json"), ("KIMI_CODE_HOME", "credentials/x.json", "logs/x"),
         ("GROK_HOME", "auth.json", "skills/x"), ("OPENCLAW_STATE_DIR", "credentials/x", "logs/x"), ("CONTINUE_GLOBAL_DIR", ".env", "sessions/x"),
         ("CLINE_DIR", "data/secrets.json", "data/tasks/x"), ("CLINE_DATA_DIR", "settings/providers.json", "tasks/x"),
         ("CRUSH_GLOBAL_CONFIG", "crush.json", "x"), ("CRUSH_GLOBAL_DATA", "crush.json", "projects.json"),
         ("JUPYTER_CONFIG_DIR", "jupyter_server_config.json", "lab/x"), ("JENKINS_HOME", "secrets/x", "config.xml"),
         ("DOCKER_CERT_PATH", "key.pem", "cert.pem"), ("MACHINE_STORAGE_PATH", "machines/x/id_rsa", "cache/x"), ("CF_HOME", ".cf/config.json", "x"),
         ("IBMCLOUD_HOME", ".bluemix/config.json", "x"), ("BORG_BASE_DIR", ".config/borg/keys/x", ".cache/x"), ("BORG_CONFIG_DIR", "keys/x", "security/x"),
         ("PULUMI_CREDENTIALS_PATH", "credentials.json", "x"), ("DOOMLOCALDIR", "cache/server/x", "cache/x"), ("TNS_ADMIN", "cwallet.sso", "tnsnames.ora"),
         ("N8N_USER_FOLDER", ".n8n/config", "x"), ("AIRFLOW_HOME", "standalone_admin_password.txt", "airflow.cfg"),
         ("HELM_CONFIG_HOME", "repositories.yaml", "x"), ("PGSYSCONFDIR", "pg_service.conf", "psqlrc"))
# of files and directories that a variable names itself
KEYS = """UV_CREDENTIALS_DIR PGSSLKEY OCI_CLI_KEY_FILE AZURE_CLIENT_CERTIFICATE_PATH AZURE_FEDERATED_TOKEN_FILE AZURE_AUTH_LOCATION
ARM_CLIENT_CERTIFICATE_PATH ARM_OIDC_TOKEN_FILE_PATH CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE GOOGLE_GHA_CREDS_PATH GOOGLE_CREDENTIALS
GOOGLE_CLOUD_KEYFILE_JSON GCLOUD_KEYFILE_JSON GCP_SERVICE_ACCOUNT_FILE AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_VAULT_FILE_DIR
ALIBABA_CLOUD_CREDENTIALS_FILE S3CMD_CONFIG MODAL_CONFIG_PATH ANSIBLE_PRIVATE_KEY_FILE ANSIBLE_BECOME_PASSWORD_FILE ANSIBLE_CONNECTION_PASSWORD_FILE
ANSIBLE_GALAXY_TOKEN_PATH SOPS_AGE_SSH_PRIVATE_KEY_FILE LIBVIRT_AUTH_FILE KRB5_KTNAME KRB5_CLIENT_KTNAME CREDENTIALS_DIRECTORY BEARER_TOKEN_FILE
CONTAINER_SSHKEY CONSUL_CLIENT_KEY CONSUL_HTTP_TOKEN_FILE NOMAD_CLIENT_KEY VAULT_CLIENT_KEY BAO_CLIENT_KEY ETCDCTL_KEY TUNNEL_ORIGIN_CERT
TUNNEL_CRED_FILE RAY_AUTH_TOKEN_PATH SIDEROV1_KEYS_DIR RESTIC_REPOSITORY_FILE KOPIA_CONFIG_PATH SNOWFLAKE_PRIVATE_KEY_PATH SNOWFLAKE_PRIVATE_KEY_FILE
PYTHON_GITLAB_CFG API_PRIVATE_KEYS_DIR APP_STORE_CONNECT_API_KEY_PATH APP_STORE_CONNECT_API_KEY_KEY_FILEPATH SUPPLY_JSON_KEY MINISIGN_CONFIG_DIR
PULUMI_CONFIG_PASSPHRASE_FILE EXOSCALE_CONFIG RENDER_CLI_CONFIG_PATH MCP_REMOTE_CONFIG_DIR OPENCLAW_CONFIG_PATH""".split()
SETTINGS = """NPM_CONFIG_GLOBALCONFIG npm_config_globalconfig HGRCPATH TASKRC R_ENVIRON_USER WGETRC ODBCINI UV_CONFIG_FILE CONDARC HATCH_CONFIG
PDM_CONFIG_FILE HELM_REPOSITORY_CONFIG""".split()


@test("P4 a variable that moves a directory moves what the table hides in it", variants=("full", "flat"))
def moved_homes(fx):
    hidden = [f"m/{variable}/{name}" for variable, name, _ in MOVED] + ["m/token"]
    beside = [f"m/{variable}/{name}" for variable, _, name in MOVED]
    env = {variable: fx.home / "m" / variable for variable, _, _ in MOVED} | {"AWS_WEB_IDENTITY_TOKEN_FILE": fx.home / "m/token"}
    for name in hidden + beside:
        fx.write(fx.home / name, "password=x\n")
    equal(readable(fx, hidden + beside, env=env), beside)
    equal(readable(fx, hidden), hidden, "the control")
    fx.write(fx.home / "m/GRADLE_USER_HOME/gradle.properties", "parallel=true\n")
    equal(readable(fx, ["m/GRADLE_USER_HOME/gradle.properties"], env=env), ["m/GRADLE_USER_HOME/gradle.properties"], "no password in it")


@test("P4 keys and tokens that a variable names are unreadable, settings if they hold a password", variants=("full", "flat"))
def named_keys(fx):
    env = {name: fx.home / "k" / name for name in KEYS + SETTINGS} | {"KRB5_KTNAME": f"FILE:{fx.home}/k/KRB5_KTNAME"}
    names = [f"k/{name}/key" if name.endswith(("_DIR", "DIRECTORY")) else f"k/{name}" for name in KEYS]
    settings = [f"k/{name}" for name in SETTINGS]
    for name in names + settings + ["k/beside"]:
        fx.write(fx.home / name, "parallel=true\n")
    equal(readable(fx, names + settings + ["k/beside"], env=env), settings + ["k/beside"])
    for name in settings:
        fx.write(fx.home / name, "password=x\n")
    equal(readable(fx, names + settings + ["k/beside"], env=env), ["k/beside"])
    equal(readable(fx, names + settings), names + settings, "the control")
    (fx.home / "k/HGRCPATH").unlink()
    fx.write(fx.home / "k/HGRCPATH/x.rc", "[ui]\n")
    equal(readable(fx, ["k/HGRCPATH/x.rc"], env={"HGRCPATH": fx.home / "k/HGRCPATH"}), ["k/HGRCPATH/x.rc"], "a directory of settings")


@test("S9 the record of earlier runs is unreadable, whatever a rule says", variants=ALL_VARIANTS)
def record(fx):
    state = fx.home / ".local/state/sandbash"
    works(fx.sandbash("true", variant="full"))
    fx.write(state / "log" / "old.jsonl", "password")
    name = ".local/state/sandbash/log/old.jsonl"
    fx.write(fx.home / ".local/state/other", "x")
    flag_sets = [(), (f"--allow-read={state}",)]
    if SUPERVISED or fx.variant != "flat":  # there such a run is refused
        flag_sets.append((f"--allow-write={fx.home / '.local'}",))
    for flags in flag_sets:
        equal(readable(fx, (name, ".local/state/other"), *flags), [".local/state/other"], str(flags))
    works(act(fx, "read", fx.home / name), "control")
    refused(boxed(fx, "open", "wronly+creat", state / "log" / "new"), HIDDEN)


@test("an agent whose login is hidden is told of, with an option that works")
def told_login(fx):
    login = fx.write(fx.home / ".claude/.credentials.json", "key")
    fx.write("claude", "#!/bin/sh\ncat ~/.claude/.credentials.json\n").chmod(0o755)
    for flags in (("--profile=none",), ("--profile=none", "--static")):
        result = fx.sandbash(*flags, "./claude")
        equal(result.status, 1)
        contains(result.stderr, "the login of 'claude' is hidden in this run")
        contains(result.stderr, f"--allow-read={login}")
        result = fx.sandbash(*flags, f"--allow-read={login}", "./claude")
        equal((result.stdout, result.stderr), ("key", ""))
    lacks(fx.sandbash("--quiet", "./claude").stderr, "--allow-read")
    lacks(fx.sandbash("true").stderr, "--allow-read")


SPELLINGS = (
    "read {s}",
    "open rdonly+nofollow {s}",
    "openat2 rdonly {s}",
    "read /proc/self/root{s}",
    "read /proc/self/cwd/{r}",
    "read to-home/.netrc",
    "read to-file",
    "read ../../home/./.netrc",
    "reopen path /proc/self/fd {s}",
    "link path {s} alias",
    "link proc {s} alias",
    "rename plain {s} alias",
    "rename exchange {s} own",
    "copy range {s} own",
    "copy sendfile {s} own",
    "mmap {s}",
)


@test("P4 no spelling or system call leads to a secret", variants=ALL_VARIANTS)
def spellings(fx):
    secret = fx.write(fx.home / ".netrc", "password")
    other = fx.write(fx.home / "netrc", "plain")
    fx.write("own", "own")
    fx.path("to-home").symlink_to(fx.home)
    fx.path("to-file").symlink_to(secret)
    before = signature(secret)
    for template in SPELLINGS:
        words = template.format(s=secret, r=os.path.relpath(secret, fx.project)).split()
        refused(boxed(fx, *words), HIDDEN, template)
        check(not fx.exists("alias"))
    unchanged(before, secret)
    equal(fx.read("own"), "own")
    works(boxed(fx, "read", other))
    for template in ("read {}", "link path {} alias", "read to-file"):
        works(act(fx, *template.format(secret).split()), f"control {template}")


@test("P4 a store as a directory: not listed, entered or searched", variants=ALL_VARIANTS)
def directories(fx):
    fx.write(fx.home / ".aws" / "credentials", "x")
    fx.write(fx.home / "plain" / "file", "x")
    result = fx.sandbash("sh", "-c",
                         'cat ~/.aws/* ~/.aws/credentials; cd ~/.aws && cat credentials;'
                         ' find ~/.aws -type f -exec cat {} +; tar cf - -C ~ .aws | tar xOf -')
    equal(result.stdout, "")
    refused(boxed(fx, "openat", "path", fx.home / ".aws", "credentials"), HIDDEN)
    works(fx.run("sh", "-c", "cat ~/.aws/credentials"), "control")
    works(fx.sandbash("sh", "-c", "ls ~/plain && cat ~/plain/file && ls ~"), "neighbour")


@test("P4 a store that is a symlink is unreadable at both ends", variants=ALL_VARIANTS)
def symlinked(fx):
    fx.write(fx.home / "dot" / "aws" / "credentials", "password")
    fx.write(fx.home / "dot" / "netrc", "password")
    fx.write(fx.home / "dot" / "other", "plain")
    (fx.home / ".aws").symlink_to("dot/aws")
    (fx.home / ".netrc").symlink_to("dot/netrc")
    for path in (".aws/credentials", "dot/aws/credentials", ".netrc", "dot/netrc"):
        refused(boxed(fx, "read", fx.home / path), HIDDEN, path)
        works(act(fx, "read", fx.home / path), f"control {path}")
    works(boxed(fx, "read", fx.home / "dot" / "other"))


@test("P4 credential stores are unreadable where the environment puts them",
      variants=("full", "flat"))
def moved_stores(fx):
    for name, value, path in (("XDG_CONFIG_HOME", fx.home / "cfg", "gh/hosts.yml"),
                              ("XDG_CONFIG_HOME", fx.home / "cfg", "gcloud/credentials.db"),
                              ("GNUPGHOME", fx.home / "gpg", "private-keys-v1.d/key")):
        secret = fx.write(value / path, "password")
        plain = fx.write(value.parent / "plain", "x")
        refused(boxed(fx, "read", secret, env={name: value}), HIDDEN, f"{name} {path}")
        works(boxed(fx, "read", plain, env={name: value}))
        works(act(fx, "read", secret), "control")


@test("P9 a store is unreadable when the home directory is reached by a symlink",
      variants=ALL_VARIANTS)
def symlinked_home(fx):
    fx.write(fx.home / ".netrc", "password")
    link = fx.dir / "link"
    link.symlink_to(fx.home)
    for path in (link / ".netrc", fx.home / ".netrc"):
        refused(boxed(fx, "read", path, env={"HOME": link}, cwd=link / "project"), HIDDEN)
        works(act(fx, "read", path), "control")
    works(boxed(fx, "open", "wronly+creat", "ordinary", env={"HOME": link}, cwd=link / "project"))


@test("P4 a store stays unreadable when the home directory is writable")
def writable_home(fx):
    store(fx)
    moves = ((".ssh", ".ssh/id_ed25519"), (".docker", ".docker/config.json"),
             (".config", ".config/gh/hosts.yml"), (".local", ".local/share/keyrings/login.keyring"),
             (".netrc", ".netrc"), (".cargo", ".cargo/credentials.toml"))
    for flags, cwd in ((["--allow-home"], fx.home), ([f"--allow-write={fx.home}"], fx.project)):
        for top, name in moves:
            refused(boxed(fx, "read", fx.home / name, flags=flags, cwd=cwd), HIDDEN, name)
            # Moved away (where that works), it must still be closed.
            moved = "moved" + name[len(top):]
            script = 'cd ~ && mv "$1" moved 2>/dev/null; cat "$2" "$3"; mv moved "$1" 2>/dev/null'
            result = fx.sandbash(*flags, "sh", "-c", script, "-", top, moved, name, cwd=cwd)
            lacks(result.stdout, "content of", name)
            check((fx.home / name).exists(), f"{name} is back in its place")
        works(boxed(fx, "open", "wronly+creat", fx.home / "ordinary", flags=flags, cwd=cwd))
    works(act(fx, "rename", "plain", fx.home / ".ssh", fx.home / "moved"), "control")


@test("P4 what the user denies is unreadable: a file, a directory, a glob",
      variants=("full", "flat"))
def denied(fx):
    names = ("secret.txt", "private/deep/file", "a.key", "b.key", "sub/.env")
    for name in names + ("plain.txt", "sub/plain", "private.txt", "key"):
        fx.write(name, f"content of {name}")
    outside = fx.write(fx.outside / "secret", "x")
    beside = fx.write(fx.outside / "plain", "x")
    flags = ["--deny=secret.txt", "--deny=private", "--deny=*.key", "--deny=**/.env",
             f"--deny={outside}"]
    for name in names:
        refused(boxed(fx, "read", name, flags=flags), HIDDEN, name)
        if fx.variant == "full":
            refused(boxed(fx, "open", "wronly", name, flags=flags), HIDDEN, name)
        works(act(fx, "read", name), f"control {name}")
    refused(boxed(fx, "read", outside, flags=flags), HIDDEN)
    for name in ("plain.txt", "sub/plain", "private.txt", "key", beside):
        works(boxed(fx, "read", name, flags=flags), f"neighbour {name}")
    works(boxed(fx, "open", "wronly", "sub/plain", flags=flags))


@test("P4 what the user denies in the project cannot be moved into the light",
      variants=("full", "flat"))
def moved(fx):
    for name in ("secret.txt", "a/private/file"):
        fx.write(name, "password")
    fx.write("b/plain", "x")
    flags = ["--deny=secret.txt", "--deny=a/private"]
    before = signature(fx.path("a/private")), signature(fx.path("secret.txt"))
    for words in ("rename plain secret.txt b/light", "link path secret.txt b/light",
                  "link proc secret.txt b/light", "rename exchange secret.txt b/plain",
                  "rename plain a/private b/light", "rename exchange a/private b",
                  "rename plain a c"):
        # In one run: the next one decides by the names it finds.
        script = f"{fx.tool('act')} {words}; find . -type f -exec cat {{}} \\; 2>/dev/null"
        result = fx.sandbash(*flags, "sh", "-c", script)
        lacks(result.stdout, "password", words)
        if fx.variant == "flat":  # the names may have moved there; see the next test
            fx.run("rm", "-rf", "b", "c", "a", "secret.txt")
            for name in ("secret.txt", "a/private/file"):
                fx.write(name, "password")
            fx.write("b/plain", "x")
    if fx.variant == "full":
        unchanged(before[0], fx.path("a/private"))
        unchanged(before[1], fx.path("secret.txt"))
    works(boxed(fx, "read", "b/plain", flags=flags))
    works(act(fx, "rename", "plain", "secret.txt", "b/light"), "control")


@test("R4 without namespaces it says that a denied file in the project can be changed and moved")
def weaker(fx):
    fx.write("secret.txt", "password")
    result = fx.sandbash("--deny=secret.txt", "touch", "started", without="userns")
    equal(result.status, 0 if SUPERVISED else 125)
    equal(fx.exists("started"), SUPERVISED)
    if SUPERVISED:
        contains(result.stderr, "cannot be read back", "it says what is closed beside it")
    said = [line for line in result.stderr.splitlines() if "secret.txt" in line]
    result = boxed(fx, "open", "wronly", "secret.txt", flags=["--deny=secret.txt"], variant="flat")
    if result.status == 0:
        check(any("changed" in line for line in said), f"changed it, and was told only {said}")
    refused(boxed(fx, "open", "wronly", "secret.txt", flags=["--deny=secret.txt"]), HIDDEN)


@test("P4 a deny rule of the config file holds", variants=ALL_VARIANTS)
def from_config(fx):
    fx.write(fx.home / "private" / "file", "x")
    fx.write(fx.home / "public" / "file", "x")
    fx.config("deny ~/private\n")
    refused(boxed(fx, "read", fx.home / "private" / "file"), HIDDEN)
    works(boxed(fx, "read", fx.home / "public" / "file"))
    works(act(fx, "read", fx.home / "private" / "file"), "control")


@test("P4 a narrower rule reopens part of what is denied", variants=("full", "flat"))
def reopened(fx):
    fx.write(fx.home / ".aws" / "config", "plain")
    fx.write(fx.home / ".aws" / "credentials", "password")
    flags = [f"--allow-read={fx.home}/.aws/config"]
    equal(fx.sandbash(*flags, "cat", fx.home / ".aws" / "config").stdout, "plain")
    refused(boxed(fx, "read", fx.home / ".aws" / "credentials", flags=flags), HIDDEN)
    refused(boxed(fx, "read", fx.home / ".aws" / "config"), HIDDEN)


@test("P4 the secret of another project is not opened by a nested run", variants=("nested",))
def inner_cannot_open(fx):
    """--allow-read of the inner run cannot take back what the outer one denies."""
    secret = fx.write(fx.home / ".aws" / "credentials", "password")
    flags = [f"--allow-read={secret}", f"--allow-write={secret.parent}"]
    refused(boxed(fx, "read", secret, flags=flags), HIDDEN)
    works(boxed(fx, "read", secret, flags=flags, variant="full"), "on its own the flag opens it")


@test("P4 masks leave the host's files alone", variants=ALL_VARIANTS)
def untouched(fx):
    store(fx)
    fx.config("")
    (fx.home / ".local" / "state" / "sandbash").mkdir(parents=True)
    fx.settle()
    before = signature(fx.home)
    fx.sandbash("sh", "-c", "rm -rf ~/.ssh ~/.aws ~/.netrc; echo x >~/.netrc; mkdir ~/.ssh/new; "
                "chmod 777 ~/.ssh ~/.netrc; mv ~/.aws ~/x; touch ~/.aws ~/.ssh/known_hosts")
    after = signature(fx.home)
    project = os.fspath(fx.project)
    for path in sorted(before.keys() | after.keys()):
        if not path.startswith(project) and fx.variant != "flat":
            equal(after.get(path), before.get(path), path)
    check((fx.home / ".ssh" / "id_ed25519").exists())
    contains((fx.home / ".netrc").read_text(), "content of")


run_all()
