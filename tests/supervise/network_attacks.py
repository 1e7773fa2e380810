"""What a command does to get past the gate of its network, or to be heard outside before a yes."""

import struct

import tap
from internet import forget, heard, internet
from tap import SUPERVISED, check, contains, equal, lacks, run_all

def test(name):
    """Of a supervised run; a static one asks nobody."""
    return tap.test(name) if SUPERVISED else lambda function: function


ASK = "--network=ask"
GOOD = "--connect=good.example:80"

PYTHON = """
import errno, os, socket, struct, sys, threading
def attempt(act):
    try:
        act()
        return 'done'
    except OSError as e:
        return errno.errorcode[e.errno]
"""


def python(code, *words):
    return ["python3", "-c", PYTHON + code, *words]


def native(fx, code, *words):
    forget(fx)
    return fx.run(*internet(fx, *python(code, *words)))


def inside(fx, code, *words, flags=(GOOD,)):
    forget(fx)
    return fx.run(*internet(fx, *fx.argv(ASK, *flags, *python(code, *words))))


def reached(fx):
    """What servers heard that are no name servers."""
    return [line for line in heard(fx) if not line.startswith("dns")]


LOOKUPS = """
def query(name, kind):
    return (b'\\x12\\x34\\1\\0\\0\\1' + bytes(6) +
            b''.join(bytes([len(l)]) + l.encode() for l in name.split('.')) + b'\\0' + struct.pack('!HH', kind, 1))
answers = 0
for server in sys.argv[1:]:
    family = socket.AF_INET6 if ':' in server else socket.AF_INET
    for kind in (1, 28, 16, 15, 33, 255):
        for stream in (False, True):
            s = socket.socket(family, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
            s.settimeout(90)
            s.connect((server, 53))
            data = query('secret-bytes.other.example', kind)
            s.sendall(struct.pack('!H', len(data)) + data if stream else data)
            answers += len(s.recv(1000)) > 0
print(answers)
"""


@test("names carry nothing out: no lookup leaves before a yes, whatever server and type is asked")
def lookups(fx):
    result = native(fx, LOOKUPS.replace("(False, True)", "(False,)"), "127.0.0.53")
    equal(result.stdout, "6\n", result.stderr)
    contains("\n".join(heard(fx)), "dns secret-bytes.other.example")
    result = inside(fx, LOOKUPS, "127.0.0.53", "8.8.8.8", "203.0.114.10", "::1", "2600:1::10")
    equal(result.stdout, "60\n", result.stderr)
    equal(heard(fx), [])
    result = inside(fx, "print(socket.gethostbyname('good.example'))")
    equal(result.stdout, "198.18.0.16\n", result.stderr)
    check("dns good.example A" in heard(fx), "neighbour")


SIDEWAYS = """
def fast_open(to):
    s = socket.socket()
    s.sendto(b'GET /fast HTTP/1.0\\r\\n\\r\\n', 0x20000000, to)
    s.recv(10)
def by(kind, protocol):
    def act():
        s = socket.socket(socket.AF_INET, kind, protocol)
        s.settimeout(3)
        s.connect((host, 80))
        s.sendall(b'GET /by HTTP/1.0\\r\\n\\r\\n')
        s.recv(10)
    return act
def marked():
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x5c)
    s.connect((host, 80))
    s.sendall(b'GET /marked HTTP/1.0\\r\\n\\r\\n')
    s.recv(10)
def raw(family, kind, protocol):
    return lambda: socket.socket(family, kind, protocol)
def route():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.send(struct.pack('IHHII', 28, 25, 5, 1, 0) + struct.pack('BBBBBBBBI', 2, 0, 0, 0, 255, 4, 254, 2, 0))
    error = struct.unpack('i', s.recv(4096)[16:20])[0]
    if error: raise OSError(-error, '')
host = sys.argv[1]
print('fast', attempt(lambda: fast_open((host, 80))))
print('mptcp', attempt(by(socket.SOCK_STREAM, 262)))
print('sctp', attempt(by(socket.SOCK_STREAM, 132)))
print('udplite', attempt(by(socket.SOCK_DGRAM, 136)))
print('marked', attempt(marked))
print('raw', attempt(raw(socket.AF_INET, socket.SOCK_RAW, 255)))
print('packet', attempt(raw(socket.AF_PACKET, socket.SOCK_RAW, 3)))
print('vsock', attempt(raw(40, socket.SOCK_STREAM, 0)))
print('ping', attempt(raw(socket.AF_INET, socket.SOCK_DGRAM, 1)))
print('route', attempt(route))
"""


