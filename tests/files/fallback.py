"""fallback.py - file tools where the kernel or the filesystem offers less: the same tests hold.

openat2 is a short cut for what a walk name by name finds as well; a filesystem without flags
for rename gets a link and an unlink instead.
"""

import os
import subprocess

from tap import TOOLS, check, run_all, test

LESS = ("openat2", "rename-flags")
PROGRAMS = ("unit-files_paths", "unit-files_edit", "unit-files_gate", "unit-files_disk")
# turns links and directories over with the very flag that is missing
NEEDS_FLAGS = {"unit-files_disk"}


def repeat(what):
    @test(f"F2 file tools without {what}")
    def without(fx):
        for program in PROGRAMS:
            if what == "rename-flags" and program in NEEDS_FLAGS:
                continue
            done = subprocess.run([TOOLS / "without", what, "--", TOOLS / program],
                                  capture_output=True, text=True, timeout=120, check=False,
                                  env={**os.environ, "TMPDIR": str(fx.dir)})
            bad = [line for line in done.stdout.splitlines() if line.startswith("not ok")
                   and "# SKIP" not in line]
            check(done.returncode == 0 and not bad, f"{program}: {bad} {done.stderr}")
            check("\nok 1 " in "\n" + done.stdout, f"{program} ran no test")


for less in LESS:
    repeat(less)
run_all()
