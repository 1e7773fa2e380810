"""own_config.py - where the configuration of a test's user is."""

import hashlib
import os

EXIT_OWN_FAILURE = 125


def own_file(fx, directory=None):
    """The per-directory config file of a directory (default: the project)."""
    name = hashlib.sha256(os.fsencode(directory or fx.project)).hexdigest()[:16]
    return fx.home / ".config/sandbash/projects" / name


def global_file(fx):
    return fx.home / ".config/sandbash/config"
