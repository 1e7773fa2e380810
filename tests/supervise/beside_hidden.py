"""What a run makes beside something hidden, with mounts and without: it reads it again, and nothing else."""

import signal

from attack import works
from tap import check, contains, equal, lacks, run_all, test, wait

BOTH = ("full", "flat")
RULES = "write ~/.state.json\nwrite ~/.state.json.*\nwrite ~/.claude.json\nwrite ~/.claude.json.*\nwrite ~/later\n"
SECRET = "a secret of the home directory"

# Helpers for what runs inside.
INSIDE = """
import ctypes, mmap, os, sys, threading
home = os.environ["HOME"]
state, claude = home + "/.state.json", home + "/.claude.json"
def put(path, text, number=0):
    temporary = f"{path}.{number}"
    with open(temporary, "w") as file:
        file.write(text)
    os.rename(temporary, path)
def get(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return error.strerror
"""


def lay_out(fx):
    fx.write(fx.home / ".ssh/id_rsa", SECRET)
    fx.write(fx.home / ".netrc", SECRET)
    fx.config(RULES, "profiles/p.rules")


def run(fx, script, *words, **where):
    return fx.sandbash("--profile=p", "--consent=deny", "python3", "-c", INSIDE + script, *words, **where)


def spares(fx):
    place = fx.home / ".local/state/sandbash/spares"
    return list(place.iterdir()) if place.is_dir() else []


@test("R4 a file of the home directory is replaced and read again, as often as one likes, in every run", variants=BOTH)
def replaced(fx):
    lay_out(fx)
    script = """
print(get(state), get(claude))
for number in range(120):
    put(state, f"state {number}", number)
    put(claude, '{"numStartups": %d}' % number, number)
    if get(state) != f"state {number}" or get(claude) != '{"numStartups": %d}' % number:
        print(number, get(state), get(claude))
with open(claude, "w") as file:  # in place
    file.write('{"numStartups": 1000}')
print(get(state), get(claude), os.stat(state).st_nlink, oct(os.stat(state).st_mode & 0o7777))
print(get(home + "/.netrc"), get(home + "/.ssh/id_rsa"))
"""
    for before in ("No such file or directory No such file or directory", 'state 119 {"numStartups": 1000}'):
        result = run(fx, script)
        works(result)
        equal(result.stdout, f'{before}\nstate 119 {{"numStartups": 1000}} 1 0o644\n'
                             "Permission denied Permission denied\n", result.stderr)
        equal(spares(fx), [], "left behind")
    equal(fx.read(fx.home / ".state.json"), "state 119")


@test("R4 the same where a rule hides something by name, so that every open is held", variants=BOTH)
def held(fx):
    lay_out(fx)
    fx.config(RULES + "deny ~/private\n", "profiles/p.rules")
    fx.write(fx.home / "private/x", SECRET)
    result = run(fx, """
for number in range(40):
    put(state, f"state {number}", number)
    if get(state) != f"state {number}":
        print(number, get(state))
print(get(state), get(home + "/private/x"), get(home + "/.netrc"))
""")
    equal(result.stdout, "state 39 Permission denied Permission denied\n", result.stderr)


@test("R4 it is a new file: mode, owner, times, attributes and length are nobody's before", variants=BOTH)
def fresh(fx):
    lay_out(fx)
    result = run(fx, """
os.umask(0o027)
for number in range(60):
    fd = os.open(state, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640 if number % 2 else 0o400)
    os.write(fd, b"x" * (100 + number))
    os.close(fd)
    try:
        os.setxattr(state, "user.mark", b"x")
    except OSError:
        pass
    os.chmod(state, 0o444)
    os.utime(state, (1, 1))
    os.unlink(state)
fd = os.open(state, os.O_RDONLY | os.O_CREAT, 0o666)
info = os.fstat(fd)
print(info.st_size, oct(info.st_mode), info.st_uid == os.getuid(), info.st_mtime > 1e9, os.listxattr(state), info.st_nlink)
try:
    os.open(state, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
except OSError as error:
    print(error.strerror)
""")
    equal(result.stdout, "0 0o100640 True True [] 1\nFile exists\n", result.stderr)


@test("R4 a directory that a rule names is made, filled and read", variants=BOTH)
def directory(fx):
    lay_out(fx)
    result = run(fx, """
os.mkdir(home + "/later", 0o750)
os.mkdir(home + "/later/inner")
put(home + "/later/inner/file", "x")
print(get(home + "/later/inner/file"), os.listdir(home + "/later"), oct(os.stat(home + "/later").st_mode & 0o777))
""")
    equal(result.stdout, "x ['inner'] 0o750\n", result.stderr)
    lacks(result.stderr, "read back")


@test("P4 links and renames: what is hidden stays so under every name, and gets no other", variants=BOTH)
def renamed(fx):
    lay_out(fx)
    fx.path("link").symlink_to(fx.home / ".netrc")
    fx.path("directory").symlink_to(fx.home / ".ssh")
    result = run(fx, """
def attempt(act, *words):
    try:
        act(*words)
        return "done"
    except OSError as error:
        return "refused"
put(state, "mine")
put(claude, "{}")
for secret in (home + "/.netrc", home + "/.ssh/id_rsa", home + "/.ssh"):
    for name in (state, claude, state + ".x", claude + ".x"):
        print(attempt(os.rename, secret, name), attempt(os.link, secret, name), attempt(os.rename, name, secret))
        attempt(os.symlink, secret, name + ".l")
        print(get(name + ".l"), get(name + ".l/id_rsa"))
for link in ("link", "directory"):
    print(get(link), get(link + "/id_rsa"), attempt(os.rename, link, claude + ".l"))
exchange = ctypes.CDLL(None, use_errno=True).renameat2
print(exchange(-100, state.encode(), -100, (home + "/.netrc").encode(), 2))
print(get(home + "/.netrc"), get(home + "/.ssh/id_rsa"))
""")
    works(result)
    lacks(result.stdout, SECRET)
    lacks(result.stdout, "done")
    equal(result.stdout.splitlines()[-2:], ["-1", "Permission denied Permission denied"])
    equal([fx.read(fx.home / ".netrc"), fx.read(fx.home / ".ssh/id_rsa")], [SECRET, SECRET])


