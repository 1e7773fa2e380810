/*
 * What only a real filesystem has: special files, hard links, mounts, /proc, modes and
 * attributes, leftovers of killed writers, and somebody who changes everything meanwhile.
 */
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "files/backend.h"
#include "files_view.h"

static void assert_special(struct fixture *fx, const char *name)
{
	struct sb_files_change change;
	struct sb_files_info info;
	struct sb_files_text text;

	alarm(10); /* an open of a FIFO would wait for ever */
	assert_code(fx_read(fx, name, &text), SB_FILES_NOT_A_FILE);
	assert_code(fx_write(fx, name, "x"), SB_FILES_NOT_A_FILE);
	assert_code(fx_edit(fx, name, "a", "b", &change), SB_FILES_NOT_A_FILE);
	assert_code(sb_files_copy(fx->view, NULL, name, "copy", 0, &fx->err), SB_FILES_NOT_A_FILE);
	assert_fine(sb_files_stat(fx->view, NULL, name, true, &info, &fx->err));
	assert_int_equal(info.type, SB_FILES_OTHER);
	assert_null(fx_get(fx, "project/copy"));
	alarm(0);
}

static void test_F2_special_files_are_never_opened(void **state)
{
	struct fixture *fx = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifo(at(fx, "project/fifo"), 0600), 0);
	assert_special(fx, "fifo");
	snprintf(address.sun_path, sizeof address.sun_path, "%s", at(fx, "project/sock"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	close(fd);
	assert_special(fx, "sock");
	fx_link(fx, "fifo", "project/link-to-fifo");
	assert_special(fx, "link-to-fifo");
	if (mknod(at(fx, "project/zero"), S_IFCHR | 0600, makedev(1, 5)) == 0)
		assert_special(fx, "zero");
	fx_link(fx, "/dev/zero", "project/link-to-device");
	fx_assert_unreachable(fx, "link-to-device");
}

static void test_F2_magic_links(void **state)
{
	struct fixture *fx = *state;
	char path[PATH_MAX];
	int fd = open(at(fx, "outside"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	snprintf(path, sizeof path, "/proc/self/fd/%d/secret.txt", fd);
	fx_assert_unreachable(fx, path);
	fx_link(fx, path, "project/magic");
	fx_assert_unreachable(fx, "magic");
	fx_link(fx, "/proc/self/root", "project/rooted");
	snprintf(path, sizeof path, "rooted%s", at(fx, "outside/secret.txt"));
	fx_assert_unreachable(fx, path);
	snprintf(path, sizeof path, "/proc/self/root%s", at(fx, "project/a.txt"));
	fx_assert_unreachable(fx, path);
	fx_assert_unreachable(fx, "/proc/self/environ");
	/* nor with a yes: what is there belongs to processes */
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_null(fx_text(fx, "/proc/self/environ"));
	assert_int_equal(fx->err.code, SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_null(fx_text(fx, "magic"));
	assert_null(fx_text(fx, "/proc/1/environ"));
	assert_int_equal(fx->asked, 0);
	close(fd);
}

static void test_F2_hard_links(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_change change;

	assert_int_equal(link(at(fx, "outside/secret.txt"), at(fx, "project/alias")), 0);
	assert_string_equal(fx_text(fx, "alias"), SECRET); /* documented: reading is allowed */
	assert_fine(fx_write(fx, "alias", "mine\n"));
	assert_string_equal(fx_get(fx, "project/alias"), "mine\n");
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
	assert_int_equal(link(at(fx, "outside/secret.txt"), at(fx, "project/alias2")), 0);
	assert_fine(fx_edit(fx, "alias2", "secret", "edit", &change));
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
	assert_int_equal(link(at(fx, "outside/secret.txt"), at(fx, "project/alias3")), 0);
	fx_open(fx, (struct sb_files_options){.hard_links = SB_FILES_ASK});
	assert_null(fx_text(fx, "alias3"));
	assert_int_equal(fx->err.code, SB_FILES_NEEDS_CONSENT);
	assert_int_equal(fx->err.why, SB_FILES_WHY_HARD_LINK);
	assert_code(fx_write(fx, "alias3", "x"), SB_FILES_NEEDS_CONSENT);
	assert_string_equal(fx_text(fx, "a.txt"), "one\ntwo\nthree\n");
}

/* In a child with mounts of its own.  Exit status: 0, 77 cannot mount, else the line. */
static int check_mounts(struct fixture *fx)
{
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ % 76 + 1;                                                  \
	} while (0)
	struct sb_files_text text;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 && unshare(CLONE_NEWNS) != 0)
		return 77;
	/* <sys/mount.h> would be the one of src */
	if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return 77;
	fx_open(fx, (struct sb_files_options){0}); /* its descriptors were in the old namespace */
	if (syscall(SYS_mount, at(fx, "outside"), at(fx, "project/src"), NULL, MS_BIND, NULL) != 0)
		return 77;
	MUST(fx_read(fx, "src/secret.txt", &text) == -SB_FILES_NEEDS_CONSENT);
	MUST(fx->err.why == SB_FILES_WHY_MOUNT && fx->err.violation);
	MUST(fx_write(fx, "src/secret.txt", "x") == -SB_FILES_NEEDS_CONSENT);
	MUST(fx_write(fx, "src/new", "x") == -SB_FILES_NEEDS_CONSENT);
	MUST(fx_read(fx, "a.txt", &text) == 0);
	sb_files_text_done(&text);
	MUST(sb_files_add_root(fx->view, at(fx, "project/src"), &fx->err) == 0);
	MUST(fx_read(fx, "src/secret.txt", &text) == 0);
	return 0;
#undef MUST
}

static void test_F2_mount_points(void **state)
{
	struct fixture *fx = *state;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(check_mounts(fx));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
}

/* --- what a write keeps --------------------------------------------------------------------- */

static void test_F6_mode_and_attributes_are_kept(void **state)
{
	struct fixture *fx = *state;
	const char *path = at(fx, "project/kept");
	char value[100];
	struct stat before, after;
	struct sb_files_change change;

	fx_put(fx, "project/kept", "old\n");
	assert_int_equal(chmod(path, 0751), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 12345, 54321), 0);
	if (setxattr(path, "user.note", "kept", 4, 0) != 0)
		skip();
	assert_int_equal(stat(path, &before), 0);
	assert_fine(fx_edit(fx, "kept", "old", "new", &change));
	sb_files_change_done(&change);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_gid, before.st_gid);
	assert_int_not_equal(after.st_ino, before.st_ino);
	assert_int_equal(getxattr(path, "user.note", value, sizeof value), 4);
	assert_memory_equal(value, "kept", 4);
	/* privileges are for the old contents */
	assert_int_equal(chmod(path, 04755), 0);
	assert_fine(fx_write(fx, "kept", "newer\n"));
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_mode & 07777, 0755);
}

