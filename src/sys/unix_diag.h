/*
 * unix_diag.h - which file a unix socket is bound to, as the kernel knows it (sock_diag(7)).
 */
#ifndef SB_SYS_UNIX_DIAG_H
#define SB_SYS_UNIX_DIAG_H

#include <stdint.h>

/*
 * The lower half of the inode's number, which is all that the kernel tells.  0, or a negative errno:
 * -ENODATA   it is bound to no file
 * -ENOENT    the kernel has no unix_diag, or the socket is of another network namespace
 */
int sb_sys_unix_bound(int socket, uint32_t *out_inode);

#endif
