"""git_urls.py - where a remote leads git outside: to helpers, and to hooks that nobody guards.

Each has its control (git outside follows the URL), the refusal inside, and a neighbour that lands.
"""

import os

from tap import check, equal, run_all, test


def remote(fx, url, *flags, boxed=True, key="remote.o.url", **where):
    """Set the URL as git does, where nobody can be asked."""
    words = ["git", "config", key, url]
    if not boxed:
        return fx.run(*words, **where)
    return fx.sandbash("--consent=deny", "--quiet", *flags, *words, **where)


def ran(fx):
    mark = fx.dir / "ran"
    found = mark.exists()
    if found:
        mark.unlink()
    return found


@test("a push runs the hooks of a repository in a fast directory", variants=("full", "flat"))
def fast(fx):
    fx.git_project()
    (fx.project / "build").mkdir()
    (fx.project / "safe").mkdir()
    plant = f"""git init -q --bare $D/x.git; printf '#!/bin/sh\\n>{fx.dir}/ran\\n' >$D/x.git/hooks/pre-receive
        chmod +x $D/x.git/hooks/pre-receive; git remote add o $D/x.git"""
    push = ("git", "push", "-q", "o", "HEAD:refs/heads/x")
    fast_flag = "--rule=fast build"

    # the control: without a sandbox the remote is set, and the hook runs
    equal(fx.run("bash", "-c", plant, env={"D": "build"}).status, 0)
    fx.run(*push)
    check(ran(fx), "the control")
    equal(fx.run("sh", "-c", "git remote remove o; rm -rf build/*").status, 0)

    # the hook can be made in the fast directory, but the remote cannot lead there
    result = fx.sandbash("--consent=deny", "--quiet", fast_flag, "bash", "-c", plant, env={"D": "build"})
    check(result.status != 0, "the remote was set")
    check(os.access(fx.project / "build/x.git/hooks/pre-receive", os.X_OK), "fast directories are not guarded")
    fx.run(*push)
    check(not ran(fx), "its hook ran")
    fx.write("evil", "gitdir: build/x.git\n")  # which git follows, whatever its name
    for url in ("./evil", "~/project/build/x.git", "/proc/self/cwd/build/x.git",
                f"/proc/self/root{fx.project}/build/x.git",
                "./build/x.git", f"{fx.project}/build/x.git", f"file://{fx.project}/build/x.git",
                f"file://{fx.project}/b%75ild/x.git", "safe/../build/x.git"):
        for key in ("remote.o.url", "remote.o.pushurl", "branch.main.remote", "remote.pushDefault"):
            check(remote(fx, url, fast_flag, key=key).status != 0, f"{key} = {url}")
    # the neighbour: a repository in a guarded directory
    result = fx.sandbash("--consent=deny", "--quiet", fast_flag, "bash", "-c",
                         "git init -q --bare safe/x.git && git remote add o safe/x.git && git push -q o HEAD:refs/heads/x")
    equal(result.status, 0, result.stderr)


def modules(fx, url, *flags):
    return fx.sandbash("--consent=deny", "--quiet", *flags, "git", "config", "-f", ".gitmodules", "submodule.s.url", url)


@test("a submodule's URL leads no push to a fast directory, whatever file says it", variants=("full", "flat"))
def submodule(fx):
    fx.git_project()
    flags = ("--rule=fast build", "--rule=fast ../fast")
    plant = f"""git init -q --bare $D/x.git; printf '#!/bin/sh\n>{fx.dir}/ran\n' >$D/x.git/hooks/pre-receive; chmod +x $D/x.git/hooks/pre-receive"""
    equal(fx.run("bash", "-c", f"""set -e; mkdir build ../fast; D=build; {plant}; D=../fast; {plant}; git init -q ../lib; git -C ../lib commit -q --allow-empty -m x
        git -c protocol.file.allow=always submodule --quiet add $PWD/../lib s; git commit -q -m s; cp .gitmodules ../saved""").status, 0)
    push = "git submodule --quiet sync; git -C s push -q origin HEAD:refs/heads/x 2>/dev/null; git -C s push -q origin :x 2>/dev/null"
    for url in (f"{fx.project}/build/x.git", f"file://{fx.project}/b%75ild/x.git", "./build/x.git", "../fast/x.git", "./../fast/x.git"):
        equal(fx.run("git", "config", "-f", ".gitmodules", "submodule.s.url", url).status, 0)
        fx.run("bash", "-c", push)
        check(ran(fx), f"the control: {url}")
        fx.run("cp", "../saved", ".gitmodules")
        check(modules(fx, url, *flags).status != 0, url)
        equal(fx.read(".gitmodules"), fx.read("../saved"), url)
        fx.run("bash", "-c", push)
        check(not ran(fx), url)
    # what begins at a remote that is set later, and the cache of a project
    for url in ("../../fast/y", "../../home/fast/y", "../sandbash-caches/x", f"{fx.home}/.cache/sandbash-caches/x", "~/x", "/proc/self/cwd/x"):
        check(modules(fx, url, *flags).status != 0, url)
    for url in ("../lib", "../x.git", "./sub", "https://host/x", "git@host:x/y", "../../other/x.git", "../build", "../fast.git", f"{fx.home}/lib"):
        result = modules(fx, url, *flags)
        equal(result.status, 0, f"{url}: {result.stderr}")


@test("a URL whose scheme starts a helper", variants=("full",))
def helper(fx):
    fx.git_project()
    bin_dir = fx.dir / "bin"
    bin_dir.mkdir()
    (bin_dir / "git-remote-x").write_text(f"#!/bin/sh\n>{fx.dir}/ran\n")
    (bin_dir / "git-remote-x").chmod(0o755)
    env = {"PATH": f"{bin_dir}:{os.environ['PATH']}"}
    fetch = ("git", "-c", "protocol.allow=always", "fetch", "-q", "o")
    for url in (f"ext::sh -c >{fx.dir}/ran", "x://host/y", "x::y"):
        equal(remote(fx, url, boxed=False).status, 0)
        fx.run(*fetch, env=env)
        check(ran(fx), f"the control: {url}")
        equal(fx.run("git", "config", "--unset", "remote.o.url").status, 0)
        check(remote(fx, url).status != 0, url)
        check(remote(fx, url, key="submodule.s.url").status != 0, url)
        fx.run(*fetch, env=env)
        check(not ran(fx), url)
    for url in ("https://host/x", "http://host/x", "ssh://host/x", "git://host/x", "git+ssh://host/x",
                "user@host:x/y.git", "file:///srv/x.git", "../elsewhere", "/srv/x.git"):
        equal(remote(fx, url).status, 0, url)


run_all()
