"""programs.py - real programs leave the same tree inside as without a sandbox.

Each script runs twice in the same directory (the same path, since programs write paths into
files), first without a sandbox, then inside; what was left is compared: names, types, modes,
owners, links, contents, targets, attributes, and the times that the program set.  So are exit
status and output.  A supervised run does it once more, with that directory a fast root.

A time counts as set when it is more than an hour old.  Contents that hold the time of day or
inode numbers are not compared (UNSTABLE); the scripts print what is in them instead.
"""

import hashlib
import os
import re
import shutil
import stat
import time
from pathlib import Path

from compare import IS_NATIVE, inside, native
from tap import SUPERVISED, Failed, check, equal, run_all, skip, test

UNSTABLE = re.compile(r"(^|/)\.git/(index|.*/index)$")
ENVIRONMENT = {
    "TZ": "UTC",
    "LC_ALL": "C",
    "GIT_AUTHOR_DATE": "2005-04-07T22:13:13Z",
    "GIT_COMMITTER_DATE": "2005-04-07T22:13:13Z",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "pack.threads", "GIT_CONFIG_VALUE_0": "1",
    "GIT_CONFIG_KEY_1": "init.defaultBranch", "GIT_CONFIG_VALUE_1": "main",
    "GIT_CONFIG_KEY_2": "advice.detachedHead", "GIT_CONFIG_VALUE_2": "false",
    "SOURCE_DATE_EPOCH": "1112911993",
}

# Beside the directory of the script: a tree with everything an archiver can meet.
SEED = """
umask 022
mkdir -p seed/sub/deep seed/empty
echo one >seed/one; echo two >seed/sub/two; printf 'no newline' >seed/sub/deep/three
head -c 100000 /dev/zero | tr '\\0' x >seed/large
ln seed/one seed/hard; ln -s one seed/link; ln -s ../nowhere seed/sub/dangling
ln -s "$PWD/seed/sub" seed/absolute
chmod 750 seed/sub; chmod 600 seed/sub/two; chmod 755 seed/large; chmod 2775 seed/empty
setfattr -n user.note -v seeded seed/one
find seed -exec touch -h -d '2004-02-29 12:34:56.123456789' {} +
"""


def content_of(path, info):
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(info.st_mode):
        return None
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except PermissionError:
        return "unreadable"


def attributes_of(path):
    try:
        names = sorted(os.listxattr(path, follow_symlinks=False))
        return [(name, os.getxattr(path, name, follow_symlinks=False)) for name in names]
    except OSError as problem:
        return problem.errno


def picture(top, now):
    """Every name beneath top, and all that is known of it."""
    found = {}
    groups = {}
    paths = [os.fspath(top)]
    for directory, directories, files in os.walk(top):
        directories.sort()
        paths += sorted(os.path.join(directory, name) for name in directories + files)
    for path in paths:
        info = os.lstat(path)
        name = os.path.relpath(path, top)
        was_set = info.st_mtime_ns if info.st_mtime < now - 3600 else None
        is_file = not stat.S_ISDIR(info.st_mode)
        unstable = UNSTABLE.search(name)
        found[name] = {
            "mode": oct(info.st_mode),
            "owner": (info.st_uid, info.st_gid),
            "links": info.st_nlink if is_file else None,
            "same as": groups.setdefault(info.st_ino, name) if is_file else None,
            "size": info.st_size if is_file and not unstable else None,
            "content": content_of(path, info) if not unstable else None,
            "mtime": was_set,
            "attributes": attributes_of(path),
        }
    return found


def differences(before, after):
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            yield f"{name}: only {'inside' if one is None else 'without a sandbox'}"
        elif one != other:
            for key in one:
                if one[key] != other[key]:
                    yield f"{name}: {key} {one[key]!r}, inside {other[key]!r}"