@test("P4 a secret that is moved there from outside is none of the run's files", variants=("flat",))
def moved_outside(fx):
    lay_out(fx)
    process = fx.start(*fx.argv("--profile=p", "--consent=deny", "python3", "-c", INSIDE + """
for number in range(40):
    put(state, str(number), number)
print("ready", flush=True)
sys.stdin.readline()
print(get(state), get(state + ".copy"), flush=True)
put(state, "mine again")
print(get(state))
"""), stdin=-1, stdout=-1, text=True)
    equal(process.stdout.readline(), "ready\n")
    (fx.home / ".netrc").rename(fx.home / ".state.json")
    fx.write(fx.home / ".state.json.copy", SECRET)
    out, _ = process.communicate("go on\n")
    equal(out, "Permission denied Permission denied\nmine again\n")


@test("P4 who has an old file open reads that and writes to that, whatever has come since", variants=BOTH)
def old_descriptors(fx):
    lay_out(fx)
    result = run(fx, """
server = '{"mcpServers": {"x": {"command": "y"}}}'
put(state, "first")
reader = open(state)
writer = open(claude + ".w", "w+")
writer.write("{}" + " " * 200)
writer.flush()
fd = os.open(claude + ".m", os.O_RDWR | os.O_CREAT)
os.write(fd, b"{}" + b" " * 200)
mapped = mmap.mmap(fd, 100)
os.close(fd)
os.rename(claude + ".w", claude)
os.rename(claude + ".m", claude)
os.link(state, "alias")
for number in range(120):
    put(state, f"state {number}", number)
    put(claude, '{"numStartups": %d}' % number + " " * 200, number)
    writer.seek(0)
    writer.write(server)
    writer.flush()
    mapped[:len(server)] = server.encode()
    if server in get(claude) or get(state) != f"state {number}":
        print("reached", number, get(claude), get(state))
reader.seek(0)
print(reader.read(), get("alias"))
""")
    equal(result.stdout, "first first\n", result.stderr)
    contains(fx.read(fx.home / ".claude.json"), '{"numStartups": 119}')


@test("P4 a race: a path descriptor from before opens nothing that has landed since", variants=BOTH)
def race(fx):
    lay_out(fx)
    result = run(fx, """
server = b'{"mcpServers": {"x": {"command": "y"}}}'
ended = False
def write_through(handle):
    while not ended:
        try:
            fd = os.open(f"/proc/self/fd/{handle}", os.O_WRONLY)
            os.pwrite(fd, server, 0)
            os.close(fd)
        except OSError:
            pass
threads = []
for number in range(4):
    open(f"{state}.{number}", "w").close()
    handle = os.open(f"{state}.{number}", os.O_PATH)
    os.unlink(f"{state}.{number}")
    threads.append(threading.Thread(target=write_through, args=(handle,)))
    threads[-1].start()
for number in range(300):
    put(claude, '{"numStartups": %d}' % number + " " * 60, number)
    if b"mcpServers" in open(claude, "rb").read():
        print("planted", number)
ended = True
for thread in threads:
    thread.join()
print("end")
""")
    equal(result.stdout, "end\n", result.stderr)
    lacks(fx.read(fx.home / ".claude.json"), "mcpServers")


@test("R4 who reads while it is replaced finds the old or the new one, whole", variants=BOTH)
def atomic(fx):
    lay_out(fx)
    result = run(fx, """
put(state, "0" * 3000)
ended = False
def look():
    while not ended:
        text = get(state)
        if len(text) != 3000 or text.strip(text[0]):
            print("found", text[:40])
threads = [threading.Thread(target=look) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(200):
    put(state, str(number % 10) * 3000, number)
ended = True
for thread in threads:
    thread.join()
print("end")
""")
    equal(result.stdout, "end\n", result.stderr)


@test("R4 what a killed supervisor leaves the next run removes", variants=("flat",))
def killed(fx):
    lay_out(fx)
    process = fx.start(*fx.argv("--profile=p", "--consent=deny", "python3", "-c", INSIDE + """
put(state, "x")
print("ready", flush=True)
sys.stdin.readline()
"""), stdin=-1, stdout=-1, text=True)
    equal(process.stdout.readline(), "ready\n")
    other = run(fx, "put(state, 'y'); print(get(state))")
    equal(other.stdout, "y\n")
    equal(len(spares(fx)), 1, "another run leaves it alone")
    process.send_signal(signal.SIGKILL)
    process.wait()
    # the performer ends with it, and with that the lock
    wait(lambda: run(fx, "pass").status == 0 and not spares(fx), "it is still there")
    check(fx.exists(fx.home / ".state.json"))


@test("R4 a plain run makes nothing for it", variants=("flat",))
def plain(fx):
    fx.write(fx.home / ".ssh/id_rsa", SECRET)
    result = fx.sandbash("--consent=deny", "sh", "-c", "ls -a ~/.local/state/sandbash; echo x >~/new; cat ~/.ssh/id_rsa")
    lacks(result.stdout, SECRET)
    equal(spares(fx), [])
    check(not fx.exists(fx.home / "new"))


run_all()
