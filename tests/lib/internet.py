#!/usr/bin/env python3
"""internet.py - a small internet of a test's own: a network namespace with a name server and hosts in it.

    result = fx.run(*internet(fx, *fx.argv("--network=ask", "curl", "http://good.example/")))
    heard(fx)        what its servers have heard: ["dns good.example A", "http 203.0.114.10 /"]

Everything is on the namespace's loopback interface; who is root in it sets it up, the command is the test's own
user again.  http://HOST/PATH says where it was reached.  Port 7 echoes, 9 takes everything, 443 hears a
ClientHello and answers nothing, 445 wants a second one, UDP port 9999 echoes, 2222 has a server that speaks first, 3128 the proxy of
company_proxy.py, 1080 and 1081 those of company_socks.py.  Port 11 takes nothing, and at 444 nobody ever answers a SYN.
"""

import ctypes
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import company_proxy
import company_socks

NAMES = {
    "good.example": "203.0.114.10",
    "other.example": "203.0.114.11",
    "printer.example": "10.9.9.9",
    "meta.example": "169.254.169.254",
    "closed.example": "203.0.114.12",
    "proxy.example": "203.0.114.13",
}
TYPES = {1: "A", 28: "AAAA", 12: "PTR", 15: "MX", 16: "TXT", 33: "SRV"}
GOOD = b"\4good\7example\0"
RECORDS = {  # name and type: data
    ("good.example", 15): [b"\0\12" + GOOD],
    ("good.example", 16): [b"\5hello", b"\310" + b"x" * 200, b"\310" + b"y" * 200, b"\310" + b"z" * 200],
    ("_imap._tcp.good.example", 33): [struct.pack("!HHH", 1, 2, 7) + GOOD],
    ("other.example", 16): [b"\6secret"],
}
HELLO_RETRY = bytes.fromhex("160303003602000032" "0303" "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c" "00"
                            "1301" "00" "000a" "002b00020304" "002c0000" "140303000101")


def internet(fx, *argv):
    """The command line that runs argv there."""
    own = ["unshare", "-nm"] if os.geteuid() == 0 else ["unshare", "-Urnm"]
    return [*own, "--propagation=private", "python3", "-B", __file__, str(fx.dir), str(os.geteuid()), str(os.getegid()),
            *(os.fspath(word) for word in argv)]


def heard(fx):
    log = fx.dir / "heard"
    return log.read_text().splitlines() if log.exists() else []


def forget(fx):
    (fx.dir / "heard").unlink(missing_ok=True)


def address_of(connection):
    return connection.getsockname()[0].removeprefix("::ffff:")


