/*
 * differ.c - random sequences of file operations, every result told.
 *
 *     differ [--seed N] [--first N] [--sequences N] [--ops N] [--no-openat2] [--outside]
 *            [--loose-flags] [--guard] DIR
 *
 * Prints one line per operation, and after each sequence a listing of the tree.  The same
 * arguments print the same bytes wherever file semantics are the same; differ.py runs it
 * without and with a sandbox and compares.  DIR must be empty; one sequence is repeated
 * with --first N --sequences 1.  --guard (root): everything but DIR is mounted read-only
 * first, so that a mistake in here cannot hurt the machine.  --loose-flags leaves out what
 * F_GETFL says about O_NOFOLLOW and O_DIRECTORY, which mean nothing once a file is open.
 *
 * A sequence runs in a process of its own: descriptors, limits, umask and current directory
 * start afresh.  Most operations are made by that process; some by a thread, by a forked
 * child, or by one that shares memory, directory or descriptors with it.
 */
#include "differ.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEQUENCE_SECONDS 20 /* a held call that is never answered must not hang the test */
#define STACK_SIZE (256 * 1024)

struct world world;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "differ: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* --- chance, telling, calling --------------------------------------------------------- */

void seed(uint64_t value)
{
	world.state = value;
}

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned chance(unsigned below)
{
	return (unsigned)(splitmix(&world.state) % (below ? below : 1));
}

bool one_in(unsigned times)
{
	return chance(times) == 0;
}

/* A call is one line, whatever the names in it: who compares looks at lines. */
static void keep_in_line(char *text, bool ends)
{
	for (char *at = strchr(text, '\n'); at && (at[1] || !ends); at = strchr(at, '\n'))
		*at = '\v';
}

void tell(const char *format, ...)
{
	struct shared *shared = world.shared;
	size_t left = OUTPUT_MAX - shared->used;
	size_t size = strlen(format);
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(shared->output + shared->used, left, format, args);
	va_end(args);
	keep_in_line(shared->output + shared->used, size && format[size - 1] == '\n');
	if (length > 0)
		shared->used += (size_t)length < left ? (size_t)length : left - 1;
}

const char *error_name(long error)
{
	const char *name = strerrorname_np((int)error);

	return name ? name : "?";
}

void tell_result(long result)
{
	if (result < 0)
		tell(" = %s\n", error_name(-result));
	else
		tell(" = %ld\n", result);
}

long call(long number, ...)
{
	long result, a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return result < 0 ? -errno : result;
}

uint64_t hash_bytes(const void *data, size_t length)
{
	const unsigned char *byte = data;
	uint64_t hash = 0xcbf29ce484222325u;

	while (length--)
		hash = (hash ^ *byte++) * 0x100000001b3u;
	return hash;
}

/* --- who performs an operation -------------------------------------------------------- */

static const struct operation *pick_operation(void)
{
	static const struct {
		const struct operation *list;
		const size_t *count;
	} rooms[] = {{name_operations, &name_operation_count},
		     {meta_operations, &meta_operation_count},
		     {fd_operations, &fd_operation_count}};
	unsigned total = 0, at;

	for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++)
		for (size_t i = 0; i < *rooms[r].count; i++)
			total += rooms[r].list[i].weight;
	at = chance(total);
	for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++)
		for (size_t i = 0; i < *rooms[r].count; i++) {
			if (at < rooms[r].list[i].weight)
				return &rooms[r].list[i];
			at -= rooms[r].list[i].weight;
		}
	return &name_operations[0];
}

static void *as_thread(void *operation)
{
	((const struct operation *)operation)->perform();
	return NULL;
}

/* A thread with a directory, a umask and descriptors of its own. */
static void *as_loner(void *operation)
{
	if (unshare(CLONE_FS | CLONE_FILES) != 0)
		tell("(unshare = %s) ", error_name(errno));
	return as_thread(operation);
}

static int as_child(void *operation)
{
	((const struct operation *)operation)->perform();
	_exit(0);
}

static void with_thread(void *(*start)(void *), const struct operation *operation)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, start, (void *)operation);

	if (error)
		tell("(no thread: %s)\n", error_name(error));
	else
		pthread_join(thread, NULL);
}

static void with_clone(int flags, const struct operation *operation)
{
	static _Alignas(16) char stack[STACK_SIZE];
	int status, pid = clone(as_child, stack + sizeof stack, flags | SIGCHLD, (void *)operation);

	if (pid < 0) {
		tell("(no child: %s)\n", error_name(errno));
		return;
	}
	if (waitpid(pid, &status, __WALL) != pid || status != 0)
		tell("(child ended with %#x)\n", (unsigned)status);
}

static void perform(const struct operation *operation)
{
	unsigned who = chance(100);

	/* A child with its own memory tells into the shared buffer, so the order is kept. */
	if (who < 78) {
		operation->perform();
	} else if (who < 84) {
		tell("thread: ");
		with_thread(as_thread, operation);
	} else if (who < 87) {
		tell("loner: ");
		with_thread(as_loner, operation);
	} else if (who < 91) {
		tell("fork: ");
		with_clone(0, operation);
	} else if (who < 94) {
		tell("vfork: ");
		with_clone(CLONE_VM | CLONE_VFORK, operation);
	} else if (who < 96) {
		tell("vfork+fs: ");
		with_clone(CLONE_VM | CLONE_VFORK | CLONE_FS, operation);
	} else if (who < 98) {
		tell("fork+fs: ");
		with_clone(CLONE_FS, operation);
	} else {
		tell("fork+files: ");
		with_clone(CLONE_FILES, operation);
	}
}

