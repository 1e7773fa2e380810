"""The network by name: hosts that rules allow are reached as without a sandbox, and nothing else is."""

import re
import shutil

import tap
from internet import forget, heard, internet
from person import Person
from tap import SUPERVISED, check, contains, equal, run_all

def test(name):
    """Of a supervised run; a static one asks nobody."""
    return tap.test(name) if SUPERVISED else lambda function: function


ASK = "--network=ask"
GOOD = "--connect=good.example:80"

PYTHON = "import socket, sys, time, asyncio, urllib.request as u\n"


def inside(fx, *words, **how):
    return fx.run(*internet(fx, *fx.argv(*words)), **how)


def python(code, *words):
    return ["python3", "-c", PYTHON + code, *words]


def curl(url, *words):
    return ["curl", "-sS", "--max-time", "90", *words, url]


@test("a host that a rule allows is reached by its name, another is not, and no name is looked up before a yes")
def by_name(fx):
    control = fx.run(*internet(fx, *curl("http://other.example/control")))
    equal(control.stdout, "203.0.114.11 /control\n", control.stderr)
    forget(fx)
    result = inside(fx, ASK, GOOD, *curl("http://good.example/x"))
    equal((result.status, result.stdout), (0, "203.0.114.10 /x\n"), result.stderr)
    check("http 203.0.114.10 /x" in heard(fx), heard(fx))
    forget(fx)
    result = inside(fx, ASK, GOOD, *curl("http://other.example/x"))
    equal(result.status, 7, result.stderr)
    equal(heard(fx), [], "nobody outside has heard of it")
    result = inside(fx, ASK, GOOD, *python("try: socket.create_connection(('other.example', 80))\n"
                                           "except OSError as e: print(e.errno)"))
    equal(result.stdout, "13\n", "EACCES, at once")


@test("a name that is allowed and does not exist is said not to; its other types have no records")
def no_such_name(fx):
    result = inside(fx, ASK, "--connect=nowhere.example", *curl("http://nowhere.example/"))
    equal(result.status, 6, result.stderr)
    check("dns nowhere.example A" in heard(fx), heard(fx))
    result = inside(fx, ASK, *python("print(socket.getaddrinfo('whoever.example', 80, socket.AF_INET)[0][4][0])\n"
                                     "print(socket.gethostbyaddr('198.18.0.16')[0])"))
    equal(result.stdout, "198.18.0.16\nwhoever.example\n", result.stderr)


@test("names get no endings inside: every one of them would be there")
def search(fx):
    forget(fx)
    fx.run(*internet(fx, *curl("http://good.example/x")))
    check("dns good.example.corp.example A" in heard(fx), "control: the machine has a list")
    forget(fx)
    equal(inside(fx, ASK, GOOD, *curl("http://good.example/x")).stdout, "203.0.114.10 /x\n")
    check("dns good.example.corp.example A" not in heard(fx), "a name means itself, outside as well")
    equal(inside(fx, ASK, "--connect=listed.example:80", *curl("http://listed.example/x")).stdout, "203.0.114.11 /x\n",
          "a name of the machine's own list")
    result = inside(fx, ASK, "cat", "/etc/resolv.conf")
    check("corp.example" not in result.stdout, result.stdout)
    equal(inside(fx, ASK, "sh", "-c", "ls /proc/self >/dev/null && cat /etc/resolv.conf >/dev/null").status, 0)
    check(inside(fx, ASK, "sh", "-c", "echo nameserver 1.2.3.4 > /etc/resolv.conf").status != 0)


@test("a port that no rule names, an address, the same name by UDP: each is another question")
def other_ports(fx):
    result = inside(fx, ASK, GOOD, *python(
        "for to in (('good.example', 8080), ('203.0.114.10', 80), ('1.2.3.4', 80), ('2001:db8::1', 80)):\n"
        "    try: socket.create_connection(to)\n"
        "    except OSError as e: print(e.errno)"))
    equal(result.stdout, "13\n" * 4, result.stderr)
    for address in ("203.0.114.10", "[2600:1::10]"):
        result = inside(fx, ASK, f"--connect={address}:80", *curl(f"http://{address}/literal"))
        equal(result.stdout, address.strip("[]") + " /literal\n", result.stderr)


PARALLEL = """
async def one(i):
    reader, writer = await asyncio.open_connection('good.example', 7)
    writer.write(b'%d\\n' % i)
    line = await reader.readline()
    writer.close()
    return int(line) == i
async def all():
    print(sum(await asyncio.gather(*(one(i) for i in range(int(sys.argv[1]))))))
asyncio.run(all())
"""


@test("many connections at once, each with its own bytes")
def many(fx):
    result = inside(fx, ASK, "--connect=good.example:7", *python(PARALLEL, "400"))
    equal(result.stdout, "400\n", result.stderr)
    log = fx.sandbash("--log", "--log-host=good.example").stdout
    equal(log.count(" connect "), 400, "each of them is on record")


