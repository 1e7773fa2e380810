"""consent.py - C1 to C6, whole: a command under sandbash, a terminal, and somebody who answers."""

import json
import os
import re
import shutil
import socket
import threading
import time

from person import PROMPT, UNTIL, Person, shell
from tap import PATIENCE, check, contains, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")


def need(program):
    if not shutil.which(program):
        skip(f"no {program} here")


# --- one operation of every kind --------------------------------------------------------


@test("C1 a write outside asks; yes, and the very call goes on", variants=BOTH)
def write_goes_on(fx):
    person = shell(fx)
    person.term.send(f"echo x > {fx.outside}/file; echo status=$?\n")
    screen = person.answer("1", "wants to create", fx.outside / "file")
    contains(screen, "bash (process ")
    person.term.expect("status=0")
    equal(fx.read(fx.outside / "file"), "x\n")
    person.term.expect(PROMPT)
    contains(person.term.screen(), "% echo x >")  # what stood there is back
    person.term.send("exit 7\n")
    equal(person.end(), 7)


@test("C1 no: the program sees that it may not, and the same is not asked again", variants=BOTH)
def denial_lasts(fx):
    person = shell(fx)
    person.term.send(f"echo x > {fx.outside}/file; echo status=$?\n")
    person.answer("3", fx.outside / "file")
    person.term.expect("Permission denied")
    person.term.expect("status=1")
    for again in (f"echo y > {fx.outside}/file", f"touch {fx.outside}/file",
                  f"(cd {fx.outside} && echo z > ./file)", f"cp rc {fx.outside}/../outside/file"):
        person.term.send(f"{again}; echo status=$?\n")
        person.term.expect("status=1")
    check(not person.shows(), "asked again")
    check(not fx.exists(fx.outside / "file"))
    person.term.send("exit 5\n")
    equal(person.end(), 5)


@test("C1 Ctrl-C, Ctrl-D and Esc at a question mean no, and do not reach the command",
      variants=BOTH)
def keys_that_deny(fx):
    person = shell(fx)
    for number, key in enumerate(("\x03", "\x04", "\x1b")):
        person.term.send(f"echo x > {fx.outside}/file{number}; echo status=$?\n")
        person.answer(key, f"/file{number}")
        person.term.expect("status=1")
        person.term.expect(PROMPT)
    equal(os.listdir(fx.outside), [])
    person.term.send("echo alive\n")
    person.term.expect("\nalive")
    person.term.send("exit\n")
    equal(person.end(), 0)


OPERATIONS = [
    # what to run, what the question says, a test of the outcome
    ("touch {o}/new", "create", lambda o: (o / "new").exists()),
    ("cp inside {o}/copy", "create", lambda o: (o / "copy").read_text() == "inside\n"),
    ("mkdir {o}/made", "make the directory", lambda o: (o / "made").is_dir()),
    ("rm -f {o}/old", "delete", lambda o: not (o / "old").exists()),
    ("rmdir {o}/empty", "delete the directory", lambda o: not (o / "empty").exists()),
    ("ln -s target {o}/link", "make the link", lambda o: os.readlink(o / "link") == "target"),
    ("ln {o}/old {o}/second", "give another name", lambda o: (o / "old").stat().st_nlink == 2),
    ("chmod 640 {o}/old", "mode", lambda o: (o / "old").stat().st_mode & 0o777 == 0o640),
    ("touch -d 2001-01-01 {o}/old", "", lambda o: (o / "old").stat().st_mtime < 1e9),
    ("mv {o}/old {o}/older", "rename",
     lambda o: (o / "older").exists() and not (o / "old").exists()),
    ("mkfifo {o}/fifo", "create", lambda o: (o / "fifo").is_fifo()),
    ("truncate -s 0 {o}/old", "write to", lambda o: (o / "old").stat().st_size == 0),
    ("python3 -c \"open('{o}/py', 'w').write('py')\"", "create",
     lambda o: (o / "py").read_text() == "py"),
    ("dd if=inside of={o}/dd status=none", "create", lambda o: (o / "dd").stat().st_size == 7),
]


