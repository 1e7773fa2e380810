"""deep.py - directories whose names are longer than a path may be.

Programs get there step by step, and work there as they do without a sandbox.  What a program outside
would run or obey is not planted there either.
"""

import os

from compare import inside, native
from tap import contains, equal, run_all, test

BOTH = ("full", "flat")
PYTHON = "python3"

# Go down until a path would be too long, with names of the given length.
DOWN = """if 1:
    import os, shutil, subprocess, sys
    top = os.getcwd()
    def down(length=200, bound=4300 + len(top)):
        deep = len(top)
        while deep < bound:
            os.mkdir('d' * length); os.chdir('d' * length); deep += length + 1
    def attempt(what, function):
        try: print(what, function(), flush=True)
        except OSError as problem: print(what, problem.strerror, flush=True)
    def write(name, text='x', flags=0):
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | flags, 0o640); os.write(fd, text.encode()); os.close(fd)
    def read(name):
        with open(name) as file: return file.read()
"""

EVERYDAY = DOWN + """
    down(int(sys.argv[1]))
    attempt('getcwd', lambda: len(os.getcwd()) > 4096)
    attempt('write', lambda: write('a')); attempt('again', lambda: write('a', 'yy', os.O_TRUNC))
    attempt('new', lambda: write('new', 'n', os.O_EXCL)); attempt('new', lambda: write('new', 'n', os.O_EXCL))
    attempt('read', lambda: read('a'))
    attempt('mkdir', lambda: os.mkdir('sub')); attempt('mkdir', lambda: os.mkdir('sub'))
    attempt('link', lambda: os.link('a', 'sub/hard')); attempt('symlink', lambda: os.symlink('a', 'l'))
    attempt('through', lambda: write('l', 'z'))
    attempt('rename', lambda: os.rename('a', 'sub/b')); attempt('missing', lambda: os.unlink('a'))
    attempt('fifo', lambda: os.mkfifo('f')); attempt('up', lambda: os.rename('sub/b', top + '/up'))
    attempt('down', lambda: os.rename(top + '/up', 'down'))
    handle = os.open('.', os.O_RDONLY)
    attempt('at', lambda: os.mkdir('at', dir_fd=handle)); attempt('at', lambda: os.rmdir('at', dir_fd=handle))
    attempt('gone', lambda: (os.mkdir('gone'), os.chdir('gone'), os.rmdir('../gone')))
    attempt('in it', lambda: os.mkdir('x')); attempt('in it', lambda: write('x'))
    os.fchdir(handle)
    print(sorted((name, os.lstat(name).st_mode, os.lstat(name).st_nlink) for name in os.listdir()))
    os.chdir(top)
    attempt('rmtree', lambda: shutil.rmtree('d' * int(sys.argv[1])))
    down(int(sys.argv[1])); write('a'); write('b'); os.chdir(top)
    print(subprocess.run(['rm', '-rf', 'd' * int(sys.argv[1])]).returncode)
    print(os.listdir())
"""

# Where there are mounts the performer changes metadata itself; without them nobody can by such a name.
METADATA = DOWN + """
    down(); write('a')
    attempt('chmod', lambda: os.chmod('a', 0o600)); attempt('utime', lambda: os.utime('a', (1, 1)))
    attempt('mode', lambda: os.chmod('.', 0o700))
    print(oct(os.stat('a').st_mode), os.stat('a').st_mtime, oct(os.stat('.').st_mode))
    os.chdir(top); shutil.rmtree('d' * 200)
"""

# mv falls back to copying where a directory cannot be renamed.
MOVED = DOWN + """
    down(); os.mkdir('tree'); write('tree/a'); os.mkdir('tree/s'); here = os.open('.', os.O_RDONLY)
    print(subprocess.run(['mv', 'tree', 'other']).returncode, sorted(os.listdir('other')), os.listdir())
    print(subprocess.run(['mv', 'other', top + '/near']).returncode, os.listdir())
    os.chdir(top); print(sorted(os.listdir('near')))
    shutil.rmtree('near'); shutil.rmtree('d' * 200)
"""