def empty(place):
    if place.exists():
        for directory, directories, _ in os.walk(place):
            for name in directories:
                if not os.path.islink(os.path.join(directory, name)):
                    os.chmod(os.path.join(directory, name), 0o700)
        shutil.rmtree(place)
    place.mkdir()


def once(fx, script, boxed, seed, fast=False):
    """One run in a new directory, which may be a fast root: result and picture."""
    place = fx.project / "work"
    empty(place)
    if seed:
        equal(fx.run("bash", "-eu", "-c", SEED, cwd=place).status, 0, "preparing")
    words = ["bash", "-eu", "-c", "umask 022\n" + script]
    now = time.time()
    cwd = place
    if fast:
        words, cwd = inside(fx, "--rule=fast work", "env", "-C", "work", *words), fx.project
    else:
        words = inside(fx, *words) if boxed else native(*words)
    result = fx.run(*words, cwd=cwd, env=ENVIRONMENT)
    return result, picture(place, now)


def program(name, script, needs=(), seed=False):
    @test(name)
    def compare(fx):
        for command in needs:
            if not shutil.which(command):
                skip(f"no program '{command}'")
        control, before = once(fx, script, False, seed)
        equal(control.status, 0, f"without a sandbox: {control.stderr}")
        check(len(before) > 1 or control.stdout, "the script does nothing")
        for fast in (False, True) if SUPERVISED and not IS_NATIVE else (False,):
            result, after = once(fx, script, True, seed, fast)
            equal(result.status, control.status, f"status; inside: {result.stderr}")
            equal(result.stdout, control.stdout, "output")
            found = list(differences(before, after))
            if found:
                where = "in a fast root " if fast else ""
                raise Failed("\n".join([f"{where}the trees differ:", *found[:20]]))


# --- version control and building ---------------------------------------------------------

program("git: init, commit, branch, merge, rebase, stash, gc, checkout", """
git init -q
echo one >a; mkdir d; echo two >d/b; ln -s a l; chmod +x a
git add .; git commit -q -m first
git checkout -q -b topic; echo more >>a; git commit -q -a -m topic
git checkout -q main; echo other >>d/b; git commit -q -a -m main
git merge -q -m merged topic
git checkout -q -b second HEAD~1; echo x >new; git add new; git commit -q -m new
git rebase -q main
echo dirty >>a; git stash -q; git stash list; git stash pop -q
git checkout -q -- a
git tag -a -m tagged v1
git mv new renamed; git rm -q -f d/b; git commit -q -m moved
git gc -q --prune=now
git checkout -q v1; git checkout -q main
git branch -d -f second -q 2>/dev/null || git branch -q -D second
git status --short; git ls-files -s; git log --format='%H %s' --all; git fsck
""", ["git"])

program("git: clone, fetch, worktree, patches, reset, clean", """
git init -q origin; cd origin
for n in 1 2 3; do echo $n >file$n; git add .; git commit -q -m $n; done; cd ..
git clone -q --no-hardlinks origin copy; cd copy
git -C ../origin commit -q --allow-empty -m later; git fetch -q; git merge -q --ff-only origin/main
git format-patch -q -1 HEAD~1 -o ../patches; git reset -q --hard HEAD~2
git am -q ../patches/* ; echo junk >junk; mkdir junkdir; touch junkdir/x; git clean -q -fd
git worktree add -q ../tree HEAD~1; git worktree list --porcelain | grep HEAD
git worktree remove ../tree; git archive --format=tar HEAD | tar -tv
git log --format='%H %s'; git status --short
""", ["git"])

program("make and gcc: a library, two programs, rebuilt", """
mkdir src
cat >src/add.c <<'C'
int add(int a, int b) { return a + b; }
C
cat >src/main.c <<'C'
#include <stdio.h>
int add(int, int);
int main(void) { printf("%d\\\\n", add(2, 3)); return 0; }
C
printf 'all: sum libadd.a\\nsum: src/main.o libadd.a\\n\\t$(CC) -o $@ $^\\n' >Makefile
printf 'libadd.a: src/add.o\\n\\tar rcsD $@ $^\\nclean:\\n\\trm -f sum *.a src/*.o\\n' >>Makefile
make -s; ./sum; make -s clean; make -s -j2; ./sum; strip sum; ./sum
""", ["make", "gcc", "ar", "strip"])