def prepare(fx):
    fx.write("inside", "inside\n")
    fx.write(fx.outside / "old", "old\n")
    (fx.outside / "empty").mkdir()


def one_operation(command, words, outcome):
    def approved(fx):
        prepare(fx)
        need(command.split()[0])
        person = Person(fx, "bash", "-c", command.format(o=fx.outside) + "; exit $?")
        questions = 0
        while person.term.process.poll() is None:
            person.until(lambda: person.shows() or person.term.process.poll() is not None,
                         "neither a question nor an end")
            if not person.shows():
                break
            if not questions:
                contains(person.term.screen(), words)
            questions += 1
            check(questions <= 2, f"asked more than twice:\n{person.term.screen()}")
            person.answer("1")
        equal(person.end(), 0, person.term.screen())
        check(outcome(fx.outside), f"not done: {os.listdir(fx.outside)}")
        equal(questions, 1, "questions")

    def refused(fx):
        prepare(fx)
        before = fx.snapshot(fx.outside)
        person = Person(fx, "bash", "-c", command.format(o=fx.outside))
        while person.term.process.poll() is None:
            person.until(lambda: person.shows() or person.term.process.poll() is not None,
                         "neither a question nor an end")
            if person.shows():
                person.answer("3")
        check(person.end() != 0, "refused and yet successful")
        contains(person.term.output, "ermi")  # "Permission denied", "Operation not permitted"
        equal(fx.snapshot(fx.outside), before)

    return approved, refused


for operation in OPERATIONS:
    allowed, denied = one_operation(*operation)
    test(f"C1 yes to {operation[0]}", variants=BOTH)(allowed)
    test(f"C1 no to {operation[0]}", variants=BOTH)(denied)


@test("C1 mv from the project to the outside: one question, and the file has moved", variants=BOTH)
def move_out(fx):
    prepare(fx)
    person = Person(fx, "mv", "inside", fx.outside / "moved")
    person.answer("1", fx.outside / "moved")
    equal(person.end(), 0, person.term.screen())
    equal(fx.read(fx.outside / "moved"), "inside\n")
    check(not fx.exists("inside"))


@test("C1 mv of a directory from outside into the project: asked about what leaves", variants=BOTH)
def move_in(fx):
    fx.write(fx.outside / "d" / "f", "f\n")
    person = Person(fx, "bash", "-c", f"mv {fx.outside}/d here; echo status=$?")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            person.answer("2")
    person.end()
    equal(fx.read("here/f"), "f\n")
    check(not fx.exists(fx.outside / "d"), person.term.screen())


@test("C1 sed -i outside: a question for its temporary file, one for what it replaces",
      variants=BOTH)
def sed_in_place(fx):
    fx.write(fx.outside / "text", "one\n")
    person = Person(fx, "sed", "-i", "s/one/two/", fx.outside / "text")
    person.answer("1", fx.outside)
    person.answer("1", fx.outside / "text")
    equal(person.end(), 0, person.term.screen())
    equal(fx.read(fx.outside / "text"), "two\n")
    equal(os.listdir(fx.outside), ["text"])


@test("C1 git init elsewhere: the directory once, and everything in it", variants=BOTH)
def git_elsewhere(fx):
    need("git")
    (fx.outside / "other").mkdir()
    person = Person(fx, "git", "init", "-q", fx.outside / "other")
    questions = 0
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            questions += 1
            person.answer("2")
    equal(person.end(), 0, person.term.screen())
    check(fx.exists(fx.outside / "other/.git/HEAD"))
    check(questions <= 2, f"{questions} questions")


@test("C1 node writes outside after a yes", variants=BOTH)
def node_writes(fx):
    need("node")
    person = Person(fx, "node", "-e",
                    f"require('fs').writeFileSync('{fx.outside}/n', 'node')")
    contains(person.answer("1", fx.outside / "n"), "node (process")
    equal(person.end(), 0, person.term.screen())
    equal(fx.read(fx.outside / "n"), "node")


