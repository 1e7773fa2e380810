"""--network=off leaves no way to the outside, whatever the protocol; on is unrestricted (S4)."""

import os
import socket
import threading

from attack import act, boxed, refused, works
from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, check, contains, equal, run_all, test, wait

ROOT = os.getuid() == 0
OFF = ["--network=off"]
# Any of these: no address there, no such socket, not allowed.
UNREACHED = ("EACCES", "EPERM", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL",
             "EAFNOSUPPORT", "EPROTONOSUPPORT", "EOPNOTSUPP", "ESOCKTNOSUPPORT")


class Server:
    """Listens on the machine's loopback, outside; counts what arrives."""

    def __init__(self, family=socket.AF_INET, kind=socket.SOCK_STREAM, address=("127.0.0.1", 0),
                 protocol=0):
        self.count = 0
        self.kind = kind
        self.socket = socket.socket(family, kind, protocol)
        self.socket.bind(address)
        if kind != socket.SOCK_DGRAM:
            self.socket.listen(16)
        self.socket.settimeout(0.02)
        self.port = self.socket.getsockname()[1] if family != socket.AF_UNIX else None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while not self.stop.is_set():
            try:
                if self.kind == socket.SOCK_DGRAM:
                    self.socket.recv(100)
                    self.count += 1
                else:
                    connection, _ = self.socket.accept()
                    self.count += 1
                    connection.close()
            except TimeoutError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.socket.close()

    def seen(self, want):
        """So many came, and in a moment no more."""
        wait(lambda: self.count >= want, f"{self.count} of {want} arrived")
        threading.Event().wait(0.06)
        equal(self.count, want)


TCP = ("tcp", "mapped", "mptcp", "fastopen", "fastopen-sendmsg", "fastopen-connect")
UDP = ("udp", "udp-sendto", "udp-sendmsg", "udp-sendmmsg")


def reach(fx, names, server, address="127.0.0.1"):
    for how in names:
        result = boxed(fx, "reach", how, address, str(server.port), flags=OFF)
        # A datagram to the loopback of the run's own network is sent, and meets nobody.
        if not (server.kind == socket.SOCK_DGRAM and result.status == 0):
            refused(result, UNREACHED, how)
    server.seen(0)
    for how in names:
        works(act(fx, "reach", how, address, str(server.port)), f"control {how}")
    server.seen(len(names))  # control


@test("ESCAPES network: TCP in all its forms", variants=("full", "flat", "nested"))
def tcp(fx):
    with Server() as server:
        reach(fx, TCP, server)


@test("ESCAPES network: UDP in all its forms", variants=("full", "flat", "nested"))
def udp(fx):
    with Server(kind=socket.SOCK_DGRAM) as server:
        reach(fx, UDP, server)


@test("ESCAPES network: UDP-Lite", variants=("full", "flat", "nested"))
def udplite(fx):
    try:
        server = Server(kind=socket.SOCK_DGRAM, protocol=136)
    except OSError:
        server = None  # newer kernels dropped it
    if server:
        with server:
            reach(fx, ("udplite",), server)
    else:
        boxed(fx, "reach", "udplite", "127.0.0.1", "9", flags=OFF)


@test("ESCAPES network: IPv6", variants=("full", "flat", "nested"))
def ipv6(fx):
    try:
        server = Server(socket.AF_INET6, address=("::1", 0))
    except OSError:
        server = None  # this machine has no ::1; nothing can be reached there
    if server:
        with server:
            reach(fx, ("tcp6",), server, "::1")
        with Server(socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)) as datagrams:
            reach(fx, ("udp6",), datagrams, "::1")
    refused(boxed(fx, "reach", "tcp6", "::1", "9", flags=OFF), UNREACHED)


@test("ESCAPES network: the machine's own addresses and others",
      variants=("full", "flat", "nested"))
def addresses(fx):
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    except OSError:
        own = "127.0.0.2"
    finally:
        probe.close()
    with Server(address=("0.0.0.0", 0)) as server:
        reach(fx, ("tcp", "fastopen"), server, own)
    for address in ("192.0.2.1", "169.254.169.254", "10.0.0.1"):
        for how in ("tcp", "udp-sendto"):
            refused(boxed(fx, "reach", how, address, "80", flags=OFF), UNREACHED, address)


FAMILIES = (("packet", "raw", "3"), ("packet", "dgram", "3"), ("vsock", "stream", "0"),
            ("vsock", "dgram", "0"), ("alg", "seqpacket", "0"), ("smc", "stream", "0"),
            ("can", "raw", "1"), ("bluetooth", "raw", "1"), ("xdp", "raw", "0"),
            ("key", "raw", "2"), ("tipc", "dgram", "0"), ("rds", "seqpacket", "0"),
            ("netlink", "raw", "15"), ("netlink", "raw", "9"), ("netlink", "raw", "4"),
            ("netlink", "raw", "16"), ("inet", "stream", "132"), ("inet", "stream", "256"),
            ("inet", "raw", "1"), ("inet", "raw", "255"), ("inet6", "raw", "58"),
            ("inet", "packet", "3"))