@test("other ways to a host: fast open, other protocols, marked packets, raw sockets, routes")
def sideways(fx):
    result = native(fx, SIDEWAYS, "other.example")
    contains(result.stdout, "marked done")
    contains("\n".join(heard(fx)), "/marked")
    result = inside(fx, SIDEWAYS, "other.example")
    equal(result.status, 0, result.stderr)
    equal(heard(fx), [], "nothing is heard outside")
    for what in ("marked", "raw", "packet", "vsock", "route"):
        check(f"{what} done" not in result.stdout, result.stdout)
    result = inside(fx, SIDEWAYS, "good.example")
    contains(result.stdout, "marked done", "neighbour: an option that programs set")
    check("http 203.0.114.10 /marked" in heard(fx), heard(fx))


SWAP = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
good, bad = (struct.pack('!HH4s8x', 0, 80, socket.inet_aton(socket.gethostbyname(n)))
             for n in ('good.example', 'other.example'))
good, bad = (socket.AF_INET.to_bytes(2, 'little') + a[2:] for a in (good, bad))
memory = ctypes.create_string_buffer(good, 16)
over = False
def flip():
    while not over:
        ctypes.memmove(memory, bad, 16)
        ctypes.memmove(memory, good, 16)
threading.Thread(target=flip).start()
done = 0
for i in range(400):
    s = socket.socket()
    if libc.connect(s.fileno(), memory, 16) == 0:
        done += 1
        s.sendall(b'GET /swapped HTTP/1.0\\r\\n\\r\\n')
        s.recv(100)
    s.close()
over = True
print(done)
"""


@test("an address that changes while connect() looks at it: what is reached is what was allowed")
def swapped(fx):
    result = inside(fx, SWAP)
    check(result.status == 0 and int(result.stdout) > 0, result.stderr)
    check("http 203.0.114.10 /swapped" in heard(fx), "some of them were good")
    equal([line for line in reached(fx) if "203.0.114.10" not in line], [])


HERE = """
def reach(host, port):
    with socket.create_connection((host, port)) as s:
        s.sendall(b'GET /x HTTP/1.0\\r\\n\\r\\n')
        return 'reached' if s.recv(10) else 'closed'
def word(act):
    try:
        return act()
    except OSError as error:  # what is found out late is a host that cannot be reached
        return 'refused' if error.errno in (errno.EACCES, errno.EHOSTUNREACH) else error.errno
for port in (8080, 80):
    print(port, *sorted({word(lambda: reach(host, port)) for host in sys.argv[1:]}))