def run(fx, *words):
    """The fixture's own rmtree() goes by path, and these are too long for one."""
    try:
        return fx.run(*words, timeout=120)
    finally:
        fx.run("sh", "-c", "rm -rf .vscode d* near")


def same(fx, script, *words):
    control = run(fx, *native(PYTHON, "-c", script, *words))
    result = run(fx, *inside(fx, PYTHON, "-c", script, *words))
    equal(control.status, 0, f"without a sandbox: {control.stderr}")
    # without mounts what holds something hidden is not listed, as libc does for a path that is too long for getcwd(2)
    said, wanted = ([line for line in text.splitlines() if fx.variant == "full" or not line.startswith("getcwd")]
                    for text in (result.stdout, control.stdout))
    equal(said, wanted, result.stderr)
    equal(result.status, 0, result.stderr)


@test("deep: files and directories, long names", variants=BOTH)
def long_names(fx):
    same(fx, EVERYDAY, "200")


@test("deep: files and directories, short names", variants=BOTH)
def short_names(fx):
    same(fx, EVERYDAY, "9")


@test("deep: metadata", variants=("full",))
def metadata(fx):
    same(fx, METADATA)


@test("deep: directories that are moved", variants=BOTH)
def moved(fx):
    same(fx, MOVED)


# What must not be planted: beneath the guarded name, above it, and by every kind of call.
PLANT = DOWN + """
    how = sys.argv[1]
    if how == 'tail':
        down(); hooks = '.git/hooks'
    elif how == 'beneath': # the guarded name is far above, where paths are short enough
        os.mkdir('.vscode'); os.chdir('.vscode'); down(); hooks = '.'
    else: # it stands where a cut path has its gap
        down(200, len(top) + 3200); os.mkdir('.husky'); os.chdir('.husky'); down(200, len(top) + 1600); hooks = '.'
    attempt('mkdir', lambda: os.makedirs(hooks, exist_ok=True))
    hook = hooks + '/pre-commit'
    write('plain') if how == 'tail' else None
    attempt('open', lambda: write(hook))
    attempt('link', lambda: os.link(top + '/script', hook))
    attempt('rename', lambda: os.rename(top + '/script', hook))
    attempt('symlink', lambda: os.symlink(top + '/script', hook))
    attempt('config', lambda: write(hooks + '/../config', '[core]\\\\n\\tpager = evil\\n') if how == 'tail' else None)
    print('PLANTED' if os.path.lexists(hook) else 'CLEAN', flush=True)
"""


@test("P3 deep: nothing that is run or obeyed is planted", variants=BOTH)
def planted(fx):
    for how in ("tail", "beneath", "gap"):
        for wrap, wanted in ((inside, "CLEAN"), (lambda fx, *words: native(*words), "PLANTED")):
            fx.write("script", "#!/bin/sh\n")
            result = run(fx, *wrap(fx, PYTHON, "-c", PLANT, how))
            contains(result.stdout, wanted, f"{how}: {result.stderr}")


@test("P3 deep: rules count for the whole name", variants=BOTH)
def rules(fx):
    below = "os.chdir('d' * 200); " * 16 + "os.chdir('closed'); " + "os.chdir('d' * 200); " * 8
    acts = DOWN + f"""
    {below}
    attempt('write', lambda: write('a')); attempt('mkdir', lambda: os.mkdir('b'))
"""
    for flags, wanted in ((["--allow-read=**/closed"], "Permission denied"), ([], "None")):
        fx.run(PYTHON, "-c", DOWN + """
    down(200, len(top) + 3200); os.mkdir('closed'); os.chdir('closed'); down(200, len(top) + 1600)
""")
        result = run(fx, *fx.argv("--consent=deny", "--quiet", *flags, PYTHON, "-c", acts))
        equal(result.stdout.splitlines(), [f"write {wanted}", f"mkdir {wanted}"], result.stderr)


run_all()