program("patch and sed -i", """
printf 'a\\nb\\nc\\n' >f; cp f f.orig1; sed -i 's/b/B/' f; sed -i.bak 's/c/C/' f
chmod 640 f; diff -u f.orig1 f --label a/g --label b/g >p || true
cp f.orig1 g; chmod 755 g; patch -s g <p; patch -s -R -b g <p
sed -n -e 's/a/x/w written' -e p f; cat f g written
""", ["patch", "diff"])

# --- archives and copies --------------------------------------------------------------------

program("tar: a tree with times, modes, links and holes", """
tar -C seed --sort=name -cf seed.tar .; mkdir x y; tar -C x -xpf seed.tar
tar -C seed --sort=name -czf - . | tar -C y -xzf - --no-same-permissions --exclude=large
truncate -s 1M sparse; echo end >>sparse; touch -d @1000000000 sparse
tar -cSf sparse.tar sparse; rm sparse; tar -xSf sparse.tar; tar -tvf seed.tar
rm seed.tar sparse.tar # they hold what tar knows of the owner
""", ["tar", "setfattr"], seed=True)

program("cp -a, cp -al, cp --reflink, mv, install", """
cp -a seed copy; cp -al seed linked; cp --reflink=auto seed/large r; cp -p seed/one p
cp -rL seed/link followed; mv copy/sub copy/moved; mv -n seed/one copy/one; mv -f p r
install -m 751 seed/large installed; install -d -m 700 a/b/c; install -p -D seed/sub/two a/x/y
cp -b seed/one installed; cp -u seed/one r; cp -s "$PWD/seed/one" sl; mv -T copy other
""", ["cp", "install", "setfattr"], seed=True)

# (a link from before the run would be a copy once it is written to: this one is made anew)
program("rsync -a, twice, with --delete and --inplace", """
rm seed/hard; ln seed/one seed/hard
rsync -a seed/ copy; echo more >>seed/one; touch -d '2011-11-11' seed/one; rm seed/link
rsync -aH --delete seed/ copy; rsync -a --inplace --no-whole-file seed/large copy/large2
rsync -a -X --backup seed/one copy/; rsync -aiO seed/ copy
""", ["rsync", "setfattr"], seed=True)

program("zip and unzip", """
(cd seed && zip -q -r -y -X ../a.zip . -x absolute); mkdir out; unzip -q a.zip -d out
unzip -Z1 a.zip | sort; unzip -q -o a.zip -d out; zip -q -d a.zip large; rm a.zip
""", ["zip", "unzip", "setfattr"], seed=True)

program("dpkg-deb: built and unpacked", """
mkdir -p pkg/DEBIAN pkg/usr/share/doc/t; echo text >pkg/usr/share/doc/t/README
ln -s README pkg/usr/share/doc/t/link
printf 'Package: t\\nVersion: 1\\nArchitecture: all\\n' >pkg/DEBIAN/control
printf 'Maintainer: T <t@example.org>\\nDescription: t\\n' >>pkg/DEBIAN/control
find pkg -exec touch -h -d @1000000000 {} +
dpkg-deb --root-owner-group -Znone -b pkg t.deb; dpkg-deb -c t.deb
mkdir out; dpkg-deb --fsys-tarfile t.deb | tar -C out -x --no-same-owner -f -
[ "$(id -u)" = 0 ] || dpkg-deb -x t.deb plain
""", ["dpkg-deb"])

program("gzip, bzip2, xz: times and modes go with the file", """
for z in gzip bzip2 xz; do cp seed/large l; touch -d @1000000000 l; chmod 640 l; $z l;
stat -c '%a %Y' l.*
$z -d l.*; stat -c '%a %Y' l; $z -k l; mkdir $z; mv l.* $z/; done
""", ["gzip", "bzip2", "xz", "setfattr"], seed=True)