"""


@test("localhost is closed by every address of this machine and every name that leads there, and opened by its own")
def this_machine(fx):
    hosts = ["203.0.114.11", "127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "::1", "::ffff:127.0.0.2", "::ffff:203.0.114.11",
             "2600:1::10", "good.example"]
    equal(native(fx, HERE, *hosts).stdout, "8080 reached\n80 reached\n", "control")
    for rule in ("deny connect localhost:8080", "ask connect 127.0.0.1:8080"):
        result = fx.run(*internet(fx, *fx.argv(f"--rule={rule}", *python(HERE, *hosts))))
        equal(result.stdout, "8080 refused\n80 reached\n", rule)
    opens = ["--connect=localhost:8080", "--connect=localhost:80"]
    equal(inside(fx, HERE, "127.0.0.1", "0.0.0.0", "::1", flags=opens).stdout, "8080 reached\n80 reached\n", "neighbour")
    equal(inside(fx, HERE, "127.0.0.2", "203.0.114.11", flags=opens).stdout, "8080 refused\n80 refused\n", "no more than it says")
    said = fx.run(*internet(fx, *fx.argv("--rule=deny connect localhost:8080", "--explain", "203.0.114.11:8080"))).stdout
    contains(said, "connect deny")


def hello(name):
    extension = b"\0\0" + struct.pack("!HHBH", len(name) + 5, len(name) + 3, 0, len(name)) + name.encode()
    body = b"\3\3" + bytes(32) + b"\0\0\2\x13\1\1\0" + struct.pack("!H", len(extension)) + extension
    message = b"\1" + struct.pack("!I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack("!H", len(message)) + message


def pieces(hello):
    """One byte in each record."""
    return "".join("1603030001" + hello[at:at + 2] for at in range(10, len(hello), 2))


TLS = """
s = socket.create_connection(('good.example', 443))
s.settimeout(90)
def talk():
    for part in sys.argv[1:]:
        s.sendall(bytes.fromhex(part))
    print(s.recv(100))
print(attempt(talk))
"""


@test("another name in TLS than the one that was allowed is reset, and the host never hears it")
def tls_names(fx):
    good, other = hello("good.example").hex(), hello("other.example").hex()
    flags = ["--connect=good.example:443"]
    longer = [hello("good.example" + rest).hex() for rest in ("\0", "\0.other.example", " ")]
    for words in ([other], longer[:1]):
        equal(native(fx, TLS, *words).stdout, "b'heard'\ndone\n", "control")
    for words in (*([one] for one in longer), [other], [other[:60], other[60:]], [good[:-2] + "ff"], [pieces(other)], ["1603010000" + other],
                  ["1603010000", good], ["15030100020100" + other], ["15000000020100" + other], ["1600" + other[4:]]):
        result = inside(fx, TLS, *words, flags=flags)
        equal(reached(fx), [], result.stdout)
        lacks(result.stderr, "no rule allows")
        lacks(result.stderr, "--connect=")
        contains(result.stderr, "the name in TLS was 'other.example', and not this one" if words == [other] else "TLS")
        check(result.stdout in ("ECONNRESET\n", "EPIPE\n"), "reset, while it sent or while it waited: " + result.stderr)
    for words in ([good], [hello("GOOD.example.").hex()], [good[:60], good[60:]], [pieces(good)], ["1600" + good[4:]], ["00"], []):
        result = inside(fx, TLS if words else "s = socket.create_connection(('good.example', 443))", *words, flags=flags)
        equal(result.status, 0, result.stderr)
        if words:
            contains(result.stdout, "heard", "neighbour")
    log = fx.sandbash("--log").stdout
    contains(log, "other.example", "the record has the name that TLS gave")


@test("who sends a part of a hello and ends its side hears the other side's end, and nothing of it is passed on")
def half_a_hello(fx):
    code = TLS.replace("    print(s.recv(100))", "    s.shutdown(socket.SHUT_WR)\n    print(s.recv(100))")
    good = hello("good.example").hex()
    equal(native(fx, code, good[:60]).stdout.splitlines()[-1], "done", "control")
    for words in ([good[:2]], [good[:60]], [good[:20], good[20:-2]]):
        equal(inside(fx, code, *words, flags=["--connect=good.example:443"]).stdout, "b'heard'\ndone\n", str(words))
        equal(reached(fx), ["tls 203.0.114.10 0 bytes"], str(words))
    equal(inside(fx, code, good, flags=["--connect=good.example:443"]).stdout, "b'heard'\ndone\n", "neighbour")
    equal(reached(fx), [f"tls 203.0.114.10 {len(good) // 2} bytes"])


AGAIN = """
s = socket.create_connection(('good.example', 445))
s.settimeout(90)
def talk():
    at_once, *parts = (bytes.fromhex(part) for part in sys.argv[1:])
    s.sendall(at_once)
    answer = b''
    while len(answer) < 65 and (more := s.recv(65 - len(answer))):
        answer += more
    for part in parts:
        s.sendall(part)
    print(s.recv(100))