@test("ESCAPES network: other families and raw sockets", variants=("full", "flat", "nested"))
def families(fx):
    for flags in (OFF, []):
        for words in FAMILIES:
            refused(boxed(fx, "socket", *words, flags=flags), UNREACHED, str(words))
    works(act(fx, "socket", "netlink", "raw", "15"), "control")
    works(act(fx, "socket", "netlink", "raw", "16"), "control")
    if ROOT:
        works(act(fx, "socket", "packet", "raw", "3"), "control")
        works(act(fx, "socket", "inet", "raw", "1"), "control")
    for words in (("unix", "stream", "0"), ("netlink", "raw", "0")):
        works(boxed(fx, "socket", *words), f"neighbour {words}")


@test("ESCAPES network: sockets by io_uring", variants=("full", "flat", "nested"))
def uring(fx):
    refused(boxed(fx, "uring", "socket", "-", flags=OFF), ("EPERM", "ENOSYS"))
    works(act(fx, "uring", "socket", "-"), "control")


@test("ESCAPES network: an abstract socket outside", variants=("full", "flat", "nested"))
def abstract(fx):
    for flags in (OFF, []):
        for kind, word in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_SEQPACKET, "seqpacket"),
                           (socket.SOCK_DGRAM, "dgram"), (socket.SOCK_DGRAM, "sendto"),
                           (socket.SOCK_DGRAM, "pair")):
            name = f"act-{os.getpid()}-{word}"
            with Server(socket.AF_UNIX, kind, f"\0{name}") as server:
                refused(boxed(fx, "unix", word, "@" + name, flags=flags), UNREACHED, word)
                equal(server.count, 0)
                works(act(fx, "unix", word, "@" + name), f"control {word}")
        works(boxed(fx, "abstract", flags=flags), "neighbour: one of its own")


@test("ESCAPES network: nobody outside reaches a server inside", variants=("full", "nested"))
def served(fx):
    script = """if 1:
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        server.accept()[0].sendall(b"inside")
        """
    for flags, reached in ((OFF, False), ([], True)):
        if fx.variant == "nested" and flags is OFF:
            continue  # the inner run cannot make a network of its own
        process = fx.start(*fx.argv(*flags, "python3", "-c", script), stdout=-1)
        try:
            port = int(process.stdout.readline())
            with socket.socket() as client:
                client.settimeout(PATIENCE if reached else 1)
                try:
                    client.connect(("127.0.0.1", port))
                    said = client.recv(100)
                except OSError:
                    said = b""  # or what somebody else says who has that port outside
                equal(said == b"inside", reached, str(flags))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@test("USERS loopback inside works when the network is off")
def loopback(fx):
    for how in ("tcp", "udp"):
        works(boxed(fx, "loopback", how, flags=OFF), how)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        works(boxed(fx, "listen", str(taken.getsockname()[1]), flags=OFF), "a port taken outside")


@test("R4 without namespaces --network=off says what it costs, or holds")
def flat_loopback(fx):
    result = fx.sandbash("--network=off", "touch", "started", without="userns")
    equal(result.status, 0 if SUPERVISED else 125)
    equal(fx.exists("started"), SUPERVISED)


@test("S4 the network is unrestricted by default", variants=ALL_VARIANTS)
def on(fx):
    for how, kind in (("tcp", socket.SOCK_STREAM), ("mapped", socket.SOCK_STREAM),
                      ("udp", socket.SOCK_DGRAM), ("udp-sendmsg", socket.SOCK_DGRAM)):
        with Server(kind=kind) as server:
            works(boxed(fx, "reach", how, "127.0.0.1", str(server.port)), how)
            server.seen(1)
    for how in ("tcp", "udp"):
        works(boxed(fx, "loopback", how), f"loopback {how}")


@test("P7 the environment says that the network is off", variants=ALL_VARIANTS)
def environment(fx):
    contains(fx.sandbash(*OFF, "env").stdout, "SANDBASH_NETWORK_DISABLED=1")
    check("SANDBASH_NETWORK_DISABLED" not in fx.sandbash("env").stdout)


@test("ESCAPES network: a nested run cannot turn it on again", variants=("full", "flat"))
def no_way_back(fx):
    with Server() as server:
        inner = fx.argv(variant="full")
        for flags in (["--network=on"], ["--disable-sandbox"], ["--mode=danger-full-access"]):
            result = fx.sandbash("--network=off", *inner, *flags, fx.tool("act"), "reach", "tcp",
                                 "127.0.0.1", str(server.port))
            check(result.status != 0, f"{flags}")
        server.seen(0)
        works(act(fx, "reach", "tcp", "127.0.0.1", str(server.port)), "control")


run_all()
