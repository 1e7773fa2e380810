"""git_told.py - where git push goes and what git shows, told at the end of a run that has changed it."""

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
TOLD = "done without a question"
OLD, NEW = "https://example.org/x", "https://example.net/y"


def begin(fx):
    fx.git_project()
    equal(fx.run("bash", "-c", f"""set -e
git remote add origin {OLD}; git config branch.main.remote origin; git config branch.main.merge refs/heads/main
git config branch.topic.remote origin; git remote add fork https://example.org/fork""").status, 0)


def inside(fx, script):
    result = fx.sandbash("--consent=deny", "bash", "-c", "set -e\n" + script)
    equal(result.status, 0, result.stderr)
    return result.stderr


# What takes a push elsewhere, and what is said of it.
ELSEWHERE = {
    f"git remote set-url origin {NEW}": f"remote.origin.url is now {NEW}, was {OLD}",
    f"git remote remove origin; git remote add origin {NEW}": f"remote.origin.url is now {NEW}, was {OLD}",
    f"git remote rename origin old; git remote add origin {NEW}": f"remote.origin.url is now {NEW}, was {OLD}",
    f"rm .git/config; git init -q; git remote add origin {NEW}": f"remote.origin.url is now {NEW}, was {OLD}",
    f"mv .git g; git -C . --git-dir=g config remote.origin.url {NEW}; mv g .git": f"remote.origin.url is now {NEW}",
    f"git remote set-url --push origin {NEW}": f"remote.origin.pushurl is now {NEW}",
    f"git remote add o {NEW}; git config branch.main.remote o": f"git push of 'main' now goes to {NEW}, not to {OLD}",
    f"git remote add o {NEW}; git config branch.main.pushRemote o": f"git push of 'main' now goes to {NEW}",
    f"git config branch.main.pushRemote {NEW}": f"git push of 'main' now goes to {NEW}",
    f"git config branch.other.pushRemote {NEW}": f"git push of 'other' now goes to {NEW}",
    f"git config remote.pushDefault {NEW}": f"git push now goes to {NEW}, not to {OLD}",
    "git config remote.pushDefault fork": "git push now goes to https://example.org/fork",
    "git config status.showUntrackedFiles no": "status.showuntrackedfiles is now no",
    "git config diff.ignoreSubmodules all": "diff.ignoresubmodules is now all",
    "git config submodule.x.ignore all": "submodule.x.ignore is now all",
    "git config core.bigFileThreshold 1": "core.bigfilethreshold is now 1",
    "git config color.diff.new '#101010 #101010'": "color.diff.new is now #101010 #101010",
    "git config color.status.untracked 'red red'": "color.status.untracked is now red red",
    "git config color.diff.old black": "color.diff.old is now black",
    "git config format.pretty format:": "format.pretty is now format:",
    "git config format.pretty '%C(black)%h %s'": "format.pretty is now %C(black)%h %s",
    "git config pretty.lg '%%h %%s'": "pretty.lg is now %%h %%s",
    "git config pretty.lg %h": "pretty.lg is now %h",
    "git config log.excludeDecoration '*'": "log.excludedecoration is now *",
    "git config i18n.logOutputEncoding utf-16": "i18n.logoutputencoding is now utf-16",
    "git config user.name 'Somebody Else'": "user.name is now Somebody Else",
    "git config user.email else@example.net": "user.email is now else@example.net",
    "git config author.email else@example.net": "author.email is now else@example.net",
    "git config remote.origin.gh-resolved someone/else": "remote.origin.gh-resolved is now someone/else",
    f"git remote add o {NEW}; git config remote.o.gh-resolved base": "remote.o.gh-resolved is now base",
    "git config log.showRoot false": "log.showroot is now false",
    "git config core.fileMode false": "core.filemode is now false, was true",
    "git config core.warnAmbiguousRefs false": "core.warnambiguousrefs is now false",
    "git config gc.pruneExpire now": "gc.pruneexpire is now now",
    "git config gc.reflogExpire 1.second.ago": "gc.reflogexpire is now 1.second.ago",
    "git config gc.refs/heads/main.reflogExpireUnreachable all": "reflogexpireunreachable is now all",
    "git config remote.origin.fetch +refs/heads/evil:refs/remotes/origin/main": "remote.origin.fetch is now +refs/heads/evil:",
    "git config --add remote.origin.fetch +refs/none/*:refs/tags/*": "remote.origin.fetch is now +refs/none/*:refs/tags/*",
    "git config remote.origin.push +refs/heads/*:refs/heads/*": "remote.origin.push is now +refs/heads/*:refs/heads/*",
    "git config remote.origin.mirror true": "remote.origin.mirror is now true",
    f"git remote add --mirror=push m {NEW}": "remote.m.mirror is now true",
    f"git remote add p {NEW}; git config remote.p.promisor true": f"fetches what it misses by itself, from {NEW}",
    "git config remote.origin.promisor true": f"fetches what it misses by itself, from {OLD}",
    "git config branch.main.merge refs/heads/prod": "branch.main.merge is now refs/heads/prod, was refs/heads/main",
    "git config push.default matching": "push.default is now matching",
    "git config commit.gpgSign false": "commit.gpgsign is now false",
    "git config merge.verifySignatures no": "merge.verifysignatures is now no",
    "git config fetch.fsckObjects 0": "fetch.fsckobjects is now 0",
    # what git init finds out about the file system, said otherwise
    "git config core.ignoreCase true": "core.ignorecase is now true",
    "printf '[core]\\nignorecase\\n' >>.git/config": "core.ignorecase is now true",
    "git config core.precomposeUnicode true": "core.precomposeunicode is now true",
    "git config core.fileMode ''": "core.filemode is now , was true",
    "git config core.fileMode 0x0": "core.filemode is now 0x0, was true",
    "git config core.symlinks false": "core.symlinks is now false",
    "git config core.autocrlf input": "core.autocrlf is now input",
    "git config core.eol crlf": "core.eol is now crlf",
    "git config core.safecrlf false": "core.safecrlf is now false",
    # what a plain push, fetch or rebase does
    "git config push.followTags true": "push.followtags is now true",
    "git config push.recurseSubmodules on-demand": "push.recursesubmodules is now on-demand",
    "git config push.recurseSubmodules no": "push.recursesubmodules is now no",
    "git config submodule.recurse true": "submodule.recurse is now true",
    "git config push.useForceIfIncludes false": "push.useforceifincludes is now false",
    "git config push.default upstream": "push.default is now upstream",
    "git config fetch.prune true": "fetch.prune is now true",
    "printf '[fetch]\\npruneTags\\n' >>.git/config": "fetch.prunetags is now true",
    "git config remote.origin.prune true": "remote.origin.prune is now true",
    "git config remote.origin.pruneTags 1": "remote.origin.prunetags is now 1",
    "git config fetch.showForcedUpdates false": "fetch.showforcedupdates is now false",
    "git config checkout.defaultRemote fork": "checkout.defaultremote is now fork",
    "git config extensions.partialClone origin": "extensions.partialclone is now origin",
    "git config credential.https://example.org.username else": "credential.https://example.org.username is now else",
    "git config user.signingKey 0123456789ABCDEF": "user.signingkey is now 0123456789ABCDEF",
    "git config rebase.missingCommitsCheck ignore": "rebase.missingcommitscheck is now ignore",
    "git config rerere.autoUpdate true": "rerere.autoupdate is now true",
    "git config lfs.allowIncompletePush true": "lfs.allowincompletepush is now true",
    # what is shown
    "git config log.diffMerges off": "log.diffmerges is now off",
    "git config log.decorate no": "log.decorate is now no",
    "git config merge.stat false": "merge.stat is now false",
    "git config stash.showStat false": "stash.showstat is now false",
    "git config commit.status false": "commit.status is now false",
    "git config i18n.commitEncoding utf-7": "i18n.commitencoding is now utf-7",
    "git config blame.ignoreRevsFile mine": "blame.ignorerevsfile is now mine",
    "git config sparse.expectFilesOutsideOfPatterns true": "sparse.expectfilesoutsideofpatterns is now true",
    "git config core.sparseCheckout true": "core.sparsecheckout is now true",
    "git config extensions.preciousObjects false": "extensions.preciousobjects is now false",
    f"git remote set-url origin {NEW}; mv .git g": ".git is gone",
    "echo '*' >>.git/info/exclude": "info/exclude now hides *",
    "mkdir -p .git/info; echo '* -diff' >>.git/info/attributes": "info/attributes now hides * -diff",
    "mkdir -p .git/info; printf '[attr]x binary\\n* x\\n' >.git/info/attributes": "info/attributes now hides [attr]x binary",
    "mkdir -p .git/info; echo '*.sh working-tree-encoding=UTF-7' >>.git/info/attributes": "info/attributes now hides *.sh working-tree-encoding=UTF-7",
    "mkdir -p .git/info; echo '* ident' >>.git/info/attributes": "info/attributes now hides * ident",
    "mkdir -p .git/info; echo '*.c filter=lfs' >>.git/info/attributes": "info/attributes now hides *.c filter=lfs",
    "mkdir -p .git/info; echo '*.md merge=union' >>.git/info/attributes": "info/attributes now hides *.md merge=union",
    "git rev-parse HEAD >.git/shallow": "git log ends early",
    "id=$(git rev-parse HEAD); mv .git/refs r; echo $id >.git/shallow; mv r .git/refs": "git log ends early",
    "git update-ref refs/remotes/origin/main HEAD; git tag origin/main": "refs/tags/origin/main has the short name of refs/remotes/origin/main",
    "git update-ref refs/remotes/origin/main HEAD; git pack-refs --all; git tag origin/main": "short name of refs/remotes/origin/main",
    "git tag origin/main; git update-ref refs/remotes/origin/main HEAD": "refs/remotes/origin/main has the short name of refs/tags/origin/main",
    "git branch x; git update-ref refs/x HEAD": "refs/x has the short name of refs/heads/x",
    "git branch x; git tag x": "refs/tags/x has the short name of refs/heads/x",
    "mv .git/info i; echo '*' >>i/exclude; mv i .git/info": "info/exclude now hides *",
}

