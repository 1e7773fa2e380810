/*
 * environ.h - --keep-env and --clean-env: a command that sees no more of the environment than it needs.
 *
 * Only the command: sandbash itself looks at all of it, since variables name what has to be
 * protected (SSH_AUTH_SOCK, KUBECONFIG, ...).
 */
#ifndef SB_OPTIONS_ENVIRON_H
#define SB_OPTIONS_ENVIRON_H

#include <stdbool.h>

/* What a command needs to work, and nothing that could be a secret: names as below. */
#define SB_ENVIRON_USUAL                                                                           \
	"PATH,HOME,USER,LOGNAME,SHELL,LANG,LANGUAGE,LC_*,TZ,TERM,COLORTERM,NO_COLOR,"              \
	"XDG_RUNTIME_DIR,XDG_CONFIG_HOME,XDG_CACHE_HOME,XDG_DATA_HOME,XDG_STATE_HOME,EDITOR,"      \
	"PAGER,GOPATH,GOROOT,CARGO_HOME,RUSTUP_HOME,JAVA_HOME,NVM_DIR,PYENV_ROOT,VIRTUAL_ENV,"     \
	"CONDA_PREFIX,NODE_PATH,PKG_CONFIG_PATH,LD_LIBRARY_PATH,MAKEFLAGS,CC,CXX,CFLAGS,CXXFLAGS," \
	"LDFLAGS"

/*
 * Names of variables, separated by commas; a "*" at the end stands for the rest of a name.  What
 * sandbash itself tells the command belongs to them.
 */
struct sb_environ_names {
	bool usual;       /* --clean-env: those of SB_ENVIRON_USUAL, and */
	const char *more; /* --keep-env; or NULL */
	/* Hosts are reached by name or not at all: a proxy that variables name is not the command's to speak to. */
	bool no_proxy;
};

/* Remove every other variable; none of the three: none. */
void sb_environ_keep(const struct sb_environ_names *names);

/* Is this variable ("NAME=value") removed? */
bool sb_environ_removes(const struct sb_environ_names *names, const char *variable);

#endif
