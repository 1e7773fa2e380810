"""sources.py - the source of a Debian package, for programs that bring tests of their own.

    tree = source("libuv1", Path("build-programs"))     raises Absent: it cannot be had here

It is the upstream archive, without Debian's patches, unpacked once.  apt gets lists of its own in that
directory, with "deb-src" for every "deb" of this machine's; the machine's lists stay as they are.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

ETC = Path("/etc/apt")


class Absent(Exception):
    """This source cannot be had here."""


def apt(place, *words, cwd=None):
    own = place / "apt"
    options = {"Dir::Etc::sourcelist": own / "sources.list", "Dir::Etc::sourceparts": own / "parts",
               "Dir::State::lists": own / "lists", "Dir::Cache": own / "cache", "APT::Sandbox::User": "root"}
    given = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    return subprocess.run(["apt-get", "-qq", *given, *words], cwd=cwd, check=False).returncode


def make_lists(place):
    own = place / "apt"
    if (own / "ready").exists():
        return
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (own / name).mkdir(parents=True, exist_ok=True)
    lines = (ETC / "sources.list").read_text() if (ETC / "sources.list").exists() else ""
    (own / "sources.list").write_text(re.sub(r"^deb\s", "deb-src ", lines, flags=re.M))
    for file in sorted((ETC / "sources.list.d").glob("*")):
        text = re.sub(r"^deb\s", "deb-src ", file.read_text(), flags=re.M)
        (own / "parts" / file.name).write_text(re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.M))
    if apt(place, "update") != 0:
        raise Absent("apt-get update failed")
    (own / "ready").touch()


def source(package, place):
    tree = place / package
    if tree.is_dir():
        return tree
    place.mkdir(exist_ok=True)
    make_lists(place)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        os.chmod(scratch, 0o755)
        if apt(place, "source", "--download-only", package, cwd=scratch) != 0:
            raise Absent(f"the archive has no source of {package}")
        archive = next(Path(scratch).glob("*.orig.tar.*"), None)
        if archive is None:
            raise Absent(f"{package} has no upstream archive")
        new = Path(scratch) / "tree"
        new.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", new, "--strip-components=1", "--no-same-owner"], check=True)
        os.rename(new, tree)
    return tree


def built(tree, name, *words):
    """tree/name, which a command makes there; once."""
    made = tree / name
    if not made.exists():
        log = tree / "sandbash-build.log"
        with open(log, "w", encoding="utf-8") as output:
            done = subprocess.run(words, cwd=tree, stdout=output, stderr=output, check=False)
        if done.returncode != 0 or not made.exists():
            raise Absent(f"{tree.name} cannot be built: {log}")
    return made