DAILY = "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always"

# What changes nothing of that.
SAME = ["git remote rename origin up", f"git remote add other {NEW}", "git remote remove fork",
        f"git remote set-url origin {NEW}; git remote set-url origin {OLD}", "git checkout -q -b new",
        "git branch -q -u main new 2>/dev/null || git branch -q new", "git config branch.new.remote fork",
        "git config status.showUntrackedFiles all", "echo '# comment' >>.git/info/exclude",
        "git config branch.main.rebase true; git config i18n.logOutputEncoding UTF-8", "git config commit.gpgSign true",
        "git config branch.new.merge refs/heads/x; git config remote.origin.mirror false",
        "git config color.ui auto; git config color.diff.new 'green bold'; git config core.bigFileThreshold 512m",
        "git config format.pretty oneline; git config pretty.lg '%C(auto)%h%Creset %s %C(bold blue)%an'; git config gc.pruneExpire 2.weeks.ago; git config gc.reflogExpire never",
        "git config --add remote.origin.fetch '+refs/pull/*/head:refs/remotes/origin/pr/*'",
        "git config --add remote.origin.fetch +refs/notes/*:refs/notes/*; git remote set-branches origin main",
        "git tag v2; git branch other; git update-ref refs/remotes/origin/other2 HEAD; git pack-refs --all",
        "mkdir -p .git/info; printf '*.c diff=cpp\\n* filter=annex\\n* text=auto\\n*.x !filter  -text linguist-vendored' >.git/info/attributes; git clone -q --depth 1 file://$PWD d; rm -rf d",
        "git config core.ignoreCase false; git config core.precomposeUnicode false; git config core.fileMode true; git config core.symlinks 1",
        "git config core.autocrlf false; git config core.eol lf; git config core.safecrlf warn",
        "git config push.autoSetupRemote true; git config push.followTags no; git config push.recurseSubmodules check",
        "git config fetch.prune false; git config remote.origin.prune ''; git config log.diffMerges first-parent; git config log.decorate short",
        "git config blame.ignoreRevsFile .git-blame-ignore-revs; git config rebase.missingCommitsCheck error; git config i18n.commitEncoding utf-8",
        f"{DAILY} git init -q i; git -C i commit -q --allow-empty -m i; git clone -q i c; {DAILY} git -C c submodule --quiet add $PWD/i s; git -C c commit -q -m s",
        f"git init -q i; git -C i commit -q --allow-empty -m i; {DAILY} git submodule --quiet add $PWD/i s; git submodule --quiet sync",
        "git worktree add -q w; git -C w commit -q --allow-empty -m w; git config extensions.worktreeConfig true; git -C w config --worktree core.bare false",
        "git init -q; git init -q --bare b.git; git clone -q --bare . m.git",
        "git config push.default current", "git config remote.origin.promisor false", "mv .git g; mv g .git"]


