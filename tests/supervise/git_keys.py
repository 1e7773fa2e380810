"""git_keys.py - settings of git: the harmless ones unasked and untold, and what only looks like them.  git_told.py has what is told."""

from tap import check, equal, run_all, test

BOTH = ("full", "flat")

HARMLESS = """advice.detachedHead=false am.threeWay=true blame.ignoreRevsFile=.git-blame-ignore-revs
branch.main.description=text branch.main.gh-merge-base=main branch.main.vscode-merge-base=origin/main
checkout.workers=4 color.diff.new=green color.ui=auto column.ui=auto commit.gpgSign=true commit.verbose=true
core.commitGraph=true core.sharedRepository=group core.sharedRepository=0660
core.untrackedCache=true diff.algorithm=histogram diff.colorMoved=zebra
feature.manyFiles=true fetch.parallel=4 format.pretty=%h:%s gc.auto=0 gc.pruneExpire=2.weeks.ago
gitflow.branch.develop=develop gitflow.prefix.feature=feature/ grep.lineNumber=true http.postBuffer=524288000
i18n.commitEncoding=UTF-8 index.threads=2 lfs.https://example.org/x.git/info/lfs.access=basic
lfs.https://example.org/x.git/info/lfs.locksverify=true log.date=iso maintenance.auto=false
maintenance.gc.enabled=false maintenance.strategy=incremental merge.conflictStyle=zdiff3 merge.log=20
notes.displayRef=refs/notes/* pack.threads=1 pager.branch=false pull.ff=only pull.rebase=true push.autoSetupRemote=true
push.default=simple rebase.autosquash=true rebase.updateRefs=true remote.o.tagOpt=--tags remote.o.promisor=false
remote.o.fetch=+refs/heads/*:refs/remotes/o/* remote.o.fetch=main remote.o.fetch=^refs/heads/x remote.o.fetch=+refs/pull/*/head:refs/remotes/o/pr/*
extensions.refStorage=files rerere.enabled=true stash.showPatch=true status.showStash=true tag.sort=-version:refname
uploadpack.allowFilter=true versionsort.suffix=-rc worktree.guessRemote=true""".split()

# None of these may land unasked.
ASKED = """alias.st=!sh blame.ignoreRevsFile=/etc/passwd blame.ignoreRevsFile=../x branch.main.mergeOptions=--foo
branch.$(id).remote=o branch.main.gh-merge-base=$(id) branch.main.remote=$(id) clean.requireForce=false
commit.template=/etc/passwd core.attributesFile=x core.excludesFile=x core.protectNTFS=false
core.sharedRepository=0666 core.sharedRepository=0664 core.sharedRepository=all
core.sharedRepository=world core.sharedRepository=2 core.sharedRepository=everybody core.trustctime=false
core.hooksPath=x core.sshCommand=x credential.helper=x diff.tool=../x diff.x.textconv=x
extensions.refStorage=files:///x fetch.bundleURI=https://example.org format.pretty=%x1b]0;x format.suffix=/../x format.outputDirectory=/x
gc.recentObjectsHook=x gc.repackFilterTo=/x gitflow.path.hooks=x gitflow.branch.x=$(id) gpg.program=x
help.autoCorrect=immediate http.proxy=x http.sslVerify=false init.templateDir=x
lfs.url=https://example.org lfs.customtransfer.x.path=x lfs.standalonetransferagent=x maintenance.repo=/x
merge.tool=../x pager.log=sh pretty.x=%x1b]0;x pull.twohead=x rebase.instructionFormat=%nexec
receive.procReceiveRefs=refs remote.$(id).url=https://example.org remote.o.url=ssh://-oProxyCommand=x/y
remote.o.url=ssh://%2doProxyCommand=x/y remote.o.url=ssh://me@-oProxyCommand=x/y
remote.o.url=me@-oProxyCommand=x:y remote.o.url=host:-oProxyCommand=x
remote.o.url=git+ssh://[-oProxyCommand=x]/y remote.o.proxy=x
remote.o.fetch=+refs/heads/main:refs/remotes/o/$(id) remote.o.push=refs/heads/`id`:main remote.o.fetch=-x ssh.variant=simple submodule.x.update=!x
trace2.eventTarget=/x url.x.insteadOf=https://example.org user.signingKey=/x user.signingKey=--x
user.name=a\u009bb user.name=a\u202eb user.name=a\u001bb branch.a\u202eb.remote=o""".replace("\n", " ").split(" ")


