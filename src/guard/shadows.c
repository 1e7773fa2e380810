#include "guard/shadows.h"

#include <stdbool.h>
#include <string.h>

#include "base/words.h"

/*
 * Of Python's library what -m venv, pip, ensurepip, http.server, json.tool, zipfile, tarfile, timeit and pydoc import
 * (python -v, 3.11), but for what is imported before the current directory counts; and names of these tools.
 */
static const char python[] =
	"argparse array ast asyncio base64 binascii bisect bz2 calendar collections colorsys compileall concurrent "
	"configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal dis email ensurepip "
	"enum fcntl filecmp fnmatch fractions functools getopt getpass gettext glob grp gzip hashlib heapq hmac html "
	"http importlib inspect ipaddress json keyword linecache locale logging lzma math mimetypes mmap ntpath "
	"numbers opcode operator optparse pathlib pickle pip pkg_resources pkgutil platform plistlib pprint py_compile "
	"pydoc pyexpat queue quopri random re reprlib runpy select selectors setuptools shlex shutil signal "
	"socket socketserver ssl string stringprep struct subprocess sysconfig tarfile tempfile termios "
	"textwrap threading timeit token tokenize tomllib traceback types typing unicodedata urllib uuid "
	"venv warnings weakref webbrowser xml xmlrpc zipfile zlib";

/* What luacheck and luarocks look for, there or not. */
static const char lua[] = "argparse cjson lanes lfs ltn12 md5 mime posix socket ssl zip zlib";

/* Source, bytes of it, or machine code: "json.py", "json.pyc", "json.cpython-311-x86_64-linux-gnu.so". */
static bool is_of_python(const char *ending)
{
	size_t length = strlen(ending);

	return strcmp(ending, ".py") == 0 || strcmp(ending, ".pyc") == 0 ||
	       (length >= 3 && strcmp(ending + length - 3, ".so") == 0);
}

size_t sb_guard_shadows(const char *path, const char **out_who)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : 0;

	if (!slash || !length)
		return 0;
	if (strcmp(dot, ".lua") == 0 && sb_words_have(lua, name, length)) {
		*out_who = "luacheck and luarocks, started there, load it";
		return (size_t)(slash - path);
	}
	if (!is_of_python(dot))
		return 0;
	if (length == 8 && memcmp(name, "__init__", 8) == 0) { /* a package: the directory's name */
		dot = slash;
		while (slash > path && slash[-1] != '/')
			slash--;
		if (slash == path) /* in no directory */
			return 0;
		name = slash--;
		length = (size_t)(dot - name);
	}
	if (!sb_words_have(python, name, length))
		return 0;
	*out_who =
		"python3 -m, started there for pip, venv and the like, loads it in place of its own";
	return (size_t)(slash - path);
}