print(attempt(talk))
"""


@test("a second ClientHello that the server wants has the same name, sent before or after it is wanted")
def second_hello(fx):
    good, other = hello("good.example").hex(), hello("other.example").hex()
    change, early = "140303000101", "1703030010" + "ab" * 16
    bad = ([good, other], [good + other], [good, change + other], [good + change + early + other], [good + early, change, early + other],
           [good, other[:8], other[8:]], [good, change[:4], change[4:] + pieces(other)], [good, "1600" + other[4:]])
    fine = ([good, good], [good + good], [good, change + good], [good + change + early, good], [good, change[:4], change[4:] + good],
            [good, pieces(good)], [good, good[:8], good[8:]])
    for words in bad[:5]:
        contains(native(fx, AGAIN, *words).stdout, "heard", "control")
    check(any(line.startswith("again True") for line in heard(fx)), "control: it takes the other name")
    forget(fx)
    for words in bad:
        result = inside(fx, AGAIN, *words, flags=["--connect=good.example:445"])
        check("ECONNRESET" in result.stdout or "EPIPE" in result.stdout, str(words) + result.stdout + result.stderr)
    lacks("\n".join(heard(fx)), "again True")
    for words in fine:
        result = inside(fx, AGAIN, *words, flags=["--connect=good.example:445"])
        contains(result.stdout, "heard", f"neighbour {words}: {result.stderr}")
    contains(fx.sandbash("--log").stdout, "other.example", "the record has the name that TLS gave")


@test("a name that was allowed and leads to this machine, an office or a cloud's metadata asks again")
def rebinding(fx):
    code = "print(attempt(lambda: socket.create_connection((sys.argv[1], 80)).sendall(b'GET /x HTTP/1.0\\r\\n\\r\\n')))"
    for name, address in (("printer.example", "10.9.9.9"), ("meta.example", "169.254.169.254")):
        equal(native(fx, code, name).stdout, "done\n", "control")
        result = inside(fx, code, name, flags=[f"--connect={name}:80"])
        contains(result.stdout, "EACCES", result.stderr)
        equal(reached(fx), [])
        result = inside(fx, code, name, flags=[f"--connect={name}:80", f"--connect={address}:80"])
        contains(result.stdout, "done", f"neighbour: {result.stderr}")


NAMES = """
def look(name):
    try: return socket.gethostbyname(name)
    except OSError as e: return e.errno
first = look('n0.example')
found = [look('n%d.example' % i) for i in range(4200)]
print(len({a for a in found if isinstance(a, str)}), found[0] == first, found[-1])
print(attempt(lambda: socket.create_connection((sys.argv[1], 80))))
"""


@test("thousands of names: no more than there is room for, and what is known stays")
def many_names(fx):
    result = inside(fx, NAMES, "203.0.114.10", flags=["--connect=203.0.114.10:80"])
    lines = result.stdout.splitlines()
    equal(lines[0].split()[:2], ["4096", "True"], result.stderr)
    check(lines[0].split()[2].startswith("-"), "the name server fails: " + lines[0])
    equal(lines[1], "done", "neighbour")


CLIENT = """
kept, host = None, socket.gethostbyname('good.example')
for line in sys.stdin:
    word = line.split()[0]
    def act():
        global kept
        if word == 'open':
            kept = socket.create_connection((host, 7))
        else:
            kept.settimeout(90)
            kept.sendall(b'x')
            if not kept.recv(1): raise OSError(errno.ECONNRESET, '')
    print(word, attempt(act), flush=True)
