"""At the gate: what a program notices of a connection that waits there, natively and inside."""

import tap
from internet import forget, heard, internet
from person import Person
from tap import SUPERVISED, check, contains, equal, lacks, run_all

ASK = "--network=ask"
PYTHON = "import asyncio, ctypes, os, select, signal, socket, struct, sys, threading, time\n"


def test(name):
    """Of a supervised run; a static one asks nobody."""
    return tap.test(name) if SUPERVISED else lambda function: function


def python(code, *words):
    return ["/usr/bin/python3", "-c", PYTHON + code, *words]


def inside(fx, *words):
    return fx.run(*internet(fx, *fx.argv(*words)))


def both(fx, rules, code, *words):
    """The same natively and inside; returns what it says."""
    native = fx.run(*internet(fx, *python(code, *words)))
    result = inside(fx, ASK, *rules, *python(code, *words))
    equal((result.status, result.stdout), (native.status, native.stdout), result.stderr)
    equal(native.status, 0, native.stderr)
    return native.stdout


LOOKUP = """
def ask(name, kind, server, stream=False, edns=False):
    query = b'\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0' + bytes([edns])
    query += b''.join(bytes([len(l)]) + l.encode() for l in name.split('.')) + b'\\0' + struct.pack('!HH', kind, 1)
    query += b'\\0\\0\\51\\20\\0\\0\\0\\0\\0\\0\\0' if edns else b''
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
    s.settimeout(90)
    s.connect((server, 53))
    s.sendall((struct.pack('!H', len(query)) if stream else b'') + query)
    got = s.recv(1 << 16) if not stream else s.recv(struct.unpack('!H', s.recv(2, socket.MSG_WAITALL))[0], socket.MSG_WAITALL)
    assert got[:2] == query[:2] and got[12:12 + len(name) + 6] == query[12:12 + len(name) + 6]
    return got[2] & 2, got[3] & 15, got[7], got[12 + len(name) + 6:].hex() if kind != 2 else ''
for name, kind in (('Good.Example', 15), ('good.example', 16), ('_imap._tcp.good.example', 33), ('good.example', 2),
                   ('none.good.example', 16)):
    for how in ({}, {'edns': True}, {'stream': True}):
        print(name, kind, how, *ask(name, kind, '127.0.0.53', **how))
"""


@test("mail, text and service records of a host that is allowed are its own, by datagram and stream; of others there are none")
def records(fx):
    text = both(fx, ["--connect=good.example", "--connect=*.good.example"], LOOKUP)
    check("68656c6c6f" in text and "2 0 0" in text, text)  # hello; cut, where a datagram is too small
    forget(fx)
    result = inside(fx, ASK, *python(LOOKUP.split("for name")[0] + "print(*ask('other.example', 16, '1.1.1.1'))"))
    equal(result.stdout, "0 0 0 \n", result.stderr)
    equal(heard(fx), [], "nobody outside has heard of it")


LOCAL = """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(float(sys.argv[1]))
for word in (b'one', b'two'):
    s.sendto(word, ('127.0.0.1', 9999))
    print(s.recv(100).decode())
"""


@test("a datagram to this machine, from a socket that is not connected, goes where a rule allows")
def local_datagrams(fx):
    equal(both(fx, ["--connect=udp:localhost:9999"], LOCAL, "90"), "echo one\necho two\n")
    forget(fx)
    check(inside(fx, ASK, *python(LOCAL, "0.3")).status != 0)
    equal(heard(fx), [])


ANY = """
for host in ('0.0.0.0', '::', '127.0.0.1', '::1', '::ffff:0.0.0.0', '::ffff:127.0.0.1'):
    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET)
    s.settimeout(60)
    try:
        s.connect((host, 8080))
        s.sendall(b'GET /any HTTP/1.0\\r\\n\\r\\n')
        print(host, s.recv(15))
    except OSError as error:
        print(host, error.errno)
"""


@test("0.0.0.0 and :: are this machine for connect(), as natively")
def any_address(fx):
    contains(both(fx, ["--connect=localhost:8080"], ANY), ":: b'HTTP/1.1 200 OK")
    forget(fx)
    lacks(inside(fx, ASK, *python(ANY)).stdout, "200")
    equal([line for line in heard(fx) if line.startswith("http")], [])


# to each host once: the next one would find somebody who waits for it
LARGE = """
def once(host, size, connected):
    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(float(sys.argv[1]))
    data = bytes(i % 251 for i in range(size))
    if connected:
        s.connect((host, 9999))
    s.send(data) if connected else s.sendto(data, (host, 9999))
    try:
        return s.recv(70000) == (b'echo ' + data if size < 65000 else b'long')
    except TimeoutError:
        return None
for host, size in (('good.example', 500), ('other.example', 521), ('closed.example', 1350), ('proxy.example', 60000),
                   ('203.0.114.10', 65507), ('127.0.0.1', 1350), ('2600:1::10', 1350)):
    print(host, once(host, size, sys.argv[2] == 'connected'))
"""


