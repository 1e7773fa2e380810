"""Z5: a caller bounds whom it calls in the kernel, too: what holds where no check of ours is made (grant_all.c)."""

import shutil

from tap import SUPERVISED, contains, equal, run_all, skip, test
from workers import INPUT, OUTPUT, declare, project, text


@test("Z5 with no check of a delegation a child has no more than its caller all the same: mounts hold")
def stacking(fx):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "lead", INPUT, OUTPUT)
    fx.write(fx.project / "in" / "wants.worker", text("{name: input, mode: rw}", "{name: output, mode: rw}", "{name: final, mode: rw}"))
    fx.write(fx.project / "deep/er/final/kept", "kept\n")
    fx.write(fx.home / "secret", "hush\n")
    (fx.project / "out").mkdir()
    script = (f"echo x > /input/x; echo x >> /input/data.txt; rm /input/data.txt; chmod 777 /input; "
              f"ln /input/data.txt /output/l; cat /final/kept {fx.home}/secret; mkdir /final; echo x > /usr/x; "
              f"echo fine > /output/fine; cat /output/fine")
    unchecked, checked = fx.tool("sandbash-ungranted"), fx.argv()[0]
    for outer in (checked, unchecked):
        for inner in (checked, unchecked):
            shutil.copy(inner, fx.project / "out" / "sb")
            result = fx.run(outer, "--worker=lead.worker", "--", "/output/sb", "--worker=/input/wants.worker", "--", "sh", "-c", script)
            if inner == checked:
                contains(result.stderr, "Child requests 'rw' but parent ", "control")
                continue
            equal(result.stdout, "fine\n", result.stderr)
            contains(result.stderr, "/input/x: Read-only file system")
            equal(sorted(path.name for path in (fx.project / "in").iterdir()), ["data.txt", "wants.worker"])
            equal(fx.read("in/data.txt"), "given\n")
            equal(sorted(path.name for path in (fx.project / "out").iterdir()), ["fine", "sb"])
            (fx.project / "out" / "fine").unlink()
            direct = fx.run(outer, "--worker=lead.worker", "--", "sh", "-c", "echo x > /input/x || echo refused")
            equal(direct.stdout, "refused\n", direct.stderr)


run_all()