"""
STATES = """
for name in ('gate', 'pump', 'dialer'):
    victim, = [p for p in descendants(run.pid) if called(p) == 'sandbash-' + name]
    status = dict(line.split(':\\t', 1) for line in open(f'/proc/{victim}/status').read().splitlines() if ':\\t' in line)
    print(name, status['NoNewPrivs'], status['Seccomp'], int(status['CapEff'], 16) & ~(1 << 12))
"""
KILLER = """
import signal, subprocess, time
run = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(word):
    try:
        run.stdin.write(word + '\\n')
        run.stdin.flush()
    except BrokenPipeError:
        pass
    return run.stdout.readline().strip()
def called(pid):
    try: return open(f'/proc/{pid}/comm').read().strip()
    except OSError: return ''
def descendants(top):
    parents = {}
    for name in os.listdir('/proc'):
        try: parents[int(name)] = int(open(f'/proc/{name}/stat').read().rsplit(')', 1)[1].split()[1])
        except (ValueError, OSError): pass
    found, more = set(), {top}
    while more:
        found |= more
        more = {p for p, parent in parents.items() if parent in more} - found
    return found
print(say('open'), say('echo'), sep='\\n')
victims = [p for p in descendants(run.pid) if called(p) == sys.argv[1]]
assert len(victims) == 1, victims
os.kill(victims[0], signal.SIGKILL)
echo = say('echo')
while echo == 'echo done' and sys.argv[1] != 'sandbash-dialer': # the pump hears a moment later that its gate is gone
    echo = say('echo')
opened = say('open')
while opened == 'open done' and sys.argv[1] != 'sandbash-dialer': # ... and ends what it gave to a pump that is gone
    assert say('echo') != 'echo done'
    opened = say('open')
print(echo, opened, sep='\\n')
run.stdin.close()
run.wait()
"""


@test("killed, gate and pump take connections along and open nothing; the dialer is made anew")
def killed(fx):
    for name, echo, again in (("sandbash-gate", "echo ECONNRESET", "open EACCES"),
                              ("sandbash-pump", "echo ECONNRESET", "open EACCES"),
                              ("sandbash-dialer", "echo done", "open done")):
        forget(fx)
        command = fx.argv(ASK, "--connect=good.example:7", *python(CLIENT))
        result = fx.run(*internet(fx, *python(KILLER, name, *command)))
        equal(result.stdout.splitlines(), ["open done", "echo done", echo, again], f"{name}: {result.stderr}")


STOPPED = """
os.kill(victims[0], signal.SIGSTOP)
run.stdin.write('open\\n')
run.stdin.flush()
time.sleep(0.3) # so that it was told mostly; it works as well if it was not
os.kill(victims[0], signal.SIGKILL)
print(run.stdout.readline().strip(), say('echo'), sep='\\n')
run.stdin.close()
run.wait()
"""


@test("a connection that a killed dialer was told to make is made by the next one")
def killed_while_dialling(fx):
    command = fx.argv(ASK, "--connect=good.example:7", *python(CLIENT))
    code = KILLER.split("os.kill(")[0] + STOPPED
    result = fx.run(*internet(fx, *python(code, "sandbash-dialer", *command)))
    equal(result.stdout.splitlines(), ["open done", "echo done"] * 2, result.stderr)


@test("the processes that serve a network have given up what they do not need")
def states(fx):
    command = fx.argv(ASK, "--connect=good.example:7", *python(CLIENT))
    code = KILLER.split("victims =")[0] + STATES + "run.stdin.close()"
    result = fx.run(*internet(fx, *python(code, "", *command)))
    equal(result.stdout.splitlines()[2:], ["gate 1 2 0", "pump 1 2 0", "dialer 1 0 0"], result.stderr)


if not SUPERVISED:
    @tap.test("rules about hosts do not open the network where nobody holds them")
    def static(fx):
        equal(fx.sandbash(GOOD, "--connect=*.example", ASK, "true").status, 125)
        result = fx.sandbash("--best-effort", ASK, GOOD, *python("print(attempt(lambda: socket.create_connection(('1.1.1.1', 80))))"))
        check("done" not in result.stdout, result.stdout)


run_all()