/* An ACL in the form the kernel keeps: user::rw-, user:4321:rw-, group::r--, mask::rw-, other::---. */
static void test_F6_acl_is_kept(void **state)
{
	static const unsigned char acl[] = {
		2, 0,    0,    0,    1,    0,    6,  0, 0xff, 0xff, 0xff, 0xff, 2,    0,   6,
		0, 0xe1, 0x10, 0,    0,    4,    0,  4, 0,    0xff, 0xff, 0xff, 0xff, 16,  0,
		6, 0,    0xff, 0xff, 0xff, 0xff, 32, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};
	struct fixture *fx = *state;
	const char *path = at(fx, "project/a.txt");
	unsigned char value[200];

	if (setxattr(path, "system.posix_acl_access", acl, sizeof acl, 0) != 0)
		skip();
	assert_fine(fx_write(fx, "a.txt", "new\n"));
	assert_int_equal(getxattr(path, "system.posix_acl_access", value, sizeof value),
			 sizeof acl);
	assert_memory_equal(value, acl, sizeof acl);
}

static void test_F6_new_files_obey_the_umask(void **state)
{
	struct fixture *fx = *state;
	mode_t was = umask(027);
	struct stat info;

	assert_fine(fx_write(fx, "new", "x"));
	umask(was);
	assert_int_equal(stat(at(fx, "project/new"), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0640);
}

static void test_F6_a_read_only_file_stays(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(chmod(at(fx, "project/a.txt"), 0444), 0);
	if (geteuid() == 0) { /* root may write everything */
		assert_fine(fx_write(fx, "a.txt", "x"));
		return;
	}
	assert_code(fx_write(fx, "a.txt", "x"), SB_FILES_PERMISSION);
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\ntwo\nthree\n");
}

/* --- what a killed writer leaves -------------------------------------------------------------- */

static void test_F6_leftovers_are_swept(void **state)
{
	struct fixture *fx = *state;

	fx_put(fx, "project/.0.sandbash-write", "left by a killed writer");
	fx_put(fx, "project/.1.sandbash-write", "and another");
	assert_fine(fx_write(fx, "a.txt", "x"));
	assert_null(fx_get(fx, "project/.0.sandbash-write"));
	/* what is no leftover is not touched: a link, a directory, a FIFO */
	fx_link(fx, "../outside/secret.txt", "project/.0.sandbash-write");
	assert_int_equal(mkfifo(at(fx, "project/.2.sandbash-write"), 0600), 0);
	assert_int_equal(unlink(at(fx, "project/.1.sandbash-write")), 0);
	fx_dir(fx, "project/.1.sandbash-write");
	assert_fine(fx_write(fx, "a.txt", "y"));
	assert_string_equal(fx_get(fx, "project/a.txt"), "y");
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
}

/* --- several at once ----------------------------------------------------------------------------- */

#define WRITERS 4
#define LINES 50

struct writer {
	struct fixture *fx;
	int number;
	int failed;
};

static void *append_lines(void *context)
{
	struct writer *writer = context;
	char line[32];
	struct sb_files_edit edit = {.new_text = line};
	struct sb_files_edit_request request = {
		.size = sizeof request, .path = "shared", .edits = &edit, .edit_count = 1};
	struct sb_files_change change;
	struct sb_files_error err;

	for (int i = 0; i < LINES; i++) {
		edit.new_length = (size_t)snprintf(line, sizeof line, "%d %d\n", writer->number, i);
		if (sb_files_edit(writer->fx->view, NULL, &request, &change, &err) != 0) {
			writer->failed++;
			print_message("# %s\n", err.person);
		} else {
			sb_files_change_done(&change);
		}
	}
	return NULL;
}

static void test_F6_edits_at_once_add_up(void **state)
{
	struct fixture *fx = *state;
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	const char *text;

	fx_put(fx, "project/shared", "");
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){fx, i, 0};
		pthread_create(&threads[i], NULL, append_lines, &writers[i]);
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].failed, 0);
	}
	text = fx_get(fx, "project/shared");
	for (int i = 0; i < WRITERS; i++) {
		for (int line = 0; line < LINES; line++) {
			char wanted[32];

			snprintf(wanted, sizeof wanted, "%d %d\n", i, line);
			assert_non_null(strstr(text, wanted));
		}
	}
}

