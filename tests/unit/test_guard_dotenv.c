/* test_guard_dotenv.c - which lines of an .env file land unasked, and which are told. */
#include "landing.h"

static const char *const env_fine[] = {
	"A=1\n",
	"A=\n",
	"A=\"b c\"\n",
	"export A='(id) x;&'\n",
	"# (id)\n\nA=b # c\n",
	"URL=https://me:pw@h:1/x?y=z\n",
	"A=\"a*b[c]{d}~\"\n",
	"PYTHONPATH=src\n",
	"PYTHONPATH=\"src:./lib\"\nNODE_PATH=./a..b\n",
	"PYTHONUNBUFFERED=1\nPYTHONDONTWRITEBYTECODE=1\n",
	"RUST_LOG=info\nRUST_BACKTRACE=1\nGEMINI_API_KEY=x\nGIT_SHA=x\nSSH_HOST=h\n",
	"DOTNET_ENVIRONMENT=Development\nDOCKER_IMAGE=x\nRPS_LIMIT=1\nPROMPT_VERSION=2\n",
	"BROWSER=none\nBROWSER=none # no window\n",
	"PYTHONPATH=\"src:lib/x\"  # of ours\n",
	"NODE_PATH=./src\n",
	"DATABASE_URL=postgres://h/x\n",
	"DJANGO_SETTINGS_MODULE=a.b\n",
	"RAILS_ENV=test\n",
	"LESSON=1\n",
	"TASK_QUEUE=x\nTF_VAR_region=x\nGST_DEBUG=2\nLDAP_URL=ldap://h\nMONO_LOG=1\nGO_ENV=test\n",
	"PLAYWRIGHT_WORKERS=2\nHADOOP_CLASSPATH=lib\nSKIP_MIGRATIONS=1\nVAULT_NAMESPACE=x\n",
	"# Redis [optional], see https://h/?x=y: isn't it?\n#PORT=1\n\n",
	"URL='http://u:p@h:80/x?y=z&w=(1)'\nJSON='{\"a\": [1, \"b\"]}'\nN=\"it's, J\303\266rg\"\n",
	"KEY=base64:dGVzdA==\nHOSTS=*\nA=x?y\nexport B='*'\nUID=1000\nLINES=24 # of them\n",
	"GID_PREFIX=x\nSANDBOXED=1\nUID_LENGTH=8\n",
	"\texport  A=b\n",
};

