"""P2: a journal of SQLite that makes who opens the database outside delete another file is told; daily work is not."""

import shutil
import sqlite3

from attack import works
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
TOLD = "SQLite deletes"

# Makes the database $2 and a journal with the name $3 that has the super-journal $1.
PLANT = """
import os, sqlite3, struct, sys
victim, db, journal = sys.argv[1].encode(), sys.argv[2], sys.argv[3]
connection = sqlite3.connect(db); connection.execute('create table if not exists t(a)'); connection.commit(); connection.close()
size = struct.unpack('>H', open(db, 'rb').read(18)[16:18])[0]
magic = bytes.fromhex('d9d505f920a163d7')
head = (magic + struct.pack('>IIIII', 0, 1, os.path.getsize(db) // size, 512, size)).ljust(512, bytes(1))
end = struct.pack('>I', 0x40000000 // size + 1) + victim + struct.pack('>II', len(victim), sum(victim)) + magic
open(journal, 'wb').write(head + end)
"""
WAYS = {
    "made": 'python3 -c "$0" "$1" app.db app.db-journal',
    "renamed": 'python3 -c "$0" "$1" app.db x; mv x app.db-journal',
    "linked": 'python3 -c "$0" "$1" app.db x; ln x app.db-journal; rm x',
    "its directory renamed": 'mkdir d; python3 -c "$0" "$1" d/app.db d/app.db-journal; mv d e; mv e/* .; rmdir e',
    "written later": ': >app.db-journal; python3 -c "$0" "$1" app.db x; exec 3<>app.db-journal; cat x >&3; rm x',
}


def fresh(fx):
    shutil.rmtree(fx.project)
    fx.project.mkdir()
    victim = fx.project.parent / "victim"
    victim.write_text("precious\n")
    return victim


@test("P2 a journal that is left behind and deletes a file outside is told, however it was made", variants=BOTH)
def told(fx):
    for label, way in WAYS.items():
        victim = fresh(fx)
        works(fx.run("sh", "-c", way, PLANT, victim, cwd=fx.project), f"control, {label}")
        sqlite3.connect(fx.path("app.db")).execute("select * from sqlite_master").fetchall()
        check(not victim.exists(), f"control, {label}")
        victim = fresh(fx)
        result = fx.sandbash("--consent=deny", "sh", "-c", way, PLANT, victim)
        equal(result.status, 0, result.stderr)
        contains(result.stderr, "app.db-journal'", label)
        contains(result.stderr, f"{TOLD} '{victim}'", label)


DAILY = """
import os, sqlite3
for mode in ('delete', 'truncate', 'persist', 'wal', 'memory'):
    for name in ('a', 'b'):
        c = sqlite3.connect(f'{mode}-{name}.db'); c.execute(f'pragma journal_mode={mode}'); c.execute('create table t(a)')
        for i in range(20): c.execute('insert into t values (?)', (i,)); c.commit()
        c.close()
c = sqlite3.connect('delete-a.db'); c.execute("attach 'delete-b.db' as b"); c.execute("insert into t values (1)"); c.execute("insert into b.t values (1)"); c.commit()
c.execute('pragma cache_size=1'); c.executemany('insert into t values (?)', [('x' * 900,)] * 300)
os.system('ls; cp delete-a.db-journal copy.db-journal')
os._exit(0)
"""


@test("P2 databases that are used, and a journal of a program that was killed, are not told", variants=BOTH)
def daily(fx):
    result = fx.sandbash("--consent=deny", "python3", "-c", DAILY)
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "delete-a.db-journal")
    lacks(result.stderr, TOLD)
    lacks(result.stderr, "journal")


@test("P2 so many journals that nobody could look at all of them are told", variants=("full",))
def many(fx):
    result = fx.sandbash("--consent=deny", "sh", "-c", "for i in $(seq 300); do echo x >$i-journal; rm $i-journal; done")
    lacks(result.stderr, "journal")
    result = fx.sandbash("--consent=deny", "sh", "-c", "for i in $(seq 300); do echo x >$i-journal; done")
    contains(result.stderr, "too many journals of SQLite")


run_all()