/* --- a thread that flips links ---------------------------------------------------------------- */

struct flipper {
	struct fixture *fx;
	volatile int stop;
	unsigned long flips;
};

/* "spot" is by turns a directory and a link out; "file" a file and a link out. */
static void *flip(void *context)
{
	struct flipper *flipper = context;
	char a[PATH_MAX], b[PATH_MAX], c[PATH_MAX], d[PATH_MAX];

	snprintf(a, sizeof a, "%s", at(flipper->fx, "project/spot"));
	snprintf(b, sizeof b, "%s", at(flipper->fx, "project/other"));
	snprintf(c, sizeof c, "%s", at(flipper->fx, "project/file"));
	snprintf(d, sizeof d, "%s", at(flipper->fx, "project/other-file"));
	while (!flipper->stop) {
		syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
		syscall(SYS_renameat2, AT_FDCWD, c, AT_FDCWD, d, RENAME_EXCHANGE);
		flipper->flips++;
	}
	return NULL;
}

static bool is_known(int status)
{
	return status == 0 || status == -SB_FILES_PATH_OUTSIDE_PROJECT ||
	       status == -SB_FILES_CHANGED || status == -SB_FILES_NOT_FOUND ||
	       status == -SB_FILES_EXISTS || status == -SB_FILES_NOT_A_DIRECTORY;
}