# --- files, one tool at a time --------------------------------------------------------------

program("the shell: redirections, here-documents, noclobber, process substitution", """
echo a >f; echo b >>f; : >empty; cat <<X >here
some $((1 + 1)) text
X
set -C; echo c >f 2>/dev/null || echo refused; echo c >|g; set +C
exec 3<>rw; echo words >&3; exec 3>&-; cat <rw >copy; { echo x; echo y >&2; } >out 2>err
diff <(echo same) <(echo same); echo t | tee t1 t2 >/dev/null; cat f g here; read -r l <f; echo $l
(umask 077; echo s >secret); mkdir -m 700 dir; cd dir; echo in >../dir/in; echo >/dev/null
echo to-stdout >/dev/stdout; echo fd >/dev/fd/1; cat /dev/null >../none
""")

program("touch, truncate, dd, ln, chmod -R, mkdir -p, rmdir -p, mktemp", """
touch -d '1999-12-31 23:59:59.5' old; touch -r old same; touch -a -d @1000000000 same; touch new
touch -m -d @1100000000 new; ln -s old sl; touch -h -d @1200000000 sl; touch -c never
truncate -s 5000 t; truncate -s -100 t; truncate -r t u; truncate -s '<10' u
dd if=/dev/zero of=z bs=1000 count=3 2>/dev/null;
printf x | dd of=z bs=1 seek=5 conv=notrunc 2>/dev/null
dd if=z of=zz oflag=append conv=notrunc 2>/dev/null;
dd if=/dev/zero of=s bs=1 count=0 seek=4096 2>&1 | head -1
ln old hard; ln -f new hard; ln -sf new sl; ln -sfn sl sl2; ln -T -s . dot
mkdir -p a/b/c d/e; touch a/b/f; chmod -R u=rwX,go=rX a; chmod -R o-rwx a; chmod g+s a; chmod +t d
rmdir -p d/e; t=$(mktemp -p .); test -f "$t"; stat -c %a "$t"; mv "$t" was-temporary
t=$(mktemp -d -p .); stat -c %a "$t"; mv "$t" was-a-directory; chmod 000 t; chmod a=r,u+w t
chown "$(id -u)" new; chgrp "$(id -g)" new; sync -d new; stat -c '%n %a %h %s' *
""")

program("extended attributes and access lists", """
echo x >f; mkdir d; ln -s f l
setfattr -n user.one -v 1 f; setfattr -n user.two -v 0x000102 f; setfattr -n user.d -v dir d
setfattr -x user.one f; setfattr -h -n user.l -v x l 2>/dev/null || echo not on a link
setfattr -n trusted.x -v 1 f 2>/dev/null || echo not trusted
getfattr -d -m - f d; setfacl -m "u:$(id -u):r,g:$(id -g):rw" f; setfacl -d -m "u:$(id -u):rwx" d
echo in >d/inherits; mkdir d/too; getfacl -cn f d d/inherits d/too; setfacl -b f; chmod 700 d
cp -a d e; getfacl -cn e
""", ["setfattr", "setfacl"])

program("find -delete, rm -r, xargs, a deep tree", """
for a in 1 2 3 4; do mkdir -p t/$a/x/y; for b in 1 2 3 4 5; do echo $b >t/$a/x/y/f$b; done; done
find t -name 'f[12]' -delete; find t/1 -depth -delete; find t -name 'f3' -print0 | xargs -0 rm
rm -r t/2; chmod 500 t/3/x; rm -rf t/3 2>/dev/null || true; chmod -R u+w t; find t | sort
d=.; for n in $(seq 60); do d=$d/deep$n; done; mkdir -p "$d"; echo bottom >"$d/f"; rm -r deep1
""")

