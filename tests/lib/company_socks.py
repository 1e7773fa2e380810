"""company_socks.py - a SOCKS 5 proxy (RFC 1928, RFC 1929) in the small internet of internet.py: port 1080, and 1081 without a login.

As the proxy of company_proxy.py it has the login me:p@ss, and knows hidden.example.  Other names say how it misbehaves.
"""

import socket
import struct
import threading

from company_proxy import pour

LOGIN = b"\1\2me\4p@ss"
REPLIES = {
    "forbidden.example": b"\5\2\0\1" + bytes(6),
    "short.example": b"\5\2",
    "unreachable.example": b"\5\3\0\1" + bytes(6),
    "down.example": b"\5\4\0\1" + bytes(6),
    "closed.example": b"\5\5\0\1" + bytes(6),
    "garbage.example": b"HTTP/1.1 200 OK\r\n\r\n",
    "form.example": b"\5\0\0\7" + bytes(30),
    "half.example": b"\5\0\0\3\377ab",
    "odd.example": b"\5\310\0\1" + bytes(6),
}


def take(connection, count):
    data = connection.recv(count, socket.MSG_WAITALL)
    if len(data) < count:
        raise OSError("it is gone")
    return data


def greet(connection, hear, open_to_all):
    """Whether it may go on."""
    version, count = take(connection, 2)
    methods = take(connection, count)
    hear(f"socks {version} {methods.hex()}")
    if open_to_all:
        connection.sendall(b"\5\0")
        return True
    if 2 not in methods:
        connection.sendall(b"\5\377")
        return False
    connection.sendall(b"\5\2")
    head = take(connection, 2)
    name = take(connection, head[1] + 1)
    fine = head + name + take(connection, name[-1]) == LOGIN
    connection.sendall(b"\1" + bytes([not fine]))
    return fine


def serve(connection, hear, names, open_to_all=False):
    if not greet(connection, hear, open_to_all):
        return
    _, command, _, form = take(connection, 4)
    if form == 3:
        host = take(connection, take(connection, 1)[0]).decode()
    else:
        host = socket.inet_ntop(*((socket.AF_INET, take(connection, 4)) if form == 1 else
                                  (socket.AF_INET6, take(connection, 16))))
    port = struct.unpack("!H", take(connection, 2))[0]
    hear(f"socks {command} {form} {host}:{port}")
    if host in REPLIES:
        connection.sendall(REPLIES[host])
        return
    address = {**names, "hidden.example": "203.0.114.10"}.get(host, host)
    with socket.create_connection((address, port)) as outside:
        back = b"\5\0\0\3\5bound\0\7"
        if port == 2222:  # what the host says first comes in the same packet
            back += outside.recv(100)
        for byte in back[:4]:  # in as many packets as can be
            connection.sendall(bytes([byte]))
        connection.sendall(back[4:])
        thread = threading.Thread(target=pour, args=(outside, connection), daemon=True)
        thread.start()
        pour(connection, outside)
        thread.join()
