"""everyday.py - what programs do every day has the same results inside as without a sandbox.

Each script runs natively first, then inside; status and output are compared, line by line.
"""

import errno
import os
import shutil
import socket
import subprocess

from compare import inside, native
from tap import PATIENCE, SUPERVISED, check, contains, equal, run_all, skip, test


def outputs(fx, words, env=None):
    """What comes out natively and inside, each in the same new directory."""
    results = []
    for wrap in (native, lambda *words: inside(fx, *words)):
        place = fx.project / "d"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        results.append(fx.run(*wrap(*words), cwd=place, env=env))
    return results


def everyday(name, script, needs=(), variants=("full", "flat"), language="python3"):
    @test(name, variants=variants)
    def compare(fx):
        for command in (language, *needs):
            if not shutil.which(command):
                skip(f"no program '{command}'")
        words = [language, "-c", script]
        control, result = outputs(fx, words)
        equal(control.status, 0, f"without a sandbox: {control.stderr}")
        check(control.stdout, "the script says nothing")
        equal(result.stdout.splitlines(), control.stdout.splitlines(), f"output; {result.stderr}")
        equal(result.status, 0, result.stderr)


# --- modes ---------------------------------------------------------------------------------

everyday("modes: what is made has the mode that the last umask leaves, whoever set it", """if 1:
    import os, threading
    made = 0
    def make(whose):
        global made
        made += 1; name = f"{whose}{made}"
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666)); os.mkdir(name + "d")
        print(name, oct(os.stat(name).st_mode), oct(os.stat(name + "d").st_mode), flush=True)
    for mask in (0o077, 0o022, 0o027, 0, 0o002) * 20:
        os.umask(mask); make("own")
    child = os.fork()
    if not child:
        make("child"); os.umask(0o070); make("child"); os._exit(0)
    os.waitpid(child, 0); make("own")
    for mask in (0o077, 0o007) * 20:
        thread = threading.Thread(target=os.umask, args=(mask,)); thread.start(); thread.join()
        make("shared")
""")

everyday("modes: by a descriptor, by its name in /proc, and not by one that is only a place", """if 1:
    import os
    def attempt(what, *words):
        try: what(*words); print("done", end=" ")
        except OSError as problem: print(problem.errno, end=" ")
    for kind in ("file", "directory", "fifo"):
        {"file": os.mknod, "directory": os.mkdir, "fifo": os.mkfifo}[kind](kind)
        for flags in (os.O_PATH, os.O_RDONLY | os.O_NONBLOCK, 3 | os.O_NONBLOCK):
            try: fd = os.open(kind, flags)
            except OSError as problem: print(kind, flags, problem.errno); continue
            for name in (fd, f"/proc/self/fd/{fd}", f"/proc/self/fd/0{fd}", f"/proc/self/fd/{fd}/",
                         f"/proc/self/fd/{fd + 1}", f"/proc/self/fd/-{fd}", f"/proc/self/fd/{fd}x"):
                attempt(os.chmod, name, 0o600 + len(str(name)) % 8); attempt(os.utime, name, (1, 2))
                attempt(os.chown, name, os.getuid(), os.getgid())
                print(kind, flags, oct(os.stat(kind).st_mode), os.stat(kind).st_mtime == 2)
            os.close(fd)
""")


# --- unix sockets --------------------------------------------------------------------------

