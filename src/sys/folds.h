/*
 * folds.h - directories in which the case of a name does not matter.
 */
#ifndef SB_SYS_FOLDS_H
#define SB_SYS_FOLDS_H

#include <stdbool.h>

/*
 * May two names that differ in case only be one file in this directory?  It says so itself (ext4, f2fs, tmpfs:
 * chattr +F), or its file system does so or may do so: vfat, exfat, hfs, and those whose server decides (9p, which
 * WSL has for drives, smb, nfs, fuse).  False for what is no directory.
 */
bool sb_sys_folds(const char *path);

#endif