@test("the first datagram arrives whole, however long it is, from a socket that is connected and from one that is not")
def large_datagrams(fx):
    hosts = ("good.example", "other.example", "closed.example", "proxy.example", "203.0.114.10", "127.0.0.1", "2600:1::10")
    rules = [f"--connect=udp:{f'[{host}]' if ':' in host else host}:9999" for host in hosts]
    for how in ("not", "connected"):
        equal(both(fx, rules, LARGE, "60", how), "".join(f"{host} True\n" for host in hosts), how)
        forget(fx)
        lacks(inside(fx, ASK, *python(LARGE, "0.2", how)).stdout, "True")
        equal([line for line in heard(fx) if line.startswith("udp")], [])


WAITS = """
libc = ctypes.CDLL(None, use_errno=True)
TO = struct.pack('=HH4s8x', socket.AF_INET, socket.htons(444), socket.inet_aton('203.0.114.10'))
def connect(s):
    ctypes.set_errno(0)
    libc.connect(s.fileno(), TO, 16)
    return ctypes.get_errno()
def limited(seconds):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', int(seconds), int(seconds % 1 * 1e6)))
    return s
s = limited(0.3)
print('limit', connect(s), connect(s))
for restart, s in ((False, socket.socket()), (False, limited(90)), (True, limited(90))):
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3) # again: the first may come before connect()
    error = connect(s)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print('signal', restart, error, bool(rung))
    s.setblocking(False)
    print('then', connect(s), select.select([], [s], [], 0)[1], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
s = socket.socket()
s.setblocking(False)
print('begun', connect(s), connect(s))
"""


@test("limits, signals and second calls end a connect() that waits as the kernel ends it")
def waits(fx):
    text = both(fx, ["--connect=203.0.114.10:444"], WAITS)
    contains(text, "limit 115 114\n")
    contains(text, "signal False 4 True\n")


SIX = """
for blocking in (True, False):
    s = socket.socket(socket.AF_INET6)
    s.setblocking(blocking)
    try: s.connect(('2600:1::10', 7))
    except BlockingIOError: select.select([], [s], [])
    s.setblocking(True)
    s.sendall(b'six')
    print(s.recv(10), s.getpeername()[:2])
s = socket.socket(socket.AF_INET6)
print(s.connect_ex(('2600:1::10', 81)), s.connect_ex(('::ffff:203.0.114.10', 81)))
"""


@test("IPv6, for who waits and who does not; a refusal is one")
def six(fx):
    contains(both(fx, ["--connect=[2600:1::10]:7", "--connect=[2600:1::10]:81", "--connect=203.0.114.10:81"], SIX), "111")


FULL = """
s = socket.create_connection(('good.example', 11))
s.setblocking(False)
total = 0
while True:
    try: total += s.send(bytes(1 << 16))
    except BlockingIOError:
        if not select.select([], [s], [], 0.5)[1]: break
print(0 < total < 64 << 20)
s.close()
s = socket.create_connection(('good.example', 7)) # others go on meanwhile
for i in range(50):
    s.sendall(b'again')
    assert s.recv(5, socket.MSG_WAITALL) == b'again'
print('alive')
"""


@test("who sends faster than the other side takes has to wait, and one connection serves again and again")
def backpressure(fx):
    equal(both(fx, ["--connect=good.example:11", "--connect=good.example:7"], FULL), "True\nalive\n")


THOUSAND = """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count = min(1000, hard - 64)
async def main():
    pairs = await asyncio.gather(*(asyncio.open_connection('203.0.114.10', 7) for i in range(count)))
    for i, (_, writer) in enumerate(pairs): writer.write(b'%d\\n' % i)
    print(all([await reader.readline() == b'%d\\n' % i for i, (reader, _) in enumerate(pairs)]))
asyncio.run(main())
"""


@test("a thousand connections, open at once")
def thousand(fx):
    equal(both(fx, ["--connect=203.0.114.10:7"], THOUSAND), "True\n")


THREADS = """
threading.stack_size(1 << 18)
done = []
def one(i):
    s = socket.create_connection(('good.example', 7))
    s.sendall(b'%04d' % i)
    done.append(s.recv(4, socket.MSG_WAITALL) == b'%04d' % i)
threads = [threading.Thread(target=one, args=(i,)) for i in range(400)]
for thread in threads: thread.start()
print('all wait', flush=True)
for thread in threads: thread.join()
print('through', sum(done))
"""


