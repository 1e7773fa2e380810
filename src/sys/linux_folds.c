#include "sys/folds.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

/* f_type of statfs(2), and of file systems that are in no header. */
static const uint32_t folding[] = {
	0x4d44 /* vfat */,     0x2011bab0 /* exfat */, 0x4244 /* hfs */,
	0x482b /* hfsplus */,  0x5346544e /* ntfs */,  0x7366746e /* ntfs3 */,
	0x01021997 /* 9p */,   0x517b /* smb */,       0xff534d42 /* cifs */,
	0xfe534d42 /* smb2 */, 0x6969 /* nfs */,       0x65735546 /* fuse */,
	0x786f4256 /* vbox */, 0x9660 /* iso9660 */,   0x53464846 /* wslfs */,
};

bool sb_sys_folds(const char *path)
{
	struct statfs info;
	long flags = 0;
	int fd;

	if (statfs(path, &info) != 0)
		return false;
	for (size_t i = 0; i < sizeof folding / sizeof folding[0]; i++)
		if ((uint32_t)info.f_type == folding[i])
			return true;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		flags = 0;
	close(fd);
	return flags & FS_CASEFOLD_FL;
}
