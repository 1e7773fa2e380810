/*
 * differ.h - random file operations, told so exactly that two runs can be compared.
 *
 *     differ.c        sequences: a fresh tree, a process, some operations, a listing
 *     differ_paths.c  the names: which file an operation means, and how it says so
 *     differ_ops.c    the operations that make, move and remove names
 *     differ_meta.c   the operations on what a name stands for: modes, times, attributes
 *     differ_fds.c    the operations on descriptors, limits and sockets
 *     differ_tree.c   building, listing and removing the tree
 *
 * Everything that is random comes from chance(), which is seeded anew for each operation
 * from (seed, sequence, operation).  So no result changes what is tried next, and a thread
 * or a child that draws for itself draws the same in every run.
 *
 * What is told goes to a buffer that the processes of a sequence share; nothing told may
 * depend on inode numbers, process numbers, clocks or where the tree lies.
 *
 * SECURITY: run by root without a sandbox, these calls could hurt the machine.  So names
 * never lead above the tree (see settle_directory()), devices are opened only to be closed
 * again in the same operation, and root sees everything else through read-only mounts.
 */
#ifndef DIFFER_H
#define DIFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OUTPUT_MAX (1 << 20)
#define TOLD_MAX 200        /* bytes of a name as it is told */
#define LONGEST_PATH 4096   /* PATH_MAX, the NUL included */
#define LONGEST_NAME 255    /* NAME_MAX */
#define CHAIN "1/2/3/4/t"   /* the tree lies below so many directories */
#define CHAIN_FLOOR "1/2/3" /* a directory that is kept must lie in here */

struct shared {
	size_t used;
	char output[OUTPUT_MAX];
};

struct world {
	struct shared *shared;
	char work[LONGEST_PATH]; /* DIR/w, absolute: what is listed and removed */
	char tree[LONGEST_PATH]; /* DIR/w/CHAIN: where a sequence begins */
	int work_fd;             /* only in the process that lists */
	uint64_t state;          /* of chance() */
	bool is_root;            /* setuid bits are refused to it */
	bool openat2;
	bool outside; /* also try names that an ordinary user cannot change anyway */
	bool strict_flags;
	char *edge; /* the first byte that may not be read */
};

extern struct world world;

/* A path as the kernel gets it and as it is told. */
struct name {
	const char *path;
	char told[TOLD_MAX];
};

/* --- differ.c ------------------------------------------------------------------------- */

void seed(uint64_t value);
unsigned chance(unsigned below); /* 0 .. below - 1 */
bool one_in(unsigned times);
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tell_result(long result);      /* " = 3\n" or " = ENOENT\n" */
const char *error_name(long error); /* of a positive errno */
long call(long number, ...);        /* the result, or a negative errno; six arguments */
uint64_t hash_bytes(const void *data, size_t length);

/* --- differ_paths.c ------------------------------------------------------------------- */

struct name pick_name(void);   /* any path, the impossible ones too */
struct name pick_file(void);   /* to be opened: also /dev/stdout and the like */
struct name pick_socket(void); /* short enough for sun_path */
const char *pick_target(void); /* for a symbolic link; absolute ones lead into the tree */
void tell_target(const char *target);
int pick_dirfd(void);
int pick_fd(void);
void tell_dirfd(int fd);
void settle_directory(void); /* back to the tree when a chdir() left it */
bool leads_above(int fd);    /* a directory that is not (any more) in the tree */

/* --- the operations ------------------------------------------------------------------- */

struct operation {
	unsigned weight;
	void (*perform)(void);
};

extern const struct operation name_operations[], meta_operations[], fd_operations[];
extern const size_t name_operation_count, meta_operation_count, fd_operation_count;

mode_t pick_mode(void);
void open_something(void); /* for those who want it under other conditions */
void resize_something(void);
void tell_descriptor(long fd);

/* --- differ_tree.c -------------------------------------------------------------------- */

void build_tree(void); /* in the current directory, which is world.tree */
void list_tree(void);  /* everything in world.work_fd */
void clear_tree(void); /* and CHAIN made anew */
bool make_chain(void);
const char *built_name(unsigned which); /* one of those that build_tree() made; any number */

#endif