static void one_round(struct fixture *fx, unsigned long *inside, unsigned long *refused)
{
	static const char *const names[] = {"spot/f", "file", "spot/new", "spot/../spot/f"};
	const char *name = names[unit_below(COUNT(names))];
	struct sb_files_text text;
	struct sb_files_change change;
	int status;

	switch (unit_below(8)) {
	case 0:
	case 1:
		status = fx_read(fx, name, &text);
		if (status == 0) {
			assert_null(strstr(text.data, "outside"));
			sb_files_text_done(&text);
		}
		break;
	case 2:
		status = fx_write(fx, name, "written inside\n");
		break;
	case 3:
		status = fx_edit(fx, name, "inside", "inside", &change);
		if (status == 0)
			sb_files_change_done(&change);
		if (status == -SB_FILES_NO_MATCH)
			status = 0;
		break;
	case 4:
		status = sb_files_mkdir(fx->view, NULL, "spot/made", true, NULL, &fx->err);
		break;
	case 5:
		status = sb_files_copy(fx->view, NULL, "still", name, SB_FILES_REPLACE, &fx->err);
		break;
	case 6:
		status = sb_files_move(fx->view, NULL, "spot/new", "spot/moved", true, &fx->err);
		break;
	default:
		status = sb_files_delete(fx->view, NULL, "spot/new", false, &fx->err);
		break;
	}
	if (!is_known(status))
		print_message("# %s: %s\n", name, fx->err.person);
	assert_true(is_known(status));
	*inside += status == 0;
	*refused += status == -SB_FILES_PATH_OUTSIDE_PROJECT;
}

/* SANDBASH_TEST_SOAK: for how many seconds; 3 without. */
static void test_F1_flipping_links_never_lead_outside(void **state)
{
	struct fixture *fx = *state;
	const char *soak = getenv("SANDBASH_TEST_SOAK");
	time_t end = time(NULL) + (soak ? strtol(soak, NULL, 10) : 3);
	unsigned long inside = 0, refused = 0, rounds = 0;
	struct flipper flipper = {.fx = fx};
	pthread_t thread;

	unit_seed();
	fx_dir(fx, "project/spot");
	fx_put(fx, "project/spot/f", "this is inside\n");
	fx_put(fx, "project/file", "this is inside\n");
	fx_put(fx, "project/still", "copied inside\n");
	fx_dir(fx, "outside/dir");
	fx_put(fx, "outside/dir/f", SECRET);
	fx_link(fx, "../outside/dir", "project/other");
	fx_link(fx, at(fx, "outside/dir/f"), "project/other-file");
	pthread_create(&thread, NULL, flip, &flipper);
	while (time(NULL) < end) {
		for (int i = 0; i < 100; i++, rounds++)
			one_round(fx, &inside, &refused);
		assert_string_equal(fx_get(fx, "outside/dir/f"), SECRET);
		assert_null(fx_get(fx, "outside/dir/new"));
		assert_null(fx_get(fx, "outside/dir/moved"));
		assert_int_not_equal(access(at(fx, "outside/dir/made"), F_OK), 0);
	}
	flipper.stop = 1;
	pthread_join(thread, NULL);
	print_message("# %lu calls, %lu inside, %lu refused, %lu flips\n", rounds, inside, refused,
		      flipper.flips);
	/* both sides of the flip were met, else this proves nothing */
	assert_true(inside > 0 && refused > 0);
}

