"""index.py - git indexes of any kind, also those that git would never write.

    index.make([index.entry("../x", blob)])

Nothing is checked or sorted; the hash at the end is a true one.
"""

import hashlib
import struct

FILE, PROGRAM, LINK, MODULE, DIRECTORY = 0o100644, 0o100755, 0o120000, 0o160000, 0o040000


def entry(name, blob="00" * 20, mode=FILE, stage=0, flags=0, more=0, length=None):
    """One entry: (fixed part, name, does it have the second flags)."""
    name = name.encode() if isinstance(name, str) else name
    length = min(len(name), 0xfff) if length is None else length
    bits = flags | stage << 12 | length | (0x4000 if more else 0)
    fixed = struct.pack(">24xI12x", mode) + bytes.fromhex(blob) + struct.pack(">H", bits)
    return fixed + (struct.pack(">H", more) if more else b""), name


def varint(number):
    out = bytes([number & 127])
    while number >> 7:
        number = (number >> 7) - 1
        out = bytes([128 | number & 127]) + out
    return out


def extension(name, data=b""):
    return name.encode() + struct.pack(">I", len(data)) + data


def make(entries, version=2, extensions=b"", count=None, sha256=False):
    parts = [b"DIRC" + struct.pack(">II", version, len(entries) if count is None else count)]
    before = b""
    for fixed, name in entries:
        if version == 4:
            parts.append(fixed + varint(len(before)) + name + b"\0")
            before = name
        else:
            one = fixed + name
            parts.append(one + bytes(8 - (len(one) % 8)))
    out = b"".join(parts) + extensions
    return out + (hashlib.sha256 if sha256 else hashlib.sha1)(out).digest()
