"""compare.py - the two sides of a comparison: without a sandbox, and inside.

A sandboxed root has no capabilities, so the native side of a comparison must not have them
either: closed directories are closed to both.

With SANDBASH_TEST_NATIVE=1 the inside is not inside: native is compared with native, which
finds what is not constant in the tests themselves.
"""

import os

from tap import FLAGS

IS_STATIC = "--static" in FLAGS
IS_NATIVE = os.environ.get("SANDBASH_TEST_NATIVE") == "1"
UNPRIVILEGED = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--securebits=+noroot", "--"]


def native(*words):
    """The command line without a sandbox."""
    words = [os.fspath(word) for word in words]
    return UNPRIVILEGED + words if os.geteuid() == 0 else words


def inside(fx, *words):
    """The command line under sandbash."""
    return native(*words) if IS_NATIVE else fx.argv(*words)