/* --- a sequence ----------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t state = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu ^ c;

	return splitmix(&state);
}

/* Descriptors 0, 1 and 2 are files of the tree, so that nothing of ours can be hit. */
static void settle_descriptors(void)
{
	syscall(SYS_close_range, 0u, ~0u, 0u);
	call(SYS_openat, AT_FDCWD, "f", O_RDONLY);
	call(SYS_openat, AT_FDCWD, "out", O_RDWR | O_CREAT | O_APPEND, 0640);
	call(SYS_openat, AT_FDCWD, "d", O_PATH | O_DIRECTORY);
}

static _Noreturn void run_sequence(uint64_t base, uint64_t number, unsigned operations)
{
	alarm(SEQUENCE_SECONDS);
	if (chdir(world.tree) != 0) {
		tell("(no tree: %s)\n", error_name(errno));
		_exit(1);
	}
	umask(022);
	seed(mix(base, number, 0));
	build_tree();
	settle_descriptors();
	for (unsigned i = 1; i <= operations; i++) {
		seed(mix(base, number, i));
		tell("%u.%u ", (unsigned)number, i);
		perform(pick_operation());
		settle_directory();
	}
	_exit(0);
}

static void write_all(const char *data, size_t length)
{
	while (length) {
		ssize_t done = write(STDOUT_FILENO, data, length);

		if (done < 0 && errno != EINTR)
			die("cannot write");
		if (done > 0) {
			data += done;
			length -= (size_t)done;
		}
	}
}

static void one_sequence(uint64_t base, uint64_t number, unsigned operations)
{
	int status = 0;
	pid_t pid;

	world.shared->used = 0;
	tell("sequence %u\n", (unsigned)number);
	pid = fork();
	if (pid == 0)
		run_sequence(base, number, operations);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot run a sequence");
	if (status != 0)
		tell("sequence ended with %#x\n", (unsigned)status);
	list_tree();
	clear_tree();
	write_all(world.shared->output, world.shared->used);
}

/* --- setting up ----------------------------------------------------------------------- */

/* What a sandboxed root lacks, a compared one must lack too: it owns its files like a user. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	if (syscall(SYS_capset, &header, none) != 0)
		die("cannot drop capabilities");
	/* changing capabilities makes a process unreadable to others, a supervisor included */
	if (prctl(PR_SET_DUMPABLE, 1) != 0)
		die("cannot become dumpable");
}

static void guard(const char *directory)
{
	struct mount_attr readonly = {.attr_set = MOUNT_ATTR_RDONLY};
	struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};
	int tree;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		die("cannot make a mount namespace");
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, directory, OPEN_TREE_CLONE | AT_RECURSIVE);
	if (tree < 0 ||
	    syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &readonly, sizeof readonly) !=
		    0 ||
	    syscall(SYS_move_mount, tree, "", AT_FDCWD, directory, MOVE_MOUNT_F_EMPTY_PATH) != 0 ||
	    /* or its links would answer EROFS */
	    syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &writable, sizeof writable) != 0)
		die("cannot make the machine read-only");
	close(tree);
}

static void open_world(const char *directory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char here[LONGEST_PATH - 64], *edge;
	int length;

	if (chdir(directory) != 0 || !getcwd(here, sizeof here))
		die(directory);
	length = snprintf(world.work, sizeof world.work, "%s/w", here);
	snprintf(world.tree, sizeof world.tree, "%s/w/%s", here, CHAIN);
	if (length < 0 || length > 1000) { /* the paths of differ_paths.c have to fit */
		fprintf(stderr, "differ: '%s' lies too deep\n", directory);
		exit(2);
	}
	world.shared = mmap(NULL, sizeof *world.shared, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	edge = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (world.shared == MAP_FAILED || edge == MAP_FAILED)
		die("mmap");
	world.edge = edge + 2 * page;
	if (mprotect(world.edge, 2 * page, PROT_NONE) != 0 || mkdir(world.work, 0755) != 0)
		die(world.work);
	world.work_fd = open(world.work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (world.work_fd < 0 || !make_chain())
		die(world.work);
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "differ: '%s' is not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"first", required_argument, NULL, 'f'},
						{"sequences", required_argument, NULL, 'n'},
						{"ops", required_argument, NULL, 'k'},
						{"no-openat2", no_argument, NULL, '2'},
						{"outside", no_argument, NULL, 'o'},
						{"loose-flags", no_argument, NULL, 'l'},
						{"guard", no_argument, NULL, 'g'},
						{0}};
	uint64_t base = 1, first = 0, sequences = 100;
	unsigned operations = 16;
	bool guarded = false;
	int option;

	world.openat2 = world.strict_flags = true;
	world.is_root = geteuid() == 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			base = number_of(optarg);
			break;
		case 'f':
			first = number_of(optarg);
			break;
		case 'n':
			sequences = number_of(optarg);
			break;
		case 'k':
			operations = (unsigned)number_of(optarg);
			break;
		case '2':
			world.openat2 = false;
			break;
		case 'o':
			world.outside = true;
			break;
		case 'l':
			world.strict_flags = false;
			break;
		case 'g':
			guarded = true;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1) {
		fputs("differ: one directory is needed\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	if (guarded)
		guard(argv[optind]);
	drop_capabilities();
	open_world(argv[optind]);
	for (uint64_t number = first; number < first + sequences; number++)
		one_sequence(base, number, operations);
	close(world.work_fd);
	if (rmdir(world.work) != 0) {
		clear_tree();
		/* the chain is ours alone */
		static const char *const chain[] = {CHAIN, "1/2/3/4", "1/2/3", "1/2", "1"};

		for (size_t i = 0; i < sizeof chain / sizeof chain[0]; i++) {
			char path[LONGEST_PATH + 16];

			snprintf(path, sizeof path, "%s/%s", world.work, chain[i]);
			rmdir(path);
		}
		rmdir(world.work);
	}
	return 0;
}
