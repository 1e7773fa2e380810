/*
 * mount.h - the mount calls of Linux 5.2 and later: trees as descriptors.
 *
 * Each returns >= 0 or a negative errno.  glibc has wrappers from 2.36 on, but its
 * sys/mount.h cannot stand beside linux/mount.h; raw calls need neither.
 */
#ifndef SB_SYS_MOUNT_H
#define SB_SYS_MOUNT_H

#include <stdbool.h>

/* A detached copy of the mounts at (dirfd, path), submounts included.  path "" means dirfd. */
int sb_sys_clone_tree(int dirfd, const char *path);

/* Attach the tree on top of what target_fd (O_PATH) names. */
int sb_sys_attach(int tree_fd, int target_fd);

/* Make the mount at tree_fd, and all mounted beneath it, read-only. */
int sb_sys_make_readonly(int tree_fd);

/* Close device files on the mount at tree_fd and all mounted beneath it. */
int sb_sys_close_devices(int tree_fd);

/* Let no program be executed, nor code be mapped, of what is on the mount at tree_fd and beneath it. */
int sb_sys_close_programs(int tree_fd);

/* Let device files work on the mount at tree_fd, and only there. */
int sb_sys_open_devices(int tree_fd);

/* Cut all propagation to and from other namespaces, from "/" down. */
int sb_sys_cut_off(void);

/* Make all mounts from "/" down read-only, and close their device files, as asked. */
int sb_sys_settle_root(bool readonly, bool no_devices);

/* A new, detached tmpfs: nosuid, nodev; mode as octal text ("1777"). */
int sb_sys_new_tmpfs(const char *mode);

/* A new, detached devpts: terminals of its own, apart from all others (Linux 4.7). */
int sb_sys_new_devpts(void);

/*
 * The POSIX message queues of our ipc namespace, which every one has and none has mounted: detached.
 */
int sb_sys_new_queues(void);

/* Does a filter refuse what is about mounts, whoever asks?  As in containers. */
bool sb_sys_mounts_filtered(void);

/*
 * The processes of a pid namespace, read-only, on top of what is at path.  pid_namespace is a
 * descriptor of it (Linux 6.17; -EINVAL before), or -1 for our own.
 */
int sb_sys_mount_proc(const char *path, int pid_namespace);

/* Take off the topmost mount at path. */
int sb_sys_detach(const char *path);

#endif