everyday("sockets: a bound socket calls itself what it was bound to", """if 1:
    import os, socket
    os.makedirs("a/b"); os.symlink("a/b", "l"); here = os.getcwd()
    for text in ("plain", "./dot", "a/b/deep", "a/../a/x", "l/linked", here + "/whole", "a//two",
                 "../d/up", os.path.join(here, "a", "absolute"), "a/b/../" + "n" * 60):
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            server = socket.socket(socket.AF_UNIX, kind)
            server.bind(text); server.listen(1)
            client = socket.socket(socket.AF_UNIX, kind); client.connect(text)
            one, whose = server.accept()
            print(text, server.getsockname(), one.getsockname(), client.getpeername(), repr(whose),
                  oct(os.lstat(text).st_mode))
            one.send(b"x"); print(client.recv(1)); os.unlink(server.getsockname())
    for text in ("nowhere/x", "plain2", "plain2", "a", "a/", "new/", "../d/a/b/same", "a/b/same",
                 "/", ".", "a/b/.."):
        try: socket.socket(socket.AF_UNIX).bind(text); print(text)
        except OSError as problem: print(text, problem.errno)
    server = socket.socket(socket.AF_UNIX); server.bind(here + "/once")
    try: server.bind("a/twice")
    except OSError as problem: print(problem.errno, os.path.exists("a/twice"))
    os.chdir("a/b"); os.umask(0o077); server = socket.socket(socket.AF_UNIX); server.bind("../m")
    print(server.getsockname(), oct(os.lstat("../m").st_mode))
""")

everyday("sockets: multiprocessing's manager, socketserver", """if 1:
    import multiprocessing, os, socketserver, threading, socket
    if __name__ == "__main__":
        os.environ["TMPDIR"] = "/tmp" # an address holds no long path
        multiprocessing.set_start_method("fork")
        with multiprocessing.Manager() as manager:
            shared = manager.dict(); shared["a"] = 1; print(dict(shared))
    class Echo(socketserver.StreamRequestHandler):
        def handle(self): self.wfile.write(self.rfile.readline())
    os.mkdir("run")
    with socketserver.UnixStreamServer("run/echo", Echo) as server:
        print(server.server_address)
        threading.Thread(target=server.handle_request).start()
        client = socket.socket(socket.AF_UNIX); client.connect(server.server_address)
        client.sendall(b"words\\n"); print(client.makefile().readline())
""")


everyday("sockets: pairs keep messages apart, pass descriptors and take no address", """if 1:
    import os, socket
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        a, b = socket.socketpair(socket.AF_UNIX, kind)
        a.send(b"one"); a.send(b"two"); a.send(b""); a.send(b"three")
        print([b.recv(2) for n in range(4)], os.get_inheritable(a.fileno()), a.getsockname())
        r, w = os.pipe(); socket.send_fds(a, [b"fd"], [w]); _, fds, _, _ = socket.recv_fds(b, 9, 1)
        os.write(fds[0], b"through"); print(os.read(r, 9)); a.setblocking(False)
        try: a.recv(1)
        except BlockingIOError: print("nothing there")
        b.send(b"x" * 60000); print(len(a.recv(70000)))
    for kind, protocol in ((socket.SOCK_DGRAM, 7), (6, 0), (10, 0), (socket.SOCK_DGRAM, 1)):
        try: socket.socketpair(socket.AF_UNIX, kind, protocol); print("made")
        except OSError as problem: print(problem.errno)
    import ctypes; libc = ctypes.CDLL(None, use_errno=True); free = os.dup(0); os.close(free)
    for where in (None, ctypes.c_void_p(8)):
        print(libc.socketpair(1, 2, 0, where), ctypes.get_errno(), os.dup(0) == free); os.close(free)
    two = (ctypes.c_int * 2)()
    print(libc.socketpair(1, 2 | socket.SOCK_NONBLOCK, 0, two), [n - free for n in two])
    print([os.get_inheritable(n) for n in two], [os.get_blocking(n) for n in two])
""")


@test("sockets: node listens on a path, with modes, and removes it")
def node_listens(fx):
    if not shutil.which("node"):
        skip("no program 'node'")
    script = """
    const net = require('net'), fs = require('fs'); fs.mkdirSync('run');
    const server = net.createServer(c => c.end('hello'));
    server.listen({ path: process.cwd() + '/run/s', readableAll: true, writableAll: true }, () => {
      console.log(server.address(), (fs.statSync('run/s').mode & 0o777).toString(8));
      net.connect(server.address()).on('data', d => console.log(String(d)))
        .on('close', () => server.close(() => console.log(fs.existsSync('run/s'))));
    });
    """
    control, result = outputs(fx, ["node", "-e", script])
    equal(control.status, 0, control.stderr)
    equal(result.stdout, control.stdout, result.stderr)