@test("C1 vim saves a file outside: one question, and the screen comes back", variants=BOTH)
def vim_saves(fx):
    need("vim")
    fx.write(fx.outside / "text", "first line\n")
    person = Person(fx, "vim", "-N", "-u", "NONE", "-i", "NONE", fx.outside / "text")
    questions = 0
    while True:  # a swap file is asked about at once
        person.until(lambda: person.shows() or "first line" in person.term.screen(), "no vim")
        if not person.shows():
            person.term.settle(0.3)
            if not person.shows():
                break
        questions += 1
        contains(person.term.screen(), "text")
        person.answer("1")
    contains(person.term.screen(), "first line")
    person.term.send("osecond line\x1b")
    person.until(lambda: "second line" in person.term.screen(), "typing")
    person.term.send(":w\r")
    person.until(lambda: person.shows() or "written" in person.term.screen(), "no saving")
    if person.shows():
        questions += 1
        person.answer("1")
    person.until(lambda: "second line" in person.term.screen(), "the screen is not back")
    equal(fx.read(fx.outside / "text"), "first line\nsecond line\n")
    person.term.send(":q\r")
    equal(person.end(), 0, person.term.screen())
    equal(questions, 1, "questions")
    check(not person.term.state()["alternate"], "the alternate screen stays")


# --- what an answer covers --------------------------------------------------------------


@test("C2 everything in a directory: no further question, whatever the spelling", variants=BOTH)
def directory_answer(fx):
    (fx.outside / "d/sub").mkdir(parents=True)
    (fx.outside / "alias").symlink_to("d")
    (fx.outside / "beside").mkdir()
    person = shell(fx)
    person.term.send(f"echo 1 > {fx.outside}/d/one; echo status=$?\n")
    contains(person.answer("2", fx.outside / "d/one"), str(fx.outside / "d"))
    person.term.expect("status=0")
    for path in (f"{fx.outside}/d/two", f"{fx.outside}/d/sub/deep", "../../outside/d/relative",
                 f"{fx.outside}/alias/alias", f"{fx.outside}/beside/../d/dots",
                 f"/proc/self/root{fx.outside}/d/proc"):
        person.term.send(f"echo {os.path.basename(path)} > {path}; echo status=$?\n")
        person.term.expect("status=0")
    person.term.send(f"cd {fx.outside}/d; echo c > cwd; mkdir m; rmdir m; mv two second; rm one;"
                     f" ln -s x l; chmod 600 cwd; echo status=$?; cd -\n")
    person.term.expect("status=0")
    check(not person.shows())
    equal(sorted(os.listdir(fx.outside / "d")),
          ["alias", "cwd", "dots", "l", "proc", "relative", "second", "sub"])
    person.term.send(f"echo no > {fx.outside}/beside/x; echo status=$?\n")
    person.answer("3", fx.outside / "beside/x")  # the neighbour is another question
    person.term.expect("status=1")
    person.term.send("exit\n")
    person.end()


@test("C2 always: the rule is in this directory's configuration, and the next run does not ask",
      variants=BOTH)
def always(fx):
    (fx.outside / "d").mkdir()
    person = Person(fx, "touch", fx.outside / "d/one")
    person.answer("4", fx.outside / "d/one")
    equal(person.end(), 0, person.term.screen())
    files = list((fx.home / ".config/sandbash/projects").iterdir())
    equal(len(files), 1)
    contains(files[0].read_text(), str(fx.outside / "d"))
    contains(person.term.screen(), files[0].name)
    person = Person(fx, "touch", fx.outside / "d/two")
    equal(person.end(), 0, person.term.screen())
    check(fx.exists(fx.outside / "d/two"))


@test("C2 once covers this process and this file, no other", variants=BOTH)
def once_is_narrow(fx):
    fx.write(fx.outside / "a", "")
    fx.write(fx.outside / "b", "")
    person = Person(fx, "python3", "-c", f"""
for name in 'a', 'a', 'b':
    try: open('{fx.outside}/' + name, 'a').write('x')
    except OSError as e: print('refused', name)
import subprocess
subprocess.run(['sh', '-c', 'echo y >> {fx.outside}/a'])
""")
    person.answer("1", "write to", fx.outside / "a")
    person.answer("3", "write to", fx.outside / "b")
    person.term.expect("refused b")
    person.answer("3", "write to", fx.outside / "a")  # the child is another process
    person.end()
    equal((fx.read(fx.outside / "a"), fx.read(fx.outside / "b")), ("xx", ""))


