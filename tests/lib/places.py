"""places.py - what a run of the tests leaves where it has no business.

    places = Places(project)              before the first program
    places.look(["cli/modes.py"])         after each: what is new came while these ran
    places.left()                         [Left(path, while_running, counts)] after the last

Somebody else may work on the machine: what is new in a directory that everybody writes to counts
only when its name says that it is ours, and no other run of the tests can have made it.  Where /tmp
is the run's own (lib/desktop.py, OWN), all that is new there counts.  What else is new in a directory
of our own is told.
"""

import os
import pwd
import time
from pathlib import Path
from typing import NamedTuple

OWN = "SANDBASH_TEST_OWN_TMP"  # a variable: nobody else writes to /tmp
SHARED = ("/var/tmp", "/dev/shm", *([] if OWN in os.environ else ["/tmp"]))
RUN = "sandbash-test-"  # in /var/tmp: the scratch directory of a run
PATIENCE = 30  # seconds for what another run has there for a moment


class Left(NamedTuple):
    path: str
    while_running: list
    counts: bool


class Places:
    def __init__(self, project, must=False):
        self.must = must
        home = pwd.getpwuid(os.getuid()).pw_dir
        tests = sorted(str(path) for path in (project / "tests").glob("**/") if path.is_dir())
        self.places = ["/", home, "/tmp", *SHARED, str(project), *tests]
        self.known = self._listing()
        self.new = {}

    def _listing(self):
        found = set()
        for place in self.places:
            try:
                found.update(os.path.join(place, name) for name in os.listdir(place))
            except OSError:
                pass  # no home directory, or a closed one
        return {path for path in found if not path.startswith(f"/var/tmp/{RUN}")}

    def look(self, names):
        for path in self._listing() - self.known - self.new.keys():
            self.new[path] = list(names)

    def _ours(self, path):
        place, name = os.path.split(path)
        if place not in SHARED:
            return self.must or place in ("/", "/tmp")
        return "sandbash" in name

    def left(self):
        """Once this run has removed its own: another's scratch directory may be a live run's."""
        self.look(["nobody any more"])
        deadline = time.monotonic() + PATIENCE
        while any(os.path.lexists(path) and self._ours(path) for path in self.new):
            if time.monotonic() > deadline:
                break
            time.sleep(0.2)
        alone = not any(path.name.startswith(RUN) for path in Path("/var/tmp").iterdir())
        return [Left(path, names, self._ours(path) and (alone or os.path.dirname(path) not in SHARED))
                for path, names in sorted(self.new.items()) if os.path.lexists(path)
                and (self._ours(path) or os.path.dirname(path) not in SHARED)]