program("fifos, and pipelines through them", """
mkfifo p q; (cat p >from-p) & echo through >p; wait;
tr a-z A-Z <p >q & cat q >upper & echo words >p; wait
mkfifo -m 600 private; timeout 0.2 cat p || echo nobody wrote; cat upper from-p
for i in 1 2 3 4 5 6 7 8; do echo $i >p & done; exec 3<p; wait; head -n 8 <&3 | sort -n | tail -1
""")

program("flock: ten writers count together", """
echo 0 >n; for i in 1 2 3 4 5 6 7 8 9 10; do
(flock 9; v=$(cat n); echo $((v + 1)) >n.new; mv n.new n) 9>lock & done; wait; cat n
flock -n lock -c 'flock -n lock -c true || echo held'; flock -s lock cat n
exec 8>lock; flock -n 8; exec 8>&-; flock -n lock echo free
""", ["flock"])

program("a log that is rotated under its writer", """
(for i in 1 2 3 4 5 6; do echo line $i; sleep 0.02; done) >log & sleep 0.05; mv log log.1; wait
echo fresh >log; cp log.1 log.2; gzip -n log.2; : >log.1.tmp; mv log.1.tmp log.1; wc -l log | cat
""")

program("running what was just written", """
printf '#!/bin/sh\\necho script $1\\n' >s; chmod +x s; ./s 1; cp /bin/true t; ./t; rm t;
cp /bin/echo t
./t again; for i in 1 2 3 4 5 6 7 8 9 10; do cp /bin/true x; ./x; done; cp s u; mv u s; ./s 2
""")

# --- languages, editors, databases -----------------------------------------------------------

program("sqlite3: transactions, a rollback, WAL, vacuum", """
sqlite3 a.db 'create table t(a integer primary key, b); begin; insert into t values(1,"x");
insert into t values(2,"y"); commit; begin; delete from t; rollback; select * from t;'
sqlite3 w.db 'pragma journal_mode=wal; create table t(a); insert into t values(1);
insert into t values(2); pragma wal_checkpoint(truncate); select count(*) from t;'
add() { sqlite3 -cmd '.timeout 5000' a.db 'insert into t(b) values("p");'; }
add & add & wait
sqlite3 a.db 'vacuum; select * from t; pragma integrity_check;'
sqlite3 a.db .dump >dump.sql; rm a.db; sqlite3 b.db <dump.sql; ls
""", ["sqlite3"])

program("vim: edits, with and without backups", """
printf 'one\\ntwo\\n' >f; chmod 640 f; ln f hard; ln -s f l
vim -es -u NONE -i NONE -c '%s/one/ONE/' -c wq f
vim -es -u NONE -i NONE -c 'set backup backupcopy=no' -c '$s/two/TWO/' -c wq l
vim -es -u NONE -i NONE -c 'set writebackup backupcopy=yes' -c 'normal Gothree' -c x hard
vim -es -u NONE -i NONE -c 'w new' -c 'q!' f; cat f hard new
""", ["vim"])

program("perl: files, locks, in-place editing", """
perl -e 'open my $f, ">", "a" or die $!; print $f "x\\n"; close $f; rename "a", "b" or die;
link "b","c" or die; symlink "b","d" or die; utime 1000000000,1000000001,"b" or die;
chmod 0600,"c" or die;
mkdir "e",0750 or die; truncate "b",1 or die; unlink("nope") and die; print -s "c", "\\n"'
printf 'q\\n' >i; perl -pi.orig -e 's/q/Q/' i; perl -MFcntl=:flock -e 'open F,"+<","i";
flock F,LOCK_EX|LOCK_NB
or die; seek F,0,2; print F "end\\n"'; perl -MFile::Temp=tempfile -e '($h,$n)=tempfile(DIR=>".");
printf "%o\\n",(stat $h)[2]&0777; unlink $n'; cat i i.orig
""", ["perl"])