static const char *const env_asked[] = {
	/* each beside one that it belongs to */
	"GOPACKAGESDRIVER=./x\n",
	"IRBRC=./x\n",
	"PRYRC=./x\n",
	"CLJ_CONFIG=./x\n",
	"SAGE_STARTUP_FILE=./x\n",
	"shell_escape=t\n",
	"openout_any=a\n",
	"TASKRC=./x\n",
	"GTK3_MODULES=./x\n",
	"__EGL_VENDOR_LIBRARY_FILENAMES=./x\n",
	"GST_REGISTRY=./x\n",
	"LV2_PATH=./x\n",
	"PULSE_CLIENTCONFIG=./x\n",
	"QTWEBENGINEPROCESS_PATH=./x\n",
	"CHROMIUM_FLAGS=--x\n",
	"MSBuildSDKsPath=./x\n",
	"TF_DATA_DIR=./x\n",
	"PLENV_ROOT=./x\n",
	"CVSROOT=:ext:h:/x\n",
	"LDAPRC=./x\n",
	"A='$(id)'\n",
	"RANDOM='a[$(id)]'\n",
	"RANDOM='a[${x@P}]'\n", /* x='\\044(id)' */
	"RANDOM=ENV=5\n",
	"SECONDS=1+x\n",
	"PASSWORD='a$b$$c'\n",
	"C=${A}/x\n",
	"A=\"x\\ny\"\n",
	"A='a''b'\n",
	"A= \nB=c\n",
	"A= # x\n",
	"export A=\n",
	"export A=*\n",
	"A==ls\n",
	"A=x:=ls\n",
	"A=~/x\n",
	"A={a,b}\n",
	"A=\303\266\n",
	"A='\342\200\250B'\n",
	"A='\302\205B'\n",
	"A='\303'\n",
	"A='\tb'\n",
	"A='b PATH=bin'\n",
	"A='b PATH+=:bin'\n",
	"A=\"hello LD_PRELOAD+=/x/m.so\"\n",
	"A='b *'\n",
	"# `id`\n",
	"# $x\n",
	"# x\\\n",
	"# PATH=bin\n",
	"# PATH+=bin\n",
	"# P\"AT\"H=bin\n",
	"# PATH?bin\n",
	"# [P]ATH=bin\n",
	"A=b # *\n",
	"A=b # $(id)\n",
	" \nA=b\n",
	"D='$'\nX=\"${D}(id)\"\n",
	"D='x$'\n",
	"D='$'\"(id)\"\n",
	"D=$\n",
	"MAILPATH='x?y'\n",
	"PROMPT_EOL_MARK=x\n",
	"ALTERNATE_EDITOR=x\n",
	"WGET_ASKPASS=x\n",
	"LESSHISTFILE=x\n",
	"CAML_LD_LIBRARY_PATH=x\n",
	"QWEN_CODE_SYSTEM_SETTINGS_PATH=x\n",
	"SANDBOX_FLAGS=x\n",
	"SOPS_AGE_KEY_CMD=x\n",
	"A='`id`'\n",
	"chpwd_functions=x\n",
	"A=$(id)\n",
	"A=`id`\n",
	"A=b id\n",
	"id\n",
	"A=b;id\n",
	"A=b|id\n",
	"A=b&id\n",
	"A=\"$(id)\"\n",
	"A=${B:-$(id)}\n",
	"A=$((B[$(id)]))\n",
	"A=b\\\n",
	"A=<(id)\n",
	"A='b\nid\n'\n",
	"A=\"b\n",
	"A[$(id)]=b\n",
	"A+=b\n",
	". ./x\n",
	"export -f A\n",
	"LD_PRELOAD=x.so\n",
	"PLAYWRIGHT_BROWSERS_PATH=x\n",
	"GEM_PATH=x\n",
	"MATPLOTLIBRC=x\n",
	"HUSKY=0\n",
	"SKIP=x\n",
	"WERKZEUG_DEBUG_PIN=off\n",
	"PATH=bin\n",
	"TCL_LIBRARY=tcl\n",
	"SYSTEM_WGETRC=wg\n",
	"GROFF_COMMAND_PREFIX=d/g\n",
	"MANROFFOPT=-U\n",
	"ZIPOPT=-T\n",
	"PERF_EXEC_PATH=d\n",
	"NINJA=bin/ninja\n",
	"export BASH_ENV=x\n",
	"NODE_OPTIONS=-r./x\n",
	"GIT_SSH_COMMAND=x\n",
	"CODEX_HOME=.x\n",
	"RUSTC_WRAPPER=./x\n",
	"RUST_LOGx=$(id)\n",
	"BROWSER=nonesuch\n",
	"BROWSER=none x\n",
	"PROMPT_COMMAND=x\n",
	"DOCKER_HOST=tcp://h\n",
	"LESS=+!id\n",
	"PYTHONPYCACHEPREFIX=.x\n",
	"PYTHONUSERBASE=.x\n",
	"GOCACHEPROG=./x\n",
	"PRE_COMMIT_HOME=.x\n",
	"PKG_CONFIG=./x\n",
	"BORG_PASSCOMMAND=x\n",
	"RESTIC_PASSWORD_COMMAND=x\n",
	"RCLONE_PASSWORD_COMMAND=x\n",
	"GH_EDITOR=x\n",
	"SVN_EDITOR=x\n",
	"FCEDIT=x\n",
	"DELTA_PAGER=x\n",
	"RIPGREP_CONFIG_PATH=x\n",
	"BAT_CONFIG_PATH=x\n",
	"SCREENRC=x\n",
	"WGETRC=x\n",
	"TIGRC_USER=x\n",
	"ANSIBLE_CONFIG=x\n",
	"VAGRANT_VAGRANTFILE=x\n",
	"CMAKE_C_COMPILER_LAUNCHER=x\n",
	"PYTEST_ADDOPTS=-px\n",
	"PYTEST_PLUGINS=x\n",
	"TF_CLI_CONFIG_FILE=x\n",
	"ASAN_SYMBOLIZER_PATH=x\n",
	"LESS=+!x\n",
	"JULIA_LOAD_PATH=x\n",
	"JULIA_EDITOR=x\n",
	"VK_ADD_LAYER_PATH=x\n",
	"LIBVA_DRIVERS_PATH=x\n",
	"SOPS_EDITOR=x\n",
	"K9S_EDITOR=x\n",
	"GLAB_PAGER=x\n",
	"ANT_OPTS=x\n",
	"CONFIG_SITE=x\n",
	"M4=x\n",
	"AUTOCONF=x\n",
	"TEXMFCNF=x\n",
	"PULUMI_HOME=x\n",
	"KREW_ROOT=x\n",
	"OSH=x\n",
	"VSCODE_GIT_ASKPASS_MAIN=x\n",
	"ld_library_path=x\n",
	"A =b\n",
	"1A=b\n",
	"A=b\r\n",
	"URL=http://h/x?y=z&w\n",
};