@test("each way to lead git push elsewhere, or to hide work", variants=BOTH)
def elsewhere(fx):
    begin(fx)
    equal(fx.run("cp", "-r", ".git", "../start").status, 0)
    for script, said in ELSEWHERE.items():
        errors = inside(fx, script)
        contains(errors, TOLD)
        contains(errors, said)
        equal(fx.run("bash", "-c", "rm -rf .git g i; cp -r ../start .git").status, 0)


@test("what leads where it did is not told", variants=BOTH)
def same(fx):
    begin(fx)
    equal(fx.run("cp", "-r", ".git", "../start").status, 0)
    for script in SAME:
        lacks(inside(fx, script), TOLD)
        equal(fx.run("bash", "-c", "rm -rf .git; cp -r ../start .git").status, 0)


# How git outside shows and publishes with such a setting: command, what it prints before, and after.
MEANT = {
    "git config core.ignoreCase true": ("git status --short | grep make", "?? makefile\n", ""),
    "git config push.followTags true": ("git tag -a -m r v9; git push -q ../o.git main; git -C ../o.git tag", "", "v9\n"),
    "git config fetch.prune true; git config fetch.pruneTags true": ("git fetch -q ../o.git '+refs/tags/*:refs/tags/*'; git tag", "v1\n", ""),
    "mkdir -p .git/info; echo '* ident' >.git/info/attributes": ("touch u; git update-index -q --refresh; git diff --stat | grep -c u", "1\n", "0\n"),
    "git config log.diffMerges off": ("git show -m --format= | grep -c ^diff", "3\n", "0\n"),
}


