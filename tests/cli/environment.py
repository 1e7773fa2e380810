"""--clean-env, --keep-env and clean-env: what a command sees of the environment."""

import json
import os

from tap import check, contains, equal, lacks, run_all, test

SECRETS = {"API_KEY": "secret-1", "AWS_SECRET_ACCESS_KEY": "secret-2", "MY_OWN": "plain",
           "http_proxy": "http://me:secret-3@host/", "LC_SECRET": "secret-4"}
USUAL = {"LANG": "C.UTF-8", "LC_TIME": "C", "CARGO_HOME": "/x", "EDITOR": "vi"}
ENV = {**SECRETS, **USUAL}


def seen(fx, *flags, config=None):
    result = fx.sandbash(*flags, "env", env=ENV)
    equal(result.status, 0, result.stderr)
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)


@test("--clean-env passes on usual variables, and no others")
def clean(fx):
    before = seen(fx)
    for name, value in ENV.items():
        equal(before.get(name), value, f"control {name}")
    after = seen(fx, "--clean-env")
    for name, value in USUAL.items():
        equal(after.get(name), value, name)
    for name in SECRETS:
        check(name not in after, name)
    check("PATH" in after and "HOME" in after and "SANDBASH" in after)


@test("--keep-env adds names to --clean-env; alone it names all of them")
def kept(fx):
    both = seen(fx, "--clean-env", "--keep-env=MY_*,API_KEY")
    check("MY_OWN" in both and "API_KEY" in both and "LANG" in both)
    check("AWS_SECRET_ACCESS_KEY" not in both)
    alone = seen(fx, "--keep-env=MY_OWN,PATH")
    check("MY_OWN" in alone and "LANG" not in alone and "API_KEY" not in alone)


@test("clean-env on in the configuration does the same; also without a sandbox")
def configured(fx):
    fx.config("clean-env on\n")
    check("API_KEY" not in seen(fx))
    check("API_KEY" not in seen(fx, "--disable-sandbox"))
    contains(fx.sandbash("--print-policy").stdout, "clean-env on\n")
    contains(fx.sandbash("--status").stdout, "clean-env")
    check(json.loads(fx.sandbash("--status", "--json").stdout)["clean_env"])
    fx.config("clean-env off\n")
    check("API_KEY" in seen(fx))
    check("API_KEY" not in seen(fx, "--clean-env"))
    contains(fx.sandbash("--print-policy").stdout, "clean-env off\n")
    lacks(fx.sandbash("--status").stdout, "clean-env")


@test("a printed policy says it, and is read back")
def printed(fx):
    policy = fx.sandbash("--clean-env", "--print-policy").stdout
    file = fx.write(fx.home / "policy", policy)
    check("API_KEY" not in seen(fx, f"--policy={file}"))


@test("--dry-run lists the names that are not passed on, and never their values")
def told(fx):
    text = fx.sandbash("--clean-env", "--dry-run", "env", env=ENV).stdout
    line = next(line for line in text.splitlines() if line.startswith("not passed: "))
    for name in SECRETS:
        contains(line, name)
    lacks(line, "LANG")
    lacks(text, "secret-")
    lacks(fx.sandbash("--dry-run", "env", env=ENV).stdout, "not passed")
    removed = json.loads(fx.sandbash("--clean-env", "--dry-run", "--json", "env",
                                     env=ENV).stdout)["variables_removed"]
    check(set(SECRETS) <= set(removed) and not set(USUAL) & set(removed), str(removed))


@test("P2 what the environment has agents and shells obey in a project asks", variants=("full", "flat"))
def obeyed_in_a_project(fx):
    script = """mkdir -p named/hooks; echo x >named/config.toml; echo x >named/hooks/x; mkdir -p other/hooks; echo x >other/hooks/x
                mkdir here; echo x >here/config.toml; mv here named; true"""
    (fx.project / ".venv/bin").mkdir(parents=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GOBIN", "PATH"):
        value = f"{fx.project}/named" + (f":{fx.env()['PATH']}:{fx.project}/.venv/bin" if name == "PATH" else "")
        env = {name: value, "VIRTUAL_ENV": f"{fx.project}/.venv"}
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, env=env)
        for path in ("named/config.toml", "named/hooks/x"):
            check(not fx.exists(path), f"{name}: {path}")
        check(fx.exists("other/hooks/x"), f"{name}: the neighbour")
        equal(fx.sandbash("--consent=deny", "sh", "-c", "echo x >.venv/bin/tool", env=env).status, 0, "an environment in use")
        equal(fx.sandbash("--consent=deny", "--allow-write=named", "sh", "-c", "mkdir -p named; echo x >named/config.toml", env=env).status, 0)
        fx.run("rm", "-rf", "named", "other", "here")
        fx.run("sh", "-c", script, env=env)
        check(fx.exists("named/config.toml"), "the control")
        fx.run("rm", "-rf", "named", "other", "here")


@test("P2 so does what it has them obey elsewhere, under whatever opens the place around it", variants=("full", "flat"))
def obeyed_elsewhere(fx):
    tools = fx.home / "tools"
    for name, place in (("PATH", "bin"), ("GOBIN", "bin"), ("CLAUDE_CONFIG_DIR", "agent")):
        value = f"{tools}/{place}" + (f":{fx.env()['PATH']}" if name == "PATH" else "")
        fx.run("mkdir", "-p", tools / place)
        script = f"echo x >{tools}/note; echo x >{tools}/{place}/ls; ln -s ../tools/{place}/ls x; ln -s ../tools/{place} y; ln -s ../tools/note z"
        for flag in (f"--allow-write={tools}", f"--grant={tools}"):
            result = fx.sandbash("--consent=deny", flag, "sh", "-c", script, env={name: value})
            check(not (tools / place / "ls").exists(), f"{name} {flag}: {result.stderr}")
            for link in ("x", "y"):
                check(not os.path.lexists(fx.project / link), f"{name} {flag} {link}: {result.stderr}")
            check((tools / "note").exists() and fx.path("z").is_symlink(), f"{name} {flag}: the neighbours {result.stderr}")
            fx.run("rm", "-f", tools / "note", "z")
        result = fx.sandbash("--consent=deny", f"--allow-write={tools}/{place}", "sh", "-c", script, env={name: value})
        check((tools / place / "ls").exists(), f"{name}: a rule that names it opens it: {result.stderr}")
        fx.run("rm", "-rf", tools, "x", "y", "z")
        fx.run("mkdir", "-p", tools / place)
        fx.run("sh", "-c", script, env={name: value})
        check((tools / place / "ls").exists() and fx.path("x").is_symlink(), "the control")
        fx.run("rm", "-rf", tools, "x", "y", "z")


run_all()