static const char *const env_staying[] = {
	"C=${A}/$B:${D:-x}\nDATA=~/x\n",
	"PATH=./bin:$PATH\n",
	"A='$x`'\n",
	"A=\"x\\ny\"\nB=\"${C}\"\n",
	"NAME=My App\n",
	"U=http://h/?a=b&c=d\n",
	"# `id` $x\n",
	"P=a#b!c^d[e]{f}\n",
	"A=\"$(op read x)\"\n",
	"EDITOR=vim\n",
	"A=b # $(id)\nB=\303\266\n",
	"A= # x\n",
};

static const char *const env_meaning[] = {
	"A='x\n",
	"A=\"\n",
	"A=$(cat $X)\n",
	"eval $A\n",
	"if x; then\n",
	"PATH=$X:$PATH\n",
	"export A=$B\n",
	"A=x;if\n",
	"A=x&if\n",
	"A=x\\\n",
	"A='$'\nB=\"${A}${C}\"\n",
	"A=\"x\\\\\"\n",
	"A=\"\\$(${B})\"\n",
	"# x\\\n",
	"A=`x $B`\n",
	"A=x 'y\n",
	"A=x if\n",
	"A=x {\n",
	"A=X Y=z while\n",
};

static const char *const env_leading[] = {
	"HADOOP_CLASSPATH=/opt/x\n",
	"ANTHROPIC_CUSTOM_HEADERS=x\n",
	"LANGCHAIN_ENDPOINT=https://x\n",
	"VAULT_ADDR=https://x\n",
	"PYTHONPATH=/opt/x\n",
	"PYTHONPATH=\"/opt/x\"\n",
	"PYTHONPATH='src:~/x'\n",
	"PYTHONPATH=a/../../x\n",
	"PYTHONPATH='src:/opt/x'\n",
	"NODE_PATH=..\n",
	"SSL_CERT_FILE=certs/x.pem\n",
	"SSLKEYLOGFILE=x\n",
};

static void an_env_file_of_assignments(void **state)
{
	/* what may stay beside a plain line, but not come */
	/* what other lines may give another env_meaning, or it to them */
	struct guarded *fx = *state;

	expect(fx, SB_GUARD_DOTENV, ".env", env_fine, COUNT(env_fine), SB_GUARD_PLAIN);
	for (size_t i = 0; i < COUNT(env_fine); i++) {
		content(fx, SB_GUARD_DOTENV, ".env", "", env_fine[i]);
		assert_string_equal(why, ""); /* nor told */
	}
	expect(fx, SB_GUARD_DOTENV, ".env", env_asked, COUNT(env_asked), SB_GUARD_ASK);
	/* what was there is not held against a change, unless it says what other lines mean */
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", "A=$(op)\n", "A=$(op)\nB=1\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(
		content(fx, SB_GUARD_DOTENV, ".env", "A=\"x\ny\"\n", "A=\"x\nB='$(id)'\ny\"\n"),
		SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", "A='x\n$(id)\n'\n", "$(id)\n"),
			 SB_GUARD_ASK);
	for (size_t i = 0; i < COUNT(env_staying); i++) {
		char both[256];

		snprintf(both, sizeof both, "B=1\n%s# x\n", env_staying[i]);
		if (content(fx, SB_GUARD_DOTENV, ".env", env_staying[i], both) != SB_GUARD_PLAIN)
			fail_msg("env_asked again: %s", env_staying[i]);
		assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", "B=1\n", both), SB_GUARD_ASK);
	}
	for (size_t i = 0; i < COUNT(env_meaning); i++) {
		char both[256];

		snprintf(both, sizeof both, "%sB=1\n", env_meaning[i]);
		if (content(fx, SB_GUARD_DOTENV, ".env", env_meaning[i], both) != SB_GUARD_ASK)
			fail_msg("not env_asked: %s", env_meaning[i]);
	}
	/* lands, and is told */
	assert_int_equal(
		sb_guard_content(fx->guard,
				 &(struct sb_guard_landing){
					 SB_GUARD_DOTENV, "/p/.env", (struct sb_guard_bytes){0},
					 (struct sb_guard_bytes){"https_proxy=http://h\n", 21}},
				 why, sizeof why),
		SB_GUARD_PLAIN);
	assert_string_equal(why, "'/p/.env' now says https_proxy=http://h");
	for (size_t i = 0; i < COUNT(env_leading); i++) {
		assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", "", env_leading[i]),
				 SB_GUARD_PLAIN);
		if (!strstr(why, "now says"))
			fail_msg("not told: %s", env_leading[i]);
	}
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(an_env_file_of_assignments),
};

UNIT_MAIN("guard dotenv")