HALF = """
s = socket.create_connection(('good.example', 9))
block = bytes(1 << 20)
for i in range(32): s.sendall(block)
s.shutdown(socket.SHUT_WR)
print(s.makefile().readline().strip())
"""


@test("half a connection is closed and the other half goes on; nothing is lost on the way")
def half_close(fx):
    result = inside(fx, ASK, "--connect=good.example:9", *python(HALF))
    equal(result.stdout, f"{32 << 20}\n", result.stderr)
    result = inside(fx, ASK, GOOD, *curl("http://good.example/big", "-o", "got", "-w", "%{size_download}"))
    equal(result.stdout, str(8 << 20), result.stderr)


ERRORS = """
def attempt(*to, wait=True):
    s = socket.socket()
    s.setblocking(wait)
    try:
        s.connect(to)
    except BlockingIOError:
        import select
        select.select([], [s], [], 90)
        return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    except OSError as e:
        return e.errno
    return 0
print(attempt('closed.example', 81), attempt('closed.example', 81, wait=False), attempt('good.example', 80))
"""


@test("a host that refuses is one that refuses, for who waits and who does not")
def errors(fx):
    result = inside(fx, ASK, GOOD, "--connect=closed.example:81", *python(ERRORS))
    equal(result.stdout, "111 111 0\n", result.stderr)


DATAGRAMS = """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(90)
if sys.argv[1] == 'connected':
    s.connect(('good.example', 9999))
    send = s.send
else:
    send = lambda b: s.sendto(b, ('good.example', 9999))
for word in (b'one', b'two', b'three'):
    send(word)
    print(s.recv(100).decode())
"""


@test("datagrams ask with the first one, by a socket that is connected and by one that is not")
def datagrams(fx):
    for how in ("connected", "not"):
        result = inside(fx, ASK, "--connect=udp:good.example:9999", *python(DATAGRAMS, how))
        equal(result.stdout, "echo one\necho two\necho three\n", f"{how}: {result.stderr}")
        forget(fx)
        result = inside(fx, ASK, GOOD, *python(DATAGRAMS.replace("settimeout(90)", "settimeout(0.5)"), how))
        check(result.status != 0, how)
        equal([line for line in heard(fx) if not line.startswith("dns")], [], how)


OWN = """
import threading
server = socket.create_server(('127.0.0.1' if sys.argv[1] == 'local' else '0.0.0.0', 8080))
threading.Thread(target=lambda: server.accept()[0].sendall(b'own'), daemon=True).start()
print(socket.create_connection(('127.0.0.1', 8080)).recv(10).decode())
"""


@test("this machine: a server of the command's own comes first, then a port outside that a rule allows")
def this_machine(fx):
    for where in ("local", "everywhere"):
        result = inside(fx, ASK, "--connect=localhost:8080", *python(OWN, where))
        equal(result.stdout, "own\n", result.stderr)
    for name in ("127.0.0.1", "localhost", "[::1]"):
        result = inside(fx, ASK, "--connect=localhost:8080", *curl(f"http://{name}:8080/here"))
        equal(result.stdout, "127.0.0.1 /here\n", f"{name}: {result.stderr}")
    forget(fx)
    result = inside(fx, ASK, *python(ERRORS.split("print")[0] +
                                     "print(attempt('127.0.0.1', 8080), attempt('127.0.0.1', 8081))"))
    equal(result.stdout, "13 111\n", "one that listens is asked about, one that does not refuses")
    equal(heard(fx), [])


GIVES_WAY = """
first = socket.create_connection(('good.example', 8080))
server = socket.create_server(('0.0.0.0', 8080))
second = socket.create_connection(('good.example', 8080))
second.sendall(b'GET /second HTTP/1.0\\r\\n\\r\\n')
print(second.makefile().read().split()[-2:])
"""


@test("a port of the command's own is the command's, also where hosts are reached at the same")
def gives_way(fx):
    result = inside(fx, ASK, "--connect=good.example:8080", *python(GIVES_WAY))
    equal(result.stdout, "['203.0.114.10', '/second']\n", result.stderr)


LISTENER = """
server = socket.create_server(('127.0.0.1', 3000))
print('ready', flush=True)
connection = server.accept()[0]
connection.sendall(connection.recv(100).upper())
"""
FROM_OUTSIDE = """
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
assert run.stdout.readline() == 'ready\\n'
s = socket.create_connection(('127.0.0.1', 3000))
s.sendall(b'hello')
print(s.recv(100).decode(), flush=True)
sys.exit(run.wait())
"""


