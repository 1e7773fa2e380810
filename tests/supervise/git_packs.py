"""git_packs.py - the list of packs: git's own lands, one that names packs of other repositories does not."""

import os

from git_compare import ENV, START, compare
from tap import check, equal, run_all, test

BOTH = ("full", "flat")

# writes to FILE a list of all packs of the repository, and of the further names given
LIST = r"""
import glob, hashlib, os, struct, subprocess, sys
file, names = sys.argv[1], sys.argv[2:]
own = os.path.basename(glob.glob('.git/objects/pack/*.idx')[0])
index = open('.git/objects/pack/' + own, 'rb').read()
count = struct.unpack('>I', index[8 + 255 * 4:8 + 256 * 4])[0]
fan, names = index[8:8 + 1024], sorted(names + [own])
at = 8 + 1024 + 24 * count
places = b''.join(struct.pack('>I', names.index(own)) + index[at + 4 * i:at + 4 * i + 4] for i in range(count))
text = b''.join(name.encode() + b'\0' for name in names)
chunks = [(b'PNAM', text + b'\0' * (-len(text) % 4)), (b'OIDF', fan), (b'OIDL', index[1032:1032 + 20 * count]), (b'OOFF', places)]
out = b'MIDX' + bytes([1, 1, len(chunks), 0]) + struct.pack('>I', len(names))
begin, table = len(out) + 12 * (len(chunks) + 1), b''
for name, bytes_ in chunks + [(b'\0\0\0\0', b'')]:
    table, begin = table + name + struct.pack('>Q', begin), begin + len(bytes_)
out += table + b''.join(bytes_ for _, bytes_ in chunks)
os.makedirs(os.path.dirname(file), exist_ok=True)
open(file, 'wb').write(out + hashlib.sha1(out).digest())
"""
PLACE = ".git/objects/pack/multi-pack-index"


@test("git's own lists of packs land: written, repacked, expired, with bitmaps", variants=BOTH)
def own(fx):
    compare(fx, START + """
commit a 1; git repack -q -d; commit b 2; git repack -q -d; git multi-pack-index write 2>/dev/null
git multi-pack-index verify >/dev/null 2>&1; commit c 3; git repack -q -d --write-midx; git multi-pack-index repack 2>/dev/null; git multi-pack-index expire 2>/dev/null
git repack -q -a -d --write-midx --write-bitmap-index; git maintenance run --quiet --task=incremental-repack; git gc -q
git clone -q . d; git -C d multi-pack-index write 2>/dev/null; mv d/.git/objects/pack d/p; mv d/p d/.git/objects/pack; mv d/.git kept.git; mv kept.git d/.git; git -C d log -1 >/dev/null
""")


def packed(fx):
    """The project and another repository, each with one pack; the other's, as a name for the list."""
    fx.git_project()
    for place in (fx.project, fx.dir / "other"):
        equal(fx.run("bash", "-c", f"mkdir -p {place}; cd {place}; git init -q; echo {place} >f; git add f; "
                     "git -c user.name=a -c user.email=a@b commit -q -m f; git repack -q -a -d").status, 0)
    pack = next((fx.dir / "other/.git/objects/pack").glob("*.idx"))
    return os.path.relpath(pack, (fx.project / PLACE).parent)


def is_whole(fx):
    return fx.run("git", "-C", str(fx.dir / "other"), "fsck", "--connectivity-only").status == 0


def inside(fx, script, *args):
    return fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script, "sh", *args, env=ENV)


@test("a list that names packs of another repository does not land", variants=BOTH)
def others(fx):
    away = packed(fx)
    expire = ("git", "multi-pack-index", "expire")
    # the control: git removes what the list names
    fx.run("cp", "-a", str(fx.dir / "other"), str(fx.dir / "kept"))
    equal(fx.run("python3", "-c", LIST, PLACE, away).status, 0)
    fx.run(*expire)
    check(not is_whole(fx), "the control")
    fx.run("bash", "-c", f"rm -rf {fx.dir}/other {PLACE}; mv {fx.dir}/kept {fx.dir}/other")
    make = f"python3 -c \"$1\" {PLACE} \"$2\""
    for way in (make, f"python3 -c \"$1\" x \"$2\"; mv x {PLACE}", f"python3 -c \"$1\" x \"$2\"; ln x {PLACE}",
                f"python3 -c \"$1\" x \"$2\"; cat x >{PLACE}.lock; mv {PLACE}.lock {PLACE}",
                f"python3 -c \"$1\" x \"$2\"; ln -s ../../../x {PLACE}",
                "python3 -c \"$1\" .git/p/multi-pack-index \"$2\"; cp .git/objects/pack/* .git/p; rm -rf .git/objects/pack; mv .git/p .git/objects/pack",
                "python3 -c \"$1\" new/pack/multi-pack-index \"$2\"; cp -a .git/objects/* new; mv .git/objects old; mv new .git/objects"):
        fx.run("cp", "-a", ".git", str(fx.dir / "before"))
        inside(fx, f"mkdir -p d; {way}", LIST, away)
        fx.run(*expire)
        check(is_whole(fx), way)
        fx.run("bash", "-c", f"rm -rf .git new old x d; mv {fx.dir}/before .git")
    # the neighbour: the same list without that name
    result = inside(fx, make.replace('"$2"', ""), LIST)
    equal(result.status, 0, result.stderr)
    check((fx.project / PLACE).stat().st_size > 0, "its own packs")


run_all()