@test("C2 home itself and / are not offered as a directory", variants=BOTH)
def no_broad_directory(fx):
    person = Person(fx, "touch", fx.home / "file")
    screen = person.answer("1", fx.home / "file")
    lacks(screen, "always")
    contains(screen, "Press 1 or 2")
    equal(person.end(), 0)


# print() is several writes, between which another thread may come.
THREADS = """
import os, threading, sys
barrier = threading.Barrier(10)
def say(*words): os.write(1, (' '.join(map(str, words)) + '\\n').encode())
def work(n):
    barrier.wait()
    try:
        with open(sys.argv[1 + n % 2], 'a') as f: f.write('x')
        say('done', n)
    except OSError as e: say('refused', n, e.errno)
threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
for t in threads: t.start()
for n in range(50): open('busy%d' % n, 'w').close()
print('others go on', flush=True)
for t in threads: t.join()
"""


@test("C3 ten threads ask at once: equal questions are one, the others go on", variants=BOTH)
def threads_ask(fx):
    fx.write(fx.outside / "a", "")
    fx.write(fx.outside / "b", "")
    person = Person(fx, "python3", "-c", THREADS, fx.outside / "a", fx.outside / "b")
    first = person.question("1 of 2")
    deadline = time.monotonic() + PATIENCE
    while not fx.exists("busy49") and time.monotonic() < deadline:
        time.sleep(0.02)
    check(fx.exists("busy49"), "the rest of the program waits with the question")
    name = "a" if str(fx.outside / "a") in first else "b"
    person.answer("1", fx.outside / name)
    person.answer("3", fx.outside / ("b" if name == "a" else "a"))
    equal(person.end(), 0, person.term.screen())
    equal(fx.read(fx.outside / name), "xxxxx")
    equal(fx.read(fx.outside / ("b" if name == "a" else "a")), "")
    equal(len(re.findall("refused [0-9]", person.term.output)), 5)


MANY = """
import threading, sys
def work(n):
    try: open('%s/f%d' % (sys.argv[1], n), 'w').close()
    except OSError as e: print('refused', n, flush=True)
threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
for t in threads: t.start()
for t in threads: t.join()
"""


@test("C3 one answer for the directory answers all that wait", variants=BOTH)
def directory_answers_queue(fx):
    (fx.outside / "d").mkdir()
    person = Person(fx, "python3", "-c", MANY, fx.outside / "d")
    person.answer("2", "1 of 10")
    equal(person.end(), 0, person.term.screen())
    equal(len(os.listdir(fx.outside / "d")), 10)


@test("C3 the question of a process that is gone is taken back", variants=BOTH)
def question_is_withdrawn(fx):
    person = Person(fx, "bash", "-c",
                    f"(echo x > {fx.outside}/a) & {UNTIL}; kill -9 $!; wait; echo done")
    person.question(fx.outside / "a")
    fx.write("go")
    person.term.expect("done")
    person.gone()
    equal(person.end(), 0)
    check(not fx.exists(fx.outside / "a"))


# --- who is asked -------------------------------------------------------------------------


@test("C4 nobody to ask: denied", variants=BOTH)
def nobody(fx):
    result = fx.sandbash("python3", "-c", f"""
try: open('{fx.outside}/f', 'w')
except PermissionError: print('denied')
""")
    equal(result.stdout, "denied\n", result.stderr)
    contains(result.stderr, str(fx.outside))  # the summary