@test("hundreds of threads that wait in connect() for one answer: one question, and a yes lets all of them go on")
def threads(fx):
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(THREADS))), rows=24, columns=120, replies=True))
    person.question("good.example:7")
    person.press("2")
    person.until(lambda: "through 400" in person.term.screen(), "not all have gone on")
    equal(person.term.wait(), 0)


LATER = """
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 200000))
print('first', s.connect_ex(('good.example', 7)), flush=True)
open('given-up', 'w').close()
while s.connect_ex(('good.example', 7)) not in (0, 106): pass
s.sendall(b'late')
print('then', s.recv(4))
"""


@test("an answer outlives who gave up waiting, and a connection the question")
def later(fx):
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, *python(LATER))), rows=24, columns=120, replies=True))
    person.question("good.example:7")
    person.until(lambda: fx.exists("given-up"), "it goes on waiting")
    person.press("2")
    person.until(lambda: "then b'late'" in person.term.screen(), "not made")
    contains(person.term.screen(), "first 115")
    equal(person.term.wait(), 0)


KILLED = """
child = os.fork()
if not child:
    socket.create_connection(('good.example', 7))
    os._exit(0)
while sys.stdin.readline().strip() != 'kill': pass
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print('gone', flush=True)
print('other', socket.socket().connect_ex(('203.0.114.11', 80)))
"""


@test("killed while somebody is asked: the question goes with it, and nothing is reached")
def killed(fx):
    script = '(until [ -e shown ]; do sleep 0.05; done; echo kill) | "$0" "$@"'
    person = Person.at(fx, fx.terminal(*internet(fx, *fx.argv(ASK, "--connect=203.0.114.11:80", "sh", "-c", script,
                                                              *python(KILLED))), rows=24, columns=120, replies=True))
    person.question("good.example:7")
    fx.write("shown")
    person.until(lambda: "other 0" in person.term.screen(), "it hangs")
    person.gone("good.example:7")
    equal(person.term.wait(), 0)
    check("echo" not in heard(fx), heard(fx))


STEPS = """
libc = ctypes.CDLL(None, use_errno=True)
TO = struct.pack('=HH4s8x', socket.AF_INET, socket.htons(7), socket.inet_aton('203.0.114.10'))
signal.signal(signal.SIGALRM, lambda *_: None)
def talk(restart, after):
    s = socket.socket()
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, after)
    status = libc.connect(s.fileno(), TO, 16), ctypes.get_errno()
    if status[0] and status[1] == 4: # it goes on; whoever asks again hears that it is done
        select.select([], [s], [])
        assert libc.connect(s.fileno(), TO, 16) == 0 or ctypes.get_errno() == 106
    elif status[0]: return status
    s.sendall(b'talk')
    return s.recv(4, socket.MSG_WAITALL)
print({talk(restart, after * 4e-5 + 1e-6) for restart in (True, False) for after in range(40)})
for after in range(60):
    child = os.fork()
    if not child:
        while True: talk(True, 0)
    time.sleep(after * 1e-4)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print(talk(True, 0))
"""


@test("signals and kills at every step of a connection: who is interrupted goes on, and the next one finds all in order")
def steps(fx):
    equal(both(fx, ["--connect=203.0.114.10:7"], STEPS), "{b'talk'}\nb'talk'\n")


RAW = """
def attempt(*kind, to=('203.0.114.10', 0)):
    try: s = socket.socket(*kind)
    except OSError as e: return e.errno
    s.settimeout(0.3)
    try:
        s.sendto(b'\\10\\0\\xf7\\xfd\\0\\1\\0\\1', to)
        return s.recv(100)
    except OSError as e: return type(e).__name__, e.errno
print(attempt(socket.AF_INET, socket.SOCK_RAW, 1), attempt(socket.AF_PACKET, socket.SOCK_RAW, 0))
print(attempt(socket.AF_INET, socket.SOCK_DGRAM, 1))
"""


@test("ping and raw sockets get no answer of a host, whoever is allowed")
def pings(fx):
    result = inside(fx, ASK, "--connect=203.0.114.10:80", *python(RAW))
    lines = result.stdout.splitlines()
    check(lines[0] in ("1 1", "1 97"), lines[0] + result.stderr)  # EPERM, EAFNOSUPPORT
    check(lines[1] in ("13", "('TimeoutError', None)", "('OSError', 101)"), lines[1])


@test("with nobody to ask it is refused at once, and the summary has what would allow it")
def nobody(fx):
    result = inside(fx, ASK, *python("print(socket.socket().connect_ex(('other.example', 80)))"))
    equal(result.stdout, "13\n")
    contains(result.stderr, "--connect=other.example:80")


if not SUPERVISED:
    @tap.test("a static run has no gate, and says so")
    def static(fx):
        contains(fx.sandbash(ASK, "true").stderr, "a static run asks nobody")


run_all()