# Another program: x is by turns a directory and a link to the guarded one.
SWAP = """if 1:
    import ctypes, os
    libc = ctypes.CDLL(None)
    os.symlink("../.git/hooks", "way/y")
    print("turns", flush=True)
    while not os.path.exists("enough"):
        for n in range(1000): libc.renameat2(-100, b"way/x", -100, b"way/y", 2)
"""
BINDS = """if 1:
    import os, socket
    made, kept = 0, []
    print("ready", flush=True); input()
    for n in range(1 << 20):
        if n >= 800 and made: break # whoever turns the path may be asleep for as long as 800 take
        if n >= 800: kept.pop().close()
        server = socket.socket(socket.AF_UNIX)
        kept.append(server)
        try: server.bind(f"way/x/s{n}"); made += 1
        except OSError: pass
        try: server.listen(4) # also one that was refused its name
        except OSError: pass
    print("made", made, flush=True); input()
"""


if SUPERVISED:  # a static run guards hooks by mounts alone
    @test("sockets: a path that changes under bind leads to no name that is guarded")
    def swapped(fx):
        fx.run("git", "init", "-q", cwd=fx.project)
        hooks = fx.project / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        (fx.project / "way" / "x").mkdir(parents=True)
        before = {found.name for found in os.scandir(hooks)}
        child = fx.start(*fx.argv("python3", "-c", BINDS), stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        equal(child.stdout.readline(), b"ready\n")
        swapper = fx.start("python3", "-c", SWAP, stdout=subprocess.PIPE)
        equal(swapper.stdout.readline(), b"turns\n")
        child.stdin.write(b"\n")
        child.stdin.flush()
        line = child.stdout.readline()
        fx.write("enough")
        equal(swapper.wait(timeout=PATIENCE), 0, "the other program")
        check(line.startswith(b"made"), f"{line} {child.poll()}")
        made = int(line.split()[1])
        check(made > 0, "none could be bound")
        for found in os.scandir(hooks):
            if found.name in before:
                continue
            client = socket.socket(socket.AF_UNIX)
            directory = os.open(hooks, os.O_PATH)  # an address holds no long path
            equal(client.connect_ex(f"/proc/self/fd/{directory}/{found.name}"), errno.ECONNREFUSED,
                  f"{found.path} is served from inside")
            os.close(directory)
        child.communicate(b"\n", timeout=PATIENCE)

    @test("sockets: one that the asker binds calls itself what it was bound to, too")
    def asker(fx):
        script = """if 1:
            import os, socket, sys
            os.mkdir(sys.argv[1]); os.chdir(sys.argv[1])
            for text in ("s", "./t", "../new/u"):
                server = socket.socket(socket.AF_UNIX); server.bind(text)
                print(server.getsockname(), os.path.exists(text))
        """
        new = fx.outside / "new"
        control = fx.run("python3", "-c", script, new)
        equal(control.stdout.count("True"), 3, control.stderr)
        shutil.rmtree(new)
        result = fx.sandbash(f"--allow-write={new}", "python3", "-c", script, new)
        equal(result.stdout, control.stdout, result.stderr)


# --- owners and groups -----------------------------------------------------------------------

# (which group a file has inside only the outside can tell)
OWNERS = """if 1:
    import os, subprocess
    others = sorted({group for group in map(int, os.environ["GROUPS_OUTSIDE"].split())} - {os.getegid()})
    open("f", "w").close(); os.mkdir("d"); os.symlink("f", "l"); fd = os.open("f", os.O_RDWR)
    def attempt(what, *words, **more):
        try: what(*words, **more); print(words, "done")
        except OSError as problem: print(words, problem.errno)
    for group in others:
        attempt(os.chown, "f", -1, group); attempt(os.fchown, fd, os.getuid(), group)
        attempt(os.chown, "d", -1, group); attempt(os.lchown, "l", -1, group)
        print(subprocess.run(["install", "-g", str(group), "-m", "640", "f", "i"]).returncode)
        attempt(os.chown, "none", -1, group)
    for uid, gid in ((os.getuid(), os.getgid()), (-1, 54321), (54321, -1), (54321, 54321), (-1, -1)):
        attempt(os.chown, "f", uid, gid); attempt(os.fchown, fd, uid, gid)
    attempt(os.chown, "/etc/passwd", -1, 54321)
"""


everyday("becoming somebody else: EPERM, as without rights", """if 1:
    import os
    def attempt(name, *words):
        try: getattr(os, name)(*words); print(name, words, "done")
        except OSError as problem: print(name, words, problem.errno)
    for which, own in (("uid", os.getuid()), ("gid", os.getgid())):
        for name, count in (("set", 1), ("sete", 1), ("setre", 2), ("setres", 3)):
            for place in range(count):
                for other in (54321, own, 1, -1):
                    words = [-1] * count; words[place] = other
                    if words != [-1]: attempt(name + which, *words)
    print(os.getresuid() == (os.getuid(),) * 3, os.getresgid() == (os.getgid(),) * 3)
""")

if SUPERVISED:  # a static run has nobody outside its namespace
    @test("chgrp to one's further groups; EPERM for those of others", variants=("full", "flat"))
    def owners(fx):
        groups = " ".join(map(str, os.getgroups()))
        found = []
        for wrap in (native, lambda *words: inside(fx, *words)):
            place = fx.project / "d"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            result = fx.run(*wrap("python3", "-c", OWNERS), cwd=place, env={"GROUPS_OUTSIDE": groups})
            equal(result.status, 0, result.stderr)
            found.append([result.stdout, *sorted((entry.name, entry.stat(follow_symlinks=False).st_gid,
                                                  oct(entry.stat(follow_symlinks=False).st_mode))
                                                 for entry in os.scandir(place))])
        equal(found[1], found[0])

    everyday("one's groups: all of them, by their numbers", """if 1:
    import ctypes, os, subprocess
    libc = ctypes.CDLL(None, use_errno=True)
    print(sorted(os.getgroups()), subprocess.run(["id", "-G"], capture_output=True).stdout)
    count = len(os.getgroups()); room = (ctypes.c_uint * (count + 2))(*[7] * (count + 2))
    for size, at in ((0, None), (-1, room), (count - 1, room), (count, None), (count, ctypes.c_void_p(8)), (count + 1, room)):
        print(libc.getgroups(size, at), ctypes.get_errno(), sorted(room))
    try: os.setgroups([os.getgid()]); print("set")
    except PermissionError: print("EPERM")
    """)

    everyday("a process that does not want to be looked at", """if 1:
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.prctl(4, 0, 0, 0, 0), libc.prctl(4, 3, 0, 0, 0), ctypes.get_errno()) # PR_SET_DUMPABLE
    os.mkdir("d"); open("d/f", "w").close(); os.rename("d/f", "d/g"); os.chmod("d/g", 0o600); print(os.listdir("d"))
    print(libc.prctl(4, 1, 0, 0, 0), libc.prctl(3, 0, 0, 0, 0))
    """)

    everyday("gpg: a key, a signature", """
    mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg -q --batch --passphrase '' --quick-gen-key me@x ed25519 default never 2>/dev/null; echo $?
    echo hi >m; gpg -q --batch -s m; echo $?; gpg -q --verify m.gpg 2>&1 | grep -c Good; gpgconf --kill all
    """, ["gpg", "gpg-agent"], ("full", "flat"), "sh")

    everyday("chattr and lsattr", """
    touch f; mkdir d; mkfifo p; lsattr -d f d
    for flag in +d +A +S -d +s +i +a +j +C +c -S -i; do chattr $flag f 2>&1; echo $flag $?; lsattr f; done
    chattr +D +A d 2>&1; echo $?; lsattr -d d; chattr +d f d none 2>&1; echo $?; lsattr -d f d
    chattr +d p /proc/self/status 2>&1; echo $?
    """, ["chattr", "lsattr"], ("full", "flat"), "sh")

    everyday("an access list for somebody else", """
    echo x >f; setfacl -m u:54321:r f; echo $?; chmod 640 f; stat -c %a f; setfacl -b f; stat -c %a f
    """, ["setfacl"], ("full", "flat"), "sh")


everyday("cp -a, install and id", """
umask 022; echo x >f; chmod 640 f; ln -s f l; touch -h -d @1000 f l; mkdir c; cp -a f l c; stat -c '%n %a %Y %F %U %G' c/*
install -m 750 -o "$(id -un)" -g "$(id -gn)" f i; stat -c '%a %U %G' i; cp -p i j; stat -c '%a %U' j; id -u; id -gn
""", ["install"], ("full", "flat"), "sh")


# --- temporary directories -------------------------------------------------------------------

if SUPERVISED:
    everyday("its own /tmp: hooks, settings and profiles can be made and work there", """
    d=$(mktemp -d -p /tmp); cd "$d"; trap 'rm -rf "$d"' EXIT
    git init -q . && printf '#!/bin/sh\necho the hook runs\n' >.git/hooks/pre-commit
    chmod +x .git/hooks/pre-commit; git config alias.hi '!echo hi'; git hi
    git config user.name n; git config user.email e@x; git commit -q --allow-empty -m m; echo $?
    mkdir -p .pip .vscode bin; echo x >.pip/pip.conf; echo x >.envrc; echo x >.vscode/tasks.json
    echo 'X=$(true)' >.env; mkdir -p made/.git/hooks; mv made/.git moved.git; mv moved.git made/.git
    ln -s /nonexistent .bashrc; mkdir p; mv made/.git p/; find . -path ./.git -prune -o -print | sort
    """, ["git", "mktemp"], ("full",), "sh")

    @test("its own /tmp: a tree that was prepared there asks where it arrives")
    def arrives(fx):
        make = ('d=$(mktemp -d -p /tmp); mkdir -p $d/r/.git/hooks $d/r/.git/objects $d/r/.git/refs; '
                'echo x >$d/r/.git/hooks/post-commit; echo x >$d/r/plain; mv $d/r r; s=$?; '
                'rm -rf $d; exit $s')
        hook = fx.project / "r" / ".git" / "hooks" / "post-commit"
        control = fx.run("sh", "-c", make)
        equal((control.status, hook.exists()), (0, True), control.stderr)
        shutil.rmtree(fx.project / "r")
        result = fx.sandbash("sh", "-c", make)
        check(result.status != 0, "moved without a question")
        equal(hook.exists(), False, "the hook arrived")
        contains(result.stderr, "post-commit")
        equal((fx.project / "r" / "plain").exists(), True, "the neighbour")
        result = fx.sandbash("python3", "-c", """if 1:
            import os
            os.makedirs("/tmp/t/hooks"); open("/tmp/t/hooks/x", "w").close(); os.mkdir("g")
            for act, *words in ((os.rename, "/tmp/t", ".git"), (os.rename, "/tmp/t/hooks", "g/hooks"),
                                (os.link, "/tmp/t/hooks/x", "g/x")):
                try: act(*words); print("done")
                except OSError as problem: print(problem.errno == 18)
        """)
        equal(result.stdout, "True\n" * 3, result.stderr)

    @test("its own /tmp: a project that lies in /tmp is guarded", home_in_tmp=True)
    def in_tmp(fx):
        hook = fx.project / ".git" / "hooks" / "post-commit"
        equal(fx.run("git", "init", "-q", cwd=fx.project).status, 0)
        words = ["sh", "-c", 'mkdir -p .git/hooks; echo x >.git/hooks/post-commit; echo x >plain']
        fx.sandbash(*words)
        equal((hook.exists(), (fx.project / "plain").exists()), (False, True), "inside")
        fx.run(*words)
        equal(hook.exists(), True, "control")


everyday("temporary directories: a program that looks first finds them writable", """if 1:
    import os, subprocess
    for place in ("/tmp", "/dev/shm", ".", "/tmp/", "/tmp/none"):
        print(place, [os.access(place, how) for how in (os.R_OK, os.W_OK, os.X_OK, os.R_OK | os.W_OK | os.X_OK)])
    print(subprocess.run(["gcc", "-c", "-x", "c", "-o", "/dev/null", "-"], cwd="/", input=b"int a;").returncode)
""", ["gcc"])


# --- POSIX message queues ----------------------------------------------------------------------

if SUPERVISED:  # a static run does not open them: enforce/linux_mounts.c
    everyday("POSIX message queues are made, shared with children, and gone when they are removed", """if 1:
    import ctypes, errno, os
    libc, name = ctypes.CDLL(None, use_errno=True), b"/sandbash-test-%d" % os.getpid()
    def call(function, *words):
        got = getattr(libc, function)(*words)
        print(function, errno.errorcode[ctypes.get_errno()] if got < 0 else "done")
        return got
    call("mq_open", name, os.O_WRONLY)
    queue = call("mq_open", name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, None)
    call("mq_open", name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, None)
    child = os.fork()
    if not child:
        libc.mq_send(libc.mq_open(name, os.O_WRONLY), b"from the child", 14, 7)
        os._exit(0)
    os.waitpid(child, 0)
    text, priority = ctypes.create_string_buffer(8192), ctypes.c_uint()
    call("mq_receive", queue, text, 8192, ctypes.byref(priority))
    print(text.value, priority.value)
    call("mq_unlink", name); call("mq_unlink", name); call("mq_close", queue)
    """, variants=("full",))


# --- limits and priorities -------------------------------------------------------------------

# of another process of the run, and of a thread by its number
if SUPERVISED:
    everyday("renice, taskset, prlimit, ionice, chrt on the run's own processes", """
    sleep 1060 & p=$!
    renice -n 19 -p $p | sed "s/$p/P/"; ps -o ni= -p $p
    taskset -cp 0 $p >/dev/null; taskset -cp $p | sed "s/$p/P/"
    prlimit --pid $p --nofile=100:200; prlimit --pid $p --nofile --noheadings -o SOFT,HARD
    ionice -c 2 -n 6 -p $p; ionice -p $p; chrt -b -p 0 $p; chrt -p $p | sed "s/$p/P/"
    renice -n 5 -p 999999999 2>/dev/null || echo none; kill $p
    """, ["renice", "taskset", "prlimit", "ionice", "chrt", "ps"], ("full",), "sh")

    everyday("a thread is pinned by its number", """if 1:
        import os, threading
        one = {min(os.sched_getaffinity(0))}
        def work(): os.sched_setaffinity(threading.get_native_id(), one); print(os.sched_getaffinity(0))
        thread = threading.Thread(target=work); thread.start(); thread.join()
        os.setpriority(os.PRIO_PROCESS, os.getpid(), 19); print(os.getpriority(os.PRIO_PROCESS, 0))
        import resource
        resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (100, 200)); print(resource.getrlimit(resource.RLIMIT_NOFILE))
    """)


# --- signals ---------------------------------------------------------------------------------

# A job that ends interrupts its shell, which puts its input back in that moment.
everyday("dash reads 1000 lines from a FIFO, each of a job that ends", """
mkfifo p; i=0; bad=0
while [ $i -lt 1000 ]; do
    echo $i >p & read -r l <p; [ "$l" = $i ] || bad=$((bad + 1)); wait; i=$((i + 1))
done
echo $bad
""", language="dash")


run_all()