class Outside:
    def __init__(self, log):
        self.log = open(log, "a", buffering=1)
        self.lock = threading.Lock()
        self.ready = []

    def hear(self, text):
        with self.lock:
            self.log.write(text + "\n")

    def listen(self, port, serve):
        server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
        self.start(self.accept, server, serve)

    def accept(self, server, serve):
        while True:
            connection, _ = server.accept()
            self.start(self.one, serve, connection)

    @staticmethod
    def one(serve, connection):
        try:
            with connection:
                serve(connection)
        except OSError:
            pass

    @staticmethod
    def start(function, *arguments):
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def answer(self, query, room):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += query[at] + 1
        name, kind = ".".join(labels).lower(), struct.unpack("!H", query[at + 1:at + 3])[0]
        self.hear(f"dns {name} {TYPES.get(kind, kind)}")
        address = NAMES.get(name)
        found = [socket.inet_aton(address)] if address and kind == 1 else RECORDS.get((name, kind), [])
        if query[10:12] != b"\0\0":
            room = max(room, struct.unpack("!H", query[at + 8:at + 10])[0])  # EDNS
        known = address or any(name == other for other, _ in RECORDS)
        records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(data)) + data for data in found)
        cut = at + 5 + len(records) > room
        head = bytes([0x83 if cut else 0x81, 0x80 if known else 0x83]) + struct.pack("!HHHH", 1, 0 if cut else len(found), 0, 0)
        return query[:2] + head + query[12:at + 5] + (b"" if cut else records)

    def names(self, server):
        while True:
            query, who = server.recvfrom(4096)
            server.sendto(self.answer(query, 512), who)

    def names_by_stream(self, connection):
        while head := connection.recv(2, socket.MSG_WAITALL):
            reply = self.answer(connection.recv(struct.unpack("!H", head)[0], socket.MSG_WAITALL), 65535)
            connection.sendall(struct.pack("!H", len(reply)) + reply)

    def datagrams(self, server):
        while True:
            data, who = server.recvfrom(65536)
            self.hear(f"udp {data[:40].decode(errors='replace')}")
            server.sendto(b"echo " + data if len(data) < 65000 else b"long", who)

    def http(self, connection):
        request = b""
        while b"\r\n\r\n" not in request:
            more = connection.recv(65536)
            if not more:
                return
            request += more
        path = request.split()[1].decode()
        here = address_of(connection)
        self.hear(f"http {here} {path}")
        body = f"{here} {path}\n".encode() if path != "/big" else bytes(8 << 20)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def echo(self, connection):
        self.hear("echo")
        while data := connection.recv(1 << 16):
            connection.sendall(data)

    def sink(self, connection):
        total = 0
        while data := connection.recv(1 << 16):
            total += len(data)
        connection.sendall(f"{total}\n".encode())

    def hello(self, connection):
        data = connection.recv(65536)
        self.hear(f"tls {address_of(connection)} {len(data)} bytes")
        connection.sendall(b"heard")

    def retry(self, connection):
        """A server that skips early data, and takes the name of the second hello."""
        def record():
            head = connection.recv(5, socket.MSG_WAITALL)
            return head + connection.recv(struct.unpack("!H", head[3:5])[0], socket.MSG_WAITALL) if len(head) == 5 else b""

        answer = HELLO_RETRY if record() else b""
        connection.sendall(answer[:9])
        connection.sendall(answer[9:])
        while (second := record()) and second[0] != 22:
            pass
        self.hear(f"again {b'other.example' in second} {len(second)}")
        connection.sendall(b"heard")

    @staticmethod
    def silent():
        """A listener that drops every packet: what is connected to it waits."""
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
        server = socket.socket(socket.AF_INET)
        server.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(code)))  # SO_ATTACH_FILTER
        server.bind(("203.0.114.10", 444))
        server.listen()
        return server

    @staticmethod
    def stay(connection):
        """Until the other side is gone."""
        poll = select.poll()
        poll.register(connection, select.POLLRDHUP)
        poll.poll()

    def speaks_first(self, connection):
        connection.sendall(b"SSH-2.0-outside\r\n")
        self.hear(f"first {connection.recv(100).decode(errors='replace').strip()}")

    def proxy(self, connection):
        company_proxy.serve(connection, self.hear, NAMES)

    def socks(self, connection):
        company_socks.serve(connection, self.hear, NAMES)

    def open_socks(self, connection):
        company_socks.serve(connection, self.hear, NAMES, open_to_all=True)

    def begin(self):
        for port, serve in ((80, self.http), (8080, self.http), (7, self.echo), (9, self.sink), (443, self.hello), (445, self.retry),
                            (2222, self.speaks_first), (11, self.stay), (3128, self.proxy), (1080, self.socks), (1081, self.open_socks)):
            self.listen(port, serve)
        self.start(self.accept, socket.create_server(("127.0.0.53", 53)), self.names_by_stream)
        self.ready.append(self.silent())
        for address, function in ((("127.0.0.53", 53), self.names), (("0.0.0.0", 9999), self.datagrams),
                                  (("2600:1::10", 9999), self.datagrams)):
            server = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(address)
            self.start(function, server)


def set_up(directory):
    """In a network and mount namespace of our own, as root there."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in (*NAMES.values(), "2600:1::10"):
        # nodad: else it cannot be bound to at once
        subprocess.run(["ip", "address", "add", address, "dev", "lo", *(["nodad"] if ":" in address else [])], check=True)
    resolv = Path(directory, "resolv.conf")
    resolv.write_text("nameserver 127.0.0.53\nsearch corp.example\noptions ndots:3\n")
    subprocess.run(["mount", "--bind", resolv, os.path.realpath("/etc/resolv.conf")], check=True)
    hosts = Path(directory, "hosts")
    hosts.write_text("127.0.0.1 localhost\n::1 localhost\n203.0.114.11 listed.example listed\n")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    Outside(Path(directory, "heard")).begin()


def main():
    directory, user, group, *argv = sys.argv[1:]
    set_up(directory)
    if os.geteuid() == 0 and int(user) != 0:
        argv = ["unshare", "-U", f"--map-user={user}", f"--map-group={group}", *argv]
    sys.exit(subprocess.run(argv).returncode)


if __name__ == "__main__":
    main()