@test("the control: git outside shows less, publishes more and deletes by such settings")
def meant(fx):
    begin(fx)
    equal(fx.run("bash", "-c", """set -e
        git init -q --bare ../o.git; echo x >Makefile; git add Makefile; git commit -qm m; echo y >makefile; git tag v1
        git branch b HEAD~; git switch -q b; echo z >z; echo 'echo $Id$' >u; git add z u; git commit -qm z; git switch -q main; git merge -q b; echo 'echo $Id: ; id $' >u
        cp -r . ../start""").status, 0)
    for script, (look, before, after) in MEANT.items():
        equal(fx.run("bash", "-c", look).stdout, before, look)
        equal(fx.run("bash", "-c", f"rm -rf .git ../o.git; cp -r ../start/.git .; git init -q --bare ../o.git; {script}").status, 0)
        equal(fx.run("bash", "-c", look).stdout, after, f"{script}: {look}")
        equal(fx.run("bash", "-c", "rm -rf .git ../o.git; cp -r ../start/.git .; git init -q --bare ../o.git").status, 0)


@test("a fetch that would delete branches asks, and does so outside", variants=BOTH)
def branches(fx):
    begin(fx)
    equal(fx.run("bash", "-c", "git init -q --bare ../o.git; git remote set-url origin ../o.git; git branch work").status, 0)
    evil = "git config remote.origin.fetch '+refs/none/*:refs/heads/*'"
    for script in (evil, "git config --add remote.origin.fetch +refs/heads/x:main", "git remote add --mirror=fetch m ../o.git",
                   "git config remote.origin.fetch '+refs/*:refs/*'"):
        fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script)
        lacks(fx.read(".git/config"), "refs/none")
        lacks(fx.read(".git/config"), ":main")
        lacks(fx.read(".git/config"), "+refs/*")
    inside(fx, "git clone -q --mirror . m.git; git -C m.git fetch -q; git -C m.git rev-parse refs/heads/work")
    equal(fx.run("bash", "-c", evil + "; git fetch -q --prune").status, 0, "control")
    equal(fx.run("git", "rev-parse", "-q", "--verify", "refs/heads/work").status, 1, "control: the branch is gone")


@test("a repository in the project", variants=BOTH)
def inner(fx):
    begin(fx)
    equal(fx.run("bash", "-c", f"git init -q i; git -C i remote add origin {OLD}").status, 0)
    contains(inside(fx, f"git -C i remote set-url origin {NEW}"), f"remote.origin.url is now {NEW}, was {OLD}")
    contains(inside(fx, "echo '*' >>i/.git/info/exclude"), "info/exclude now hides *")
    contains(inside(fx, "git -C i commit -q --allow-empty -m x; git -C i rev-parse HEAD >i/.git/shallow"), "git log ends early")
    contains(inside(fx, "echo '* binary' >i/.git/info/attributes"), "info/attributes now hides * binary")
    lacks(inside(fx, f"git init -q j; git -C j remote add origin {NEW}"), TOLD)
    # a test makes repositories, and gives them names
    lacks(inside(fx, "git init -q k; git -C k config user.name x; git -C k config user.email x@y"), TOLD)
    contains(inside(fx, "git -C k config user.name z"), "user.name is now z, was x")
    equal(fx.run("git", "config", "remote.origin.gh-resolved", "base").status, 0)
    lacks(inside(fx, "git remote rename origin up; git config remote.up.gh-resolved"), TOLD)


run_all()
