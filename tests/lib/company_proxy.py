"""company_proxy.py - the proxy of a company, in the small internet of internet.py: port 3128.

It leads to hosts that a login is given for (me:p@ss), and knows hidden.example, which no name server does.  Other names
say how it misbehaves.
"""

import base64
import socket
import threading

LOGIN = "Basic " + base64.b64encode(b"me:p@ss").decode()
ANSWERS = {
    "refused.example": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
    "down.example": b"HTTP/1.1 502 Bad Gateway\r\n\r\n",
    "garbage.example": b"SSH-2.0-what\r\n\r\n",
    "moved.example": b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n",
    "endless.example": b"HTTP/1.1 200 OK\r\n" + b"X-Filler: abcdefgh\r\n" * 4096,
    "silent.example": b"",
    "half.example": b"HTTP/1.1 2",
}


def pour(source, target):
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(connection, hear, names):
    header = b""
    while b"\r\n\r\n" not in header:
        more = connection.recv(65536)
        if not more:
            return
        header += more
    first, *lines = header.decode().split("\r\n\r\n")[0].split("\r\n")
    method, place, _ = first.split()
    fields = dict(line.split(": ", 1) for line in lines)
    hear(f"proxy {method} {place}")
    if method != "CONNECT":
        connection.sendall(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
        return
    host, port = place.rsplit(":", 1)
    if fields.get("Proxy-Authorization") != LOGIN:
        connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
        return
    if port == "7":
        connection.sendall(ANSWERS["refused.example"])
        return
    if host in ANSWERS:
        connection.sendall(ANSWERS[host])
        return
    address = {**names, "hidden.example": "203.0.114.10"}.get(host, host)
    with socket.create_connection((address, int(port))) as outside:
        back = b"HTTP/1.1 200 Connection established\r\nVia: company\r\n\r\n"
        if port == "2222":  # what the host says first comes in the same packet
            back += outside.recv(100)
        connection.sendall(back)
        thread = threading.Thread(target=pour, args=(outside, connection), daemon=True)
        thread.start()
        pour(connection, outside)
        thread.join()
