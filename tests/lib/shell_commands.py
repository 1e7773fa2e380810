"""shell_commands.py - random shell commands on a small tree of files, and whether a preview told what they did.

    copy_tree(model, top); before = look(top); run(command); judge(preview, before, look(top), top, ran_well(command, ...))

Commands are made of what people write: the programs of src/shell/models.c, redirections, conditions, loops, functions,
variables, wrappers.  They stay in the tree.
"""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

FILES = {"a.txt": "alpha\nbeta\n", "b.txt": "beta\nalpha\nbeta\n", "c.c": "int c;\n", "d.c": "int d;\n", "e.o": "o",
         "sp ace": "x y\n", "dir/x": "1\n", "dir/y": "2\n", "dir/sub/z": "3\n", "two/x": "4\n", "two/n.c": "int n;\n",
         "-dash": "-\n", "run.sh": "#!/bin/sh\necho ran > ran.out\n", "star*": "*\n"}
EMPTY = ("empty",)


def make_tree(top):
    """Once; then copy_tree()."""
    for name, text in FILES.items():
        path = Path(top, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in EMPTY:
        Path(top, name).mkdir()
    Path(top, "run.sh").chmod(0o755)
    os.symlink("dir", Path(top, "link"))
    subprocess.run(["tar", "-czf", "old.tgz", "dir"], cwd=top, check=True)
    subprocess.run(["gzip", "-k", "a.txt"], cwd=top, check=True)
    for directory, _, files in os.walk(top):
        for name in files:
            os.utime(os.path.join(directory, name), (1_000_000_000, 1_000_000_000))


def copy_tree(model, top):
    shutil.rmtree(top, ignore_errors=True)
    shutil.copytree(model, top, symlinks=True)


def look(top):
    """{path: what it is}; of a directory only that it is one, and its mode."""
    found = {}
    for directory, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(directory, name)
            info = os.lstat(path)
            if stat.S_ISDIR(info.st_mode):
                found[path] = (info.st_mode,)
            else:
                found[path] = (info.st_mode, info.st_ino, info.st_mtime_ns, info.st_size, info.st_ctime_ns)
    return found


# --- commands ------------------------------------------------------------------------------------------

class Maker:
    def __init__(self, random):
        self.random = random
        self.pick = random.choice
        self.depth = 0

    def name(self):
        return self.pick(["a.txt", "b.txt", "c.c", "dir/x", "dir/sub/z", "two/x", "e.o", "sp ace", "new1", "new2",
                          "dir/new", "empty/n", "./a.txt", "dir/../b.txt", "link/x", "missing"])

    def directory(self):
        return self.pick(["dir", "two", "empty", "dir/", "two/.", "newdir", "dir/sub", ".", "link"])

    def quoted(self, text):
        """The same word in one of the ways in which it can be written."""
        kind = self.random.randrange(8)
        if kind == 0:
            return '"' + text + '"'
        if kind == 1:
            return "$'" + text.replace(" ", "\\x20") + "'"
        if kind == 2 and "/" in text:
            return "'" + text.split("/")[0] + "'/" + '"' + "/".join(text.split("/")[1:]) + '"'
        if " " in text or "*" in text:
            return "'" + text + "'"
        return text

    def file(self):
        kind = self.random.randrange(12)
        if kind == 0:
            return self.pick(["*.c", "dir/*", "?.txt", "[ab].txt", "*.none", "two/*.c", "@(a|b).txt", "{a,b}.txt", "dir/{x,y}",
                              "n{1..3}", "star\\*", "'star*'"])
        if kind == 1:
            return self.pick(['"$V"', "$V", "${V}", "${V%.c}.h", "$D/x", '"$D"/x', "${N:-a.txt}", "${W:+b.txt}", "~/a.txt",
                              "$HOME/b.txt", "$PWD/c.c", "$(pwd)/two/x", "$(echo a.txt)", "`echo b.txt`", "${V##*/}", '"${V##*/}"', '"${V%.*}.h"', '"${PWD##*/}"', "${V##+([a-c])}z",
                              "$((1+1)).txt", "$RANDOM.txt", "${V/a/b}", "${#V}"])
        return self.quoted(self.name())

    def text(self):
        return self.pick(["hello", "'$(rm b.txt)'", '"$V"', "a\\ b", "$D", "x > y".replace(">", "'>'")])

    def simple(self):
        file, other, directory = self.file(), self.file(), self.directory()
        return self.pick([
            f"cp {file} {other}", f"cp {file} {other} {directory}", f"cp -r {directory} {self.pick(['copy', 'two', 'two/', 'empty'])}",
            f"cp -t {directory} {file}", f"cp -T {file} {other}", f"cp -n {file} {other}", f"cp {file} -- {other}",
            f"cp --target-dir={directory} {file}", f"cp -bf {file} {other}",
            f"cp -P {file} {other}", f"cp -rP link {directory}", f"cp --backup=numbered {file} {other}", f"cp -S .zz {file} {other}",
            f"mv --suffix=.sv --backup {file} {other}", f"VERSION_CONTROL=t install -b {file} {other}", f"SIMPLE_BACKUP_SUFFIX=.q ln -bf {file} {other}",
            f"mv {file} {other}", f"mv {file} {directory}", f"mv -t {directory} {file} {other}", f"mv {directory} moved",
            f"rm {file}", f"rm -f {file} {other}", f"rm -rf {directory}", f"rm -r -- {directory}", f"rm -- -dash",
            f"ln -s {file} ln1", f"ln -sf {file} {directory}", f"ln {file} hard", f"ln -s ../{self.name().split('/')[0].replace(' ', '_')}",
            f"mkdir {self.pick(['m1', 'dir/m2', 'm1 m2'])}", f"mkdir -p {self.pick(['p/q/r', 'dir/p', 'dir'])}", f"rmdir {directory}",
            f"touch {file}", f"touch -c {file}", f"touch -d 2001-01-01 {file} {other}", f"tee {file} < {other}", f"tee -a {file} </dev/null",
            f"dd if={self.name().replace(' ', '_')} of=dd.out status=none", "install -m 600 a.txt inst", f"install -D a.txt i/j/k",
            f"install -d id1 id2", f"sed -i s/alpha/gamma/ {file}", f"sed -i.bak -e '1d' {file}", f"sed -n '1p;$p' {file}",
            f"sed '/x/w sed.out' {file}", f"sed 's/alpha/x/w sed2.out' {file}", f"truncate -s 3 {file}", f"truncate -c -s 0 {file}",
            f"chmod 700 {file}", f"chmod -x run.sh", f"chmod u+x {file}", f"chmod -R go-w {directory}",
            "tar xzf old.tgz -C empty", "tar -xzf old.tgz", "tar czf new.tgz dir two", "tar -C dir -cf t.tar x y", "tar tzf old.tgz",
            "tar -cf t2.tar --remove-files two", "gzip b.txt", "gunzip -f a.txt.gz", "gzip -dc a.txt.gz", "gzip -k c.c", "xz c.c",
            f"sort {file}", f"sort -o {other} a.txt", f"sort a.txt --output=sorted", "uniq a.txt uniq.out", "split -l 1 b.txt part.",
            "split -l 1 b.txt", "csplit -s a.txt 2", f"find {directory} -name '*.c'", f"find {directory} -type f -delete",
            f"find {directory} -name x -exec rm {{}} \\;", f"find . -name '*.txt' -exec touch {{}} +", "find dir -fprint found.list",
            "find . -name '*.o' | xargs rm -f", "ls *.c | xargs -I{} cp {} {}.copy", "echo a.txt | xargs rm", "printf 'a.txt\\0' | xargs -0 rm",
            f"cat {file} {other}", f"grep -q alpha {file}", f"diff a.txt b.txt", f"wc -l {file}", "cmp a.txt b.txt", f"head -n1 {file}",
            "./run.sh", "sh run.sh", "bash ./run.sh", "python3 -c 'open(\"py.out\", \"w\")'", "perl -pi -e 's/alpha/omega/' a.txt",
            "awk '{print}' a.txt", "awk '{print > \"awk.out\"}' a.txt", "awk 'BEGIN{system(\"touch awk2\")}'",
            f"echo {self.text()}", f"printf '%s\\n' {self.text()}", "true", "false", ":", "pwd", "date", "test -f a.txt", "[ -e missing ]",
            f"cd {directory}", "cd ..", "cd", "cd -", f"pushd {directory}", "unlink e.o", f"mktemp mk.XXXXXX", "mkfifo fifo1", "link a.txt lk",
            "patch -s a.txt < /dev/null", "zip -q z a.txt", "unzip -q missing.zip", "rsync -a dir/ rs", "shred -n1 a.txt",
            "git init -q g1", "git status", "V=b.txt", "V=dir/x D=two", "export D=two", "local_x=1", "read V < a.txt", "unset V", "D=$PWD/dir",
            f"V={self.quoted(self.name())}", "V+=x", "V=(a.txt b.txt)", "let 'k=1'", "((k++))", "printf -v V %s c.c", "set -- a.txt b.txt",
            "shift", 'rm -f "$1"', 'touch "$@"', "exec 3> fd3", "set -e", "set +e", "exit", "exit 0", "return 0", "eval 'touch ev1'", 'eval "rm $V"',
            "eval touch e$V", "trap 'touch trapped' EXIT", 'trap \'rm -f "$V"\' EXIT', "trap 'touch $D.t' DEBUG", "trap - EXIT",
            "CDPATH=dir cd sub > /dev/null", "BASH_ENV=./run.sh bash -c :", "export BASH_ENV=./run.sh", "declare -i V=1+2", "declare -u V", "declare -l D=TWO",
            "declare -n V=D", "V=new1 bash -c 'touch $V'", "command rm a.txt", "builtin cd dir", "/bin/rm b.txt", "\\rm c.c", "'rm' d.c", "r'm' e.o",
            "X=rm; $X a.txt", "alias ll=ls", "shopt -s nullglob", "IFS=.; touch $V", "PATH=/nowhere rm a.txt", "HOME=/x touch ~/a.txt",
            "umask 077", "sleep 0", "env | grep -c . > envs", "hash -r", ". ./run.sh", "xxd a.txt xx.out", "nohup touch nh",
        ])

    def redirected(self):
        line = self.simple()
        if self.random.random() < 0.35:
            file = self.file()
            line += " " + self.pick([f"> {file}", f">> {file}", f"2> {file}", f"&> {file}", f">| {file}", f"< {file}", "> /dev/null",
                                     "2>&1", ">&2", f"<> {file}", f"> {file} 2>&1", "<<< text", f"3> {file} 4>&3", f">& {file}", f"2>> {file}",
                                     "{fd}> named", "< <(cat a.txt)", "> >(cat > proc.out)"])
        if self.random.random() < 0.1:
            return self.pick([f"> {self.file()} ", "2> /dev/null ", "V=d.c ", "LC_ALL=C "]) + line
        return line

    def wrapped(self):
        words = self.pick(["env", "env -i", "env A=1", "nice", "nice -n 5", "timeout 20", "nohup", "stdbuf -oL", "setsid -w", "command", "time", "xargs",
                           "exec", "env -C dir", "ionice -c 3", "timeout -k 1 20 env B=2 nice", "flock lockfile", "eval", "! "])
        inner = self.pick([f"rm {self.file()}", f"touch {self.file()}", f"cp {self.file()} {self.file()}", "tee wrapped", f"sh -c 'touch w1; rm a.txt'",
                           f"mkdir wd", "cat a.txt"])
        return f"{words} {inner} < /dev/null"

    def script(self):
        text = self.inner().replace("'", "'\\''")
        return self.pick([f"sh -c '{text}'", f"bash -c '{text}'", f"bash -c '{text}' name a.txt b.txt", f"( {self.inner()} )", f"bash -ec '{text}'",
                          f"echo $( {self.inner()} )", f"eval '{text}'", f"bash <<'EOF'\n{self.inner()}\nEOF\n", f"cat <<EOF > doc\n$( {self.redirected()} )\nEOF\n",
                          f"coproc {{ {self.inner()}; }}"])

    def compound(self):
        one, two, three = self.inner(), self.inner(), self.redirected()
        return self.pick([
            f"if {three}; then {one}; else {two}; fi", f"if test -f {self.file()}; then {one}; fi", f"for f in a.txt b.txt; do {one}; rm -f $f; done",
            f"for f in *.c; do cp $f $f.bak; done", f"for f in *; do test -f \"$f\" && cp \"$f\" dir/; {one}; done",
            f"for V in a.txt 'sp ace' n; do touch \"$V\"; {one}; done", f"while read V; do touch \"$V\"; done < a.txt",
            f"i=0; while test $i -lt 2; do touch w$i; i=$((i+1)); done", f"k{self.depth}=0; until test $((k{self.depth}++)) -gt 0; do {one}; done",
            f"while true; do {one}; break; done", f"for f in a b c; do {three}; break; done", f"for ((i=0;i<2;i++)); do touch i$i; done",
            f"case $V in a*) {one};; *) {two};; esac", f"f() {{ {one}; }}; f", f"f() {{ rm \"$1\"; local V=q; touch $V; }}; f {self.file()}; touch $V",
            f"f() {{ return; }}; f; {one}", f"{{ {one}; }} > grouped", f"[[ -f a.txt && $V == *.c ]] && {three}", f"function g {{ cd dir; {three}; }}; g; touch here",
            f"for f in a.txt missing; do cat $f > /dev/null || continue; touch $f.ok; done", f"( cd dir && {one} ); touch after",
            f"cd dir || exit; {one}", f"grep -q nothing a.txt || exit; {one}", f"set -e; grep -q nothing a.txt; {one}", f"{three} &", f"select_=1; {one}",
            f"for i in 1 2; do for j in x y; do touch $i$j; {self.pick(['break', 'continue'])} {self.pick(['', '1', '2', '9'])}; done; {three}; done; touch l",
            f"for i in 1 2; do while {three}; do break 2; done; touch o$i; done", f"select V in a.txt b.txt; do {one}; break; done < {self.pick(['/dev/null', 'a.txt'])}",
            f"trap 'touch x.t' EXIT; {one}; cd dir", f"c() {{ rm -f $V; }}; trap c EXIT; V=b.txt; {one}; V={self.pick(['a.txt', 'dir/x'])}",
        ])

    def inner(self):
        self.depth += 1
        line = self.line()
        self.depth -= 1
        return line

    def line(self):
        depth = self.depth
        kinds = [self.redirected] * 6 + [self.wrapped]
        if depth < 2:
            kinds += [self.compound, self.script]
        parts = [self.pick(kinds)() for _ in range(self.pick([1, 1, 2, 2, 3] if not depth else [1, 1, 2]))]
        line = parts[0]
        for part in parts[1:]:
            line += self.pick(["\n", "\n"]) if "<<" in line else self.pick(["; ", " && ", " || ", " | ", "\n", "; "])
            line += part
        return line

    def command(self):
        start = self.pick(["", "", "V=a.txt\n", "D=dir; ", "V=c.c D=two W=1\n"])
        return start + self.line()


# --- the judgement --------------------------------------------------------------------------------------

def pattern_of(path):
    """A path of a preview as a regular expression; "**" is any number of directories."""
    found, i = "", 0
    while i < len(path):
        if path[i] == "\\" and i + 1 < len(path):
            found += re.escape(path[i + 1])
            i += 1
        elif path.startswith("**/", i):
            found += "(?:.*/)?"
            i += 2
        elif path.startswith("**", i):
            found += ".*"
            i += 1
        elif path[i] == "*":
            found += "[^/]*"
        elif path[i] == "?":
            found += "[^/]"
        elif path[i] == "[" and "]" in path[i + 2:]:
            end = path.index("]", i + 2)
            found += "[" + path[i + 1:end].replace("\\", "\\\\").replace("!", "^", 1) + "]"
            i = end
        else:
            found += re.escape(path[i])
        i += 1
    return re.compile(found + "(?:/.*)?", re.S)


WRITES = {"created": ("create", "modify"), "changed": ("create", "modify", "move", "delete"), "gone": ("delete", "move")}


def changes(before, after):
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            yield path, "created"
        elif path not in after:
            yield path, "gone"
        elif before[path][:4] != after[path][:4]:  # a second name changes the ctime, too
            yield path, "changed"


def ran_well(command, status, output, errors):
    """Did all of it work?  Only where what went wrong would have been seen; zip tells it with its output."""
    return status == 0 and not errors and "zip error" not in output and not re.search(r"[2&]>|>&|\|&", command)


def judge(preview, before, after, top, well):
    """A sentence for each thing that is wrong.  well: nothing failed in it."""
    writes = [file for file in preview["files"] if file["act"] != "read"]
    open_ended = preview["unknown"] or any(file["certainty"] == "unknown" for file in writes)

    def covers(file, path):
        if file["certainty"] == "unknown":
            return False
        said = file["path"]
        led = os.path.realpath(os.path.dirname(said)) + "/" + os.path.basename(said)
        ways = {said, led, os.path.realpath(said)}
        patterns = (said, led) if file["certainty"] == "possible" else ()
        return any(path == way or path.startswith(way + "/") for way in ways) or (
            any(pattern_of(way).fullmatch(path) for way in patterns)) or (
            said.endswith("**") and path.startswith(os.path.realpath(said[:-3]) + "/"))

    for path, what in changes(before, after):
        if not open_ended and not any(file["act"] in WRITES[what] and covers(file, path) for file in writes):
            yield f"{path} is {what}, and nothing says so"
    if not well:
        return
    for file in writes:
        if file["certainty"] != "certain" or not file["path"].startswith(top):
            continue
        path = file["path"]
        others = [other for other in writes if other is not file]
        real = os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
        if any(covers(other, path) or covers(other, real) or other["certainty"] == "unknown" for other in others) or preview["unknown"]:
            continue  # something later may have undone it
        there = os.path.lexists(path)
        if file["act"] in ("delete", "move") and there:
            yield f"{path} is still there: {file['act']} was certain"
        elif file["act"] in ("create", "modify"):
            led = os.path.realpath(path)
            if not there and not os.path.exists(led):
                yield f"{path} is not there: {file['act']} was certain"
            elif led in before and before[led] == after.get(led) and before.get(path) == after.get(path) and not os.path.isdir(led) and file["act"] == "create":
                yield f"{path} is as before: {file['act']} was certain"
