"""folding_fs - a file system in memory in which the case of names does not matter, for the tests.

    python3 folding_fs.py DIRECTORY       root; mounts it, says "ready", serves until it is unmounted

FUSE's own protocol (linux/fuse.h), since a kernel may have neither vfat nor casefold.  Names keep the case they
were made with, and the kernel is told to look each one up anew.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
import time

IN = struct.Struct("<IIQQIIIHH")
OUT = struct.Struct("<IiQ")
ATTR = struct.Struct("<6Q10I")
HEAD, NO_REPLY = 40, (2, 36, 42)  # forget, interrupt, batch_forget
EMPTY = (18, 20, 25, 29, 30, 38)  # release, fsync, flush, releasedir, fsyncdir, destroy


class Node:
    def __init__(self, number, mode, uid, gid):
        self.number, self.mode, self.uid, self.gid = number, mode, uid, gid
        self.entries, self.data, self.links = {}, bytearray(), 1  # entries: folded -> (name, node)
        self.times = [time.time_ns()] * 3


class Folding:
    def __init__(self, uid, gid):
        self.nodes = {1: Node(1, stat.S_IFDIR | 0o755, uid, gid)}

    def attr(self, node):
        seconds = [when // 10**9 for when in node.times]
        rest = [when % 10**9 for when in node.times]
        return ATTR.pack(node.number, len(node.data), (len(node.data) + 511) // 512, *seconds, *rest, node.mode, node.links,
                         node.uid, node.gid, 0, 4096, 0)

    def entry(self, node):
        return struct.pack("<QQQQII", node.number, 0, 0, 0, 0, 0) + self.attr(node)

    def find(self, parent, name):
        found = parent.entries.get(name.lower())
        if not found:
            raise OSError(errno.ENOENT, "")
        return found[1]

    def make(self, parent, name, mode, who):
        if name.lower() in parent.entries:
            raise OSError(errno.EEXIST, "")
        node = Node(max(self.nodes) + 1, mode, who[0], who[1])
        self.nodes[node.number] = node
        parent.entries[name.lower()] = (name, node)
        return node

    def remove(self, parent, name, directory):
        node = self.find(parent, name)
        if directory and node.entries:
            raise OSError(errno.ENOTEMPTY, "")
        del parent.entries[name.lower()]
        node.links -= 1
        return b""

    def rename(self, parent, body, flags):
        target = self.nodes[struct.unpack_from("<Q", body)[0]]
        old, new = body[16 if flags is not None else 8:].split(b"\0")[:2]
        node = self.find(parent, old)
        there = target.entries.get(new.lower())
        if flags and flags & ~1:
            raise OSError(errno.EINVAL, "")
        if there and there[1] is not node and (flags or there[1].entries):
            raise OSError(errno.EEXIST, "")
        del parent.entries[old.lower()]
        target.entries[new.lower()] = (new, node)
        return b""

    def set(self, node, body):
        valid, _, _, size, _, *times = struct.unpack_from("<IIQQQQQQ", body)
        mode, _, uid, gid = struct.unpack_from("<IIII", body, 68)
        if valid & 1:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        if valid & 2:
            node.uid = uid
        if valid & 4:
            node.gid = gid
        if valid & 8:
            node.data = node.data[:size].ljust(size, b"\0")
        for number in range(2):
            if valid & (0x10 << number):
                node.times[number] = times[number] * 10**9
        node.times[2] = time.time_ns()
        return struct.pack("<QII", 0, 0, 0) + self.attr(node)

    def list(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        out = b""
        for number, (name, child) in enumerate(list(node.entries.values()), 1):
            one = struct.pack("<QQII", child.number, number, len(name), child.mode >> 12) + name
            one = one.ljust((len(one) + 7) // 8 * 8, b"\0")
            if number > offset and len(out) + len(one) <= size:
                out += one
        return out

    def serve(self, code, number, body, who):
        node = self.nodes.get(number)
        name = body.split(b"\0")[0]
        opened = struct.pack("<QII", 0, 1, 0)  # direct: no page cache between two names
        if code == 26:
            return struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0, *[0] * 7)
        if code == 1:
            return self.entry(self.find(node, name))
        if code == 3:
            return struct.pack("<QII", 0, 0, 0) + self.attr(node)
        if code == 4:
            return self.set(node, body)
        if code == 5:
            return bytes(node.data)
        if code == 6:
            link = self.make(node, name, stat.S_IFLNK | 0o777, who)
            link.data = bytearray(body.split(b"\0")[1])
            return self.entry(link)
        if code in (8, 9):
            mode = struct.unpack_from("<I", body)[0] | (stat.S_IFDIR if code == 9 else 0)
            return self.entry(self.make(node, body[16 if code == 8 else 8:].rstrip(b"\0"), mode, who))
        if code in (10, 11):
            return self.remove(node, name, code == 11)
        if code in (12, 45):
            return self.rename(node, body, struct.unpack_from("<I", body, 8)[0] if code == 45 else None)
        if code in (14, 27):
            return opened if code == 14 else struct.pack("<QII", 0, 0, 0)
        if code == 15:
            _, offset, size = struct.unpack_from("<QQI", body)
            return bytes(node.data[offset:offset + size])
        if code == 16:
            _, offset, size = struct.unpack_from("<QQI", body)
            node.data = node.data.ljust(offset, b"\0")
            node.data[offset:offset + size] = body[40:40 + size]
            node.times[1:] = [time.time_ns()] * 2
            return struct.pack("<II", size, 0)
        if code == 17:
            return struct.pack("<5Q10I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, *[0] * 7)
        if code == 28:
            return self.list(node, body)
        if code == 35:
            mode = struct.unpack_from("<II", body)[1]
            return self.entry(self.make(node, body[16:].rstrip(b"\0"), mode, who)) + opened
        if code in EMPTY:
            return b""
        raise OSError(errno.ENOSYS, "")


def main():
    directory = sys.argv[1]
    info = os.stat(directory)
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
    if libc.mount(b"folding", os.fsencode(directory), b"fuse", 6, options.encode()) != 0:
        sys.exit(f"folding_fs: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    system = Folding(info.st_uid, info.st_gid)
    while True:
        try:
            message = os.read(device, 1 << 18)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            continue  # interrupted, or a request that was taken back
        _, code, unique, number, uid, gid, _, _, _ = IN.unpack_from(message)
        try:
            body, failed = system.serve(code, number, message[HEAD:], (uid, gid)), 0
        except OSError as error:
            body, failed = b"", -error.errno
        if code not in NO_REPLY:
            try:
                os.write(device, OUT.pack(OUT.size + len(body), failed, unique) + body)
            except OSError:
                pass  # whoever asked is gone


main()