def sets(fx, setting):
    key, _, value = setting.partition("=")
    result = fx.sandbash("--consent=deny", "--quiet", "git", "config", key, value)
    fx.run("git", "config", "--unset-all", key)
    return result.status == 0


@test("harmless settings land unasked", variants=BOTH)
def harmless(fx):
    fx.git_project()
    script = "set -e\n" + "\n".join(f"git config '{s.partition('=')[0]}' '{s.partition('=')[2]}'" for s in HARMLESS)
    result = fx.sandbash("--consent=deny", "bash", "-xc", script)
    equal(result.status, 0, result.stderr)
    check("without a question" not in result.stderr, result.stderr)


@test("settings that run, lead or show something ask", variants=("full",))
def asked(fx):
    fx.git_project()
    for setting in ASKED:
        key, _, value = setting.partition("=")
        equal(fx.run("git", "config", key, value).status, 0, f"the control: {setting}")
        equal(fx.run("git", "config", "--unset-all", key).status, 0)
        check(not sets(fx, setting), setting)


@test("names of branches that steer a terminal", variants=BOTH)
def branches(fx):
    fx.git_project()
    for name in ("a\u009bb", "a\u202eb", "a\u200bb"):
        equal(fx.run("git", "branch", name).status, 0, "the control")
        equal(fx.run("git", "branch", "-D", name).status, 0)
        for words in (("branch", name), ("symbolic-ref", "HEAD", f"refs/heads/{name}"), ("tag", name)):
            check(fx.sandbash("--consent=deny", "--quiet", "git", *words).status != 0, f"{words[0]} {ascii(name)}")
    for name in ("caf\u00e9", "\u65e5\u672c", "fix/\U0001f41b"):
        equal(fx.sandbash("--consent=deny", "--quiet", "git", "branch", name).status, 0, ascii(name))


@test("another worktree's files keep their forms", variants=BOTH)
def worktrees(fx):
    fx.git_project()
    equal(fx.run("bash", "-c", "git worktree add -q one; git worktree add -q two").status, 0)
    other = f"{fx.project}/.git/worktrees/two"
    for name, bytes_ in (("HEAD", "ref: refs/heads/$(id)"), ("HEAD", "ref: ../config"), ("gitdir", "/etc/x/.git"),
                         ("commondir", "/tmp/x"), ("index", "DIRC" + 40 * "x"), ("config.worktree", "[core]\n\tpager = x")):
        before = (fx.project / ".git/worktrees/two" / name)
        before = before.read_bytes() if before.exists() else None
        script = f"printf '%s\\n' \"$0\" >x; mv x {other}/{name}"
        fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script, bytes_, cwd=str(fx.project / "one"))
        after = (fx.project / ".git/worktrees/two" / name)
        equal(after.read_bytes() if after.exists() else None, before, name)


@test("a directory that nobody may look into makes a git directory", variants=BOTH)
def closed(fx):
    result = fx.sandbash("--consent=deny", "bash", "-c", """set -e
mkdir a a/objects; mkdir -m 000 a/refs; mkdir b b/refs; mkdir -m 000 b/objects; chmod 755 a/refs b/objects""")
    equal(result.status, 0, result.stderr)
    # what was in it before still counts
    result = fx.sandbash("--consent=deny", "--quiet", "bash", "-c", """
mkdir c c/refs; ln -s /etc c/refs/heads; chmod 000 c/refs; mkdir c/objects; r=$?; chmod 755 c/refs; exit $r""")
    check(result.status != 0, "a link in it")


run_all()