/* --- a directory that moves between the decision and the act ------------------------------------ */

static void find(struct fixture *fx, const char *name, struct sb_place *out)
{
	assert_int_equal(sb_files_disk()->ops->resolve(sb_files_disk(), NULL, at(fx, name), 0, out),
			 0);
}

/* What is decided about "open" must not be done in "closed", the same directory a moment later. */
static void test_F1_a_moved_directory_is_not_acted_in(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_backend *disk = sb_files_disk();
	struct sb_place file, made, target, still;
	char open[PATH_MAX], closed[PATH_MAX];

	snprintf(open, sizeof open, "%s", at(fx, "project/open"));
	snprintf(closed, sizeof closed, "%s", at(fx, "project/closed"));
	fx_dir(fx, "project/open");
	fx_put(fx, "project/open/f", "text");
	fx_put(fx, "project/still", "text");
	for (int moved = 1; moved >= 0; moved--) {
		int want = moved ? -ESTALE : 0;

		find(fx, "project/open/f", &file);
		find(fx, "project/open/made", &made);
		find(fx, "project/open/target", &target);
		find(fx, "project/still", &still);
		if (moved)
			assert_int_equal(rename(open, closed), 0);
		assert_int_equal(disk->ops->mkdir(disk, &made, 0755), want);
		assert_int_equal(disk->ops->rename(disk, &still, &target, true), want);
		assert_int_equal(disk->ops->remove(disk, &file), want);
		if (moved) {
			assert_int_equal(disk->ops->make_link(disk, &target, "x"), want);
			assert_int_equal(disk->ops->rename(disk, &file, &still, true), want);
			assert_string_equal(fx_get(fx, "project/closed/f"), "text");
			assert_int_equal(rename(closed, open), 0);
		}
		disk->ops->release(disk, &file);
		disk->ops->release(disk, &made);
		disk->ops->release(disk, &target);
		disk->ops->release(disk, &still);
	}
	assert_null(fx_get(fx, "project/open/f")); /* the control did all of it */
	assert_string_equal(fx_get(fx, "project/open/target"), "text");
}

/* A file that appears at the target after the decision is nobody's to replace. */
static void test_F1_what_appears_meanwhile_is_not_replaced(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_backend *disk = sb_files_disk();
	struct sb_place from, to;

	fx_put(fx, "project/from", "from");
	find(fx, "project/from", &from);
	find(fx, "project/to", &to);
	fx_put(fx, "project/to", "new there");
	assert_int_equal(disk->ops->rename(disk, &from, &to, true), -EEXIST);
	assert_string_equal(fx_get(fx, "project/to"), "new there");
	disk->ops->release(disk, &from);
	disk->ops->release(disk, &to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(test_F2_special_files_are_never_opened),
		ON_DISK(test_F2_magic_links),
		ON_DISK(test_F2_hard_links),
		ON_DISK(test_F2_mount_points),
		ON_DISK(test_F6_mode_and_attributes_are_kept),
		ON_DISK(test_F6_acl_is_kept),
		ON_DISK(test_F6_new_files_obey_the_umask),
		ON_DISK(test_F6_a_read_only_file_stays),
		ON_DISK(test_F6_leftovers_are_swept),
		ON_BOTH(test_F6_edits_at_once_add_up),
		ON_DISK(test_F1_flipping_links_never_lead_outside),
		ON_DISK(test_F1_a_moved_directory_is_not_acted_in),
		ON_DISK(test_F1_what_appears_meanwhile_is_not_replaced),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("files_disk", tests, NULL, NULL);
}