program("python: venv, compiled modules, shutil, temporary files", """
export PYTHONDONTWRITEBYTECODE=; mkdir m; echo 'value = 7' >m/mod.py; touch -d @1000000000 m/mod.py
python3 -c 'import sys; sys.path.insert(0,"m"); import mod; print(mod.value)'
python3 -m venv --without-pip env; env/bin/python -c 'print(1)'
python3 - <<'P'
import os, shutil, tempfile, zipfile
shutil.copytree("m", "copy"); shutil.move("copy", "moved"); shutil.make_archive("arc", "zip", "m")
os.remove("arc.zip"); os.makedirs("a/b", exist_ok=True); os.replace("m/mod.py", "a/mod.py")
with tempfile.TemporaryFile(dir=".") as f: f.write(b"x"); print(f.tell())
with tempfile.NamedTemporaryFile(dir=".") as f: print(os.path.exists(f.name))
with tempfile.TemporaryDirectory(dir=".") as d: open(d + "/x", "w").close()
fd = os.open("a", os.O_RDONLY); h = os.open("viafd", os.O_CREAT | os.O_WRONLY, 0o640, dir_fd=fd)
os.write(h, b"hello"); os.utime("viafd", ns=(10**18, 10**18 + 1), dir_fd=fd); os.fchmod(h, 0o604)
try: os.open("viafd", os.O_CREAT | os.O_EXCL, dir_fd=fd)
except FileExistsError as e: print(e.strerror)
shutil.rmtree("moved")
P
""", ["python3"])

program("node: callbacks, promises, streams, recursive rm, watch", """
cat >t.js <<'J'
const fs = require('fs'), p = require('fs/promises'), { pipeline } = require('stream/promises');
(async () => {
  await p.mkdir('a/b/c', { recursive: true });
  await Promise.all([...Array(50).keys()].map(i => p.writeFile(`a/b/f${i}`, `n${i}`)));
  await p.rename('a/b/f0', 'a/first'); await p.copyFile('a/first', 'a/copy');
  await p.symlink('first', 'a/link'); await p.link('a/first', 'a/hard');
  await p.chmod('a/copy', 0o600);
  await p.utimes('a/copy', 1000000000, 1000000000.5); await p.appendFile('a/first', '!');
  await pipeline(fs.createReadStream('a/first'), fs.createWriteStream('a/stream'));
  const h = await p.open('a/handle', 'wx', 0o640); await h.write('abc'); await h.truncate(2);
  await h.close();
  await p.open('a/handle', 'wx').catch(e => console.log(e.code));
  fs.cpSync('a', 'z', { recursive: true }); await p.rm('z/b', { recursive: true });
  const seen = new Promise(done => { const w = fs.watch('a/b/c', (e, n) => { w.close(); done(n);
  }); });
  await p.writeFile('a/b/c/watched', 'x'); console.log(await seen);
  await p.access('a/first', fs.constants.W_OK); fs.writeFileSync('a/sync', 'x', { mode: 0o400 });
  const d = await p.mkdtemp('tmp-'); await p.rmdir(d);
  console.log((await p.readdir('a')).sort().join());
})();
J
node t.js
""", ["node"])

program("npm: a package from a tarball, offline", """
mkdir -p package/bin app;
printf '{"name":"p","version":"1.0.0","bin":{"p":"bin/p.js"}}' >package/package.json
printf '#!/usr/bin/env node\\nconsole.log("p runs")\\n' >package/bin/p.js; chmod +x package/bin/p.js
tar --sort=name --mtime=@1000000000 --owner=0 --group=0 -czf p.tgz package; cd app
printf '{"name":"app","version":"1.0.0"}' >package.json
export npm_config_cache="$PWD/../cache" npm_config_update_notifier=false
npm install --offline --no-audit --no-fund --loglevel=error ../p.tgz >../log 2>&1 ||
    { cat ../log; exit 1; }
node_modules/.bin/p; npm ls --parseable | wc -l; rm -rf ../cache ../log
""", ["npm", "node", "tar"])

run_all()