@test("C2 an allowed FIFO without a reader: only who opens it waits", variants=BOTH)
def fifo(fx):
    os.mkfifo(fx.outside / "fifo")
    script = (f"(echo through > {fx.outside}/fifo; echo wrote=$?) & {UNTIL}; "
              f"echo y > {fx.outside}/other; echo other=$?; touch mine; echo mine=$?; wait; "
              f"python3 -c \"import signal, os; signal.signal(14, lambda *_: print('alarm')); "
              f"signal.alarm(1); os.open('{fx.outside}/fifo', os.O_WRONLY); print('opened')\"")
    person = Person(fx, "bash", "-c", script)
    person.answer("1", fx.outside / "fifo")
    fx.write("go")
    person.answer("1", fx.outside / "other")  # asked about and done while the first one waits
    person.term.expect("other=0")
    person.term.expect("mine=0")
    lacks(person.term.output, "wrote=")
    with open(fx.outside / "fifo", encoding="ascii") as stream:
        equal(stream.read(), "through\n")
    person.term.expect("wrote=0")
    person.answer("1", fx.outside / "fifo")  # another process
    person.term.expect("alarm")  # the handler runs while it waits, and the call goes on
    with open(fx.outside / "fifo", encoding="ascii"):
        person.term.expect("opened")
    equal(person.end(), 0)


@test("C4 --consent=deny asks nothing and leaves the terminal as it is", variants=BOTH)
def consent_deny(fx):
    person = Person(fx, "bash", "-c", "tty && stat -L -c rdev=%t,%T /proc/self/fd/0; "
                    f"echo x > {fx.outside}/f; echo status=$?", flags=("--consent=deny",))
    device = os.stat(person.term.name).st_rdev
    equal(person.end(), 0)
    contains(person.term.output, "status=1")
    contains(person.term.output, f"rdev={os.major(device):x},{os.minor(device):x}")
    check(not fx.exists(fx.outside / "f"))


@test("C4 --ask-timeout: no answer is no", variants=BOTH)
def ask_timeout(fx):
    person = Person(fx, "bash", "-c", f"echo x > {fx.outside}/f; echo status=$?",
                    flags=("--ask-timeout=2",))
    began = time.monotonic()
    person.term.expect("sandbash asks you")
    person.term.expect("status=1")
    check(time.monotonic() - began > 1.5, "not in time")
    person.gone()
    equal(person.end(), 0)
    check(not fx.exists(fx.outside / "f"))


@test("C4 streams that are no terminal: asked all the same, and the data is untouched",
      variants=BOTH)
def redirected(fx):
    words = " ".join(fx.argv())
    for number, line in enumerate((
            f"printf 'in put' | {words} bash -c 'cat; echo x > {fx.outside}/$0' 0",
            f"{words} bash -c 'echo out; echo x > {fx.outside}/$0' 1 > out1",
            f"{words} bash -c 'echo err >&2; echo x > {fx.outside}/$0' 2 2> err2",
            f"printf 'in put' | {words} bash -c 'cat; echo x > {fx.outside}/$0' 3 | cat > out3",
            f"{words} bash -c 'echo x > {fx.outside}/$0; echo out' 4 < /dev/null > out4 2>&1")):
        term = fx.terminal("bash", "-c", line + "; echo status=${PIPESTATUS[*]}", replies=True,
                           columns=120)
        person = Person.__new__(Person)
        person.fx, person.term = fx, term
        person.answer("1", fx.outside / str(number))
        term.expect(r"status=[0 ]*0")
        equal(person.end(), 0)
        equal(fx.read(fx.outside / str(number)), "x\n", line)
        if number == 0:
            contains(term.output, "in put")
    equal(fx.read("out1"), "out\n")
    contains(fx.read("err2"), "err\n")
    equal(fx.read("out3"), "in put")
    contains(fx.read("out4"), "out\n")


# --- sessions, the summary, reports -------------------------------------------------------


@test("C5 a named session keeps its answers; --sessions, --forget", variants=BOTH)
def named_session(fx):
    (fx.outside / "d").mkdir()
    person = Person(fx, "touch", fx.outside / "d/one", flags=("--session=work",))
    person.answer("2", fx.outside / "d/one")
    equal(person.end(), 0, person.term.screen())
    person = Person(fx, "touch", fx.outside / "d/two", flags=("--session=work",))
    equal(person.end(), 0, person.term.screen())
    check(fx.exists(fx.outside / "d/two"))
    contains(fx.sandbash("--sessions", variant="full").stdout, "work")
    person = Person(fx, "touch", fx.outside / "d/three")  # no name: not its answers
    person.answer("3", fx.outside / "d/three")
    equal(person.end(), 1)
    equal(fx.sandbash("--sessions", "--forget=work", variant="full").status, 0)
    lacks(fx.sandbash("--sessions", variant="full").stdout, "work")
    person = Person(fx, "touch", fx.outside / "d/four", flags=("--session=work",))
    person.answer("3", fx.outside / "d/four")
    equal(person.end(), 1)