@test("listen: a port of this machine leads to the command's server")
def listens(fx):
    command = fx.argv(ASK, "--listen=3000", *python(LISTENER))
    result = fx.run(*internet(fx, *python("import subprocess\n" + FROM_OUTSIDE, *command)))
    equal((result.status, result.stdout), (0, "HELLO\n"), result.stderr)
    # neighbour: without the rule nobody is there
    command = fx.argv(ASK, *python(LISTENER.replace("connection", "sys.exit(0); connection", 1)))
    result = fx.run(*internet(fx, *python("import subprocess\n" + FROM_OUTSIDE, *command)))
    contains(result.stderr, "ConnectionRefusedError")


WAITS = """
import signal
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, (0).to_bytes(8, 'little') + (300000).to_bytes(8, 'little'))
try: s.connect(('203.0.114.99', 80))
except OSError as e: print(e.errno)
class Alarm(Exception): pass
def ring(*_): raise Alarm
signal.signal(signal.SIGALRM, ring)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    socket.socket().connect(('203.0.114.99', 81))
except Alarm: print('alarm')
"""


@test("a person is asked; whoever waits can be interrupted and has limits of its own")
def waits(fx):
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(WAITS)))))
    person.until(lambda: "alarm" in person.term.screen(), "it goes on waiting")
    contains(person.term.screen(), "115")  # EINPROGRESS
    person.term.wait()


@test("a person is asked once for all who want the same host, and a yes lets all of them go on")
def asked(fx):
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(PARALLEL, "20"))), rows=24, columns=120,
                                       replies=True))
    screen = person.question("good.example:7")
    contains(screen, "connect to")
    equal(heard(fx), [], "nothing before the answer")
    person.press("1")
    person.until(lambda: "20" in person.term.screen().split(), "not all have gone on")
    equal(person.term.wait(), 0)
    equal(heard(fx).count("echo"), 20)


TWO = """
import os
child = os.fork()
print('got', attempt('good.example', 80), flush=True)
if child: os.wait()
else: os._exit(0)
print('over')
"""


@test("a yes for once is one for the process that was shown; the other is asked about next")
def once(fx):
    code = ERRORS.split("print")[0] + TWO
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(code))), rows=24, columns=120, replies=True))
    first = re.search(r"process \d+", person.question("good.example:80"))[0]
    person.press("1")
    person.gone(first)
    person.question("good.example:80")
    person.press("3")
    person.until(lambda: all(text in person.term.screen() for text in ("got 0", "got 13", "over")), "not one of each")
    person.term.wait()


@test("what was reached is on record, with who reached it, and network learn makes rules of it")
def learned(fx):
    result = inside(fx, "--network=learn", *curl("http://good.example/x"))
    contains(result.stderr, "connect good.example:80")
    contains(result.stderr, "curl")
    log = fx.sandbash("--log", "--log-host=good.example").stdout
    contains(log, "203.0.114.10")
    contains(log, "/curl")


@test("a no is a no, at once for the next one, too")
def denied(fx):
    code = ERRORS.split("print")[0] + ("print('first', attempt('good.example', 80))\n"
                                       "print('second', attempt('good.example', 80), attempt('good.example', 80, wait=False))")
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(code))), rows=24, columns=120, replies=True))
    person.question("good.example:80")
    person.press("3")
    person.until(lambda: "second 13 13" in person.term.screen(), "not refused")
    contains(person.term.screen(), "first 13")
    person.term.wait()
    equal(heard(fx), [])


@test("programs: wget, git, node, perl, ssh's way of speaking, each natively and inside")
def programs(fx):
    rows = [["wget", "-qO-", "http://good.example/w"],
            ["node", "-e", "fetch('http://good.example/n').then(r => r.text()).then(t => process.stdout.write(t))"],
            ["perl", "-MIO::Socket::INET", "-e",
             "$s = IO::Socket::INET->new('good.example:80'); print $s qq(GET /p HTTP/1.0\\r\\n\\r\\n); print <$s>"],
            ["bash", "-c", "exec 3<>/dev/tcp/good.example/80; printf 'GET /b HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"],
            ["git", "ls-remote", "http://good.example/no.git"],
            python("print(u.urlopen('http://good.example/u').read())")]
    for row in rows:
        if not shutil.which(row[0]):
            continue
        native = fx.run(*internet(fx, *row))
        result = inside(fx, ASK, GOOD, *row)
        equal((result.status, result.stdout), (native.status, native.stdout), f"{row[0]}: {result.stderr}")
    code = "s = socket.create_connection(('good.example', 2222)); print(s.recv(100)); s.sendall(b'me')"
    result = inside(fx, ASK, "--connect=good.example:2222", *python(code))
    equal(result.stdout, "b'SSH-2.0-outside\\r\\n'\n", result.stderr)


if not SUPERVISED:
    @tap.test("a static run asks nobody, and says so")
    def static(fx):
        result = fx.sandbash(ASK, "true")
        equal(result.status, 125)
        contains(result.stderr, "a static run asks nobody")
        equal(fx.sandbash("--network=off", "true").status, 0, "neighbour")


run_all()