@test("C6 the summary's remedies work as printed", variants=BOTH)
def remedies(fx):
    (fx.outside / "d").mkdir()
    fx.write(fx.outside / "keep", "old\n")
    result = fx.sandbash("bash", "-c", f"echo x > {fx.outside}/d/new; echo x >> {fx.outside}/keep")
    flags = re.findall(r"--[a-z-]+=\S+", result.stderr)
    check(flags, result.stderr)
    again = fx.sandbash(*[flag.strip("'") for flag in flags], "bash", "-c",
                        f"echo x > {fx.outside}/d/new && echo x >> {fx.outside}/keep")
    equal(again.status, 0, again.stderr)
    equal(fx.read(fx.outside / "keep"), "old\nx\n")
    lacks(again.stderr, "refused")


@test("C6 --quiet says nothing, --report=FILE has it all", variants=BOTH)
def report(fx):
    result = fx.sandbash("--quiet", f"--report={fx.dir}/report.json", "bash", "-c",
                         f"exec 2>/dev/null; echo x > {fx.outside}/f; exit 4")
    equal(result.status, 4)
    lacks(result.stderr, "refused")
    found = json.loads(fx.read(fx.dir / "report.json"))
    contains(json.dumps(found), str(fx.outside))


# --- sockets ------------------------------------------------------------------------------


class Echo:
    """A service at a socket, outside."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(8)
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                other, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            with other:
                other.sendall(b"got " + other.recv(100))

    def close(self):
        self.socket.close()


CLIENT = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    s.sendall(b'hello')
    print(s.recv(100).decode(), flush=True)
except OSError as e: print('error', e.errno, flush=True)
"""


@test("C1 a socket: yes connects and data flows, no is an error", variants=BOTH)
def sockets(fx):
    path = fx.outside / "service"
    service = Echo(path)
    try:
        person = Person(fx, "python3", "-c", CLIENT, path)
        person.answer("1", "connect to", path)
        person.term.expect("got hello")
        equal(person.end(), 0)
        equal(service.connections, 1)
        person = Person(fx, "python3", "-c", CLIENT, path)
        person.answer("3", "connect to", path)
        person.term.expect("error 13|error 1")
        equal(service.connections, 1)
    finally:
        service.close()


@test("C1 a service that is hidden is named in words", variants=BOTH)
def hidden_socket(fx):
    (fx.home / ".docker/run").mkdir(parents=True)
    path = fx.home / ".docker/run/docker.sock"
    service = Echo(path)
    try:
        person = Person(fx, "python3", "-c", CLIENT, path,
                        env={"DOCKER_HOST": f"unix://{path}"})
        screen = person.answer("1", "connect to", path)
        contains(screen, "Docker")
        person.term.expect("got hello")
        equal(person.end(), 0)
    finally:
        service.close()


@test("C1 the agent's socket in the real /tmp, where the run has another", variants=BOTH)
def agent_socket(fx):
    directory = f"/tmp/ssh-{os.getpid()}-{fx.dir.name}"
    os.mkdir(directory, 0o700)
    path = directory + "/agent.1"
    service = Echo(path)
    try:
        person = Person(fx, "python3", "-c", CLIENT, path, env={"SSH_AUTH_SOCK": path})
        contains(person.answer("1", "connect to", path), "SSH")
        person.term.expect("got hello")
        equal(person.end(), 0)
        person = Person(fx, "python3", "-c", CLIENT, path, env={"SSH_AUTH_SOCK": path})
        person.answer("3", "connect to", path)
        person.term.expect("error")
        equal(service.connections, 1)
    finally:
        service.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    run_all()
