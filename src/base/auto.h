/*
 * auto.h - resources that end with their scope.
 *
 *     SB_AUTO_FD int fd = open(...);       closed when the block is left
 *     *out_fd = sb_take_fd(&fd);           unless it is given away
 *     SB_AUTO(sb_x_done) struct sb_x x = {0};
 */
#ifndef SB_BASE_AUTO_H
#define SB_BASE_AUTO_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void sb_auto_close(int *fd)
{
	if (*fd < 0)
		return; /* with why, if that is known */
	/* Once, never retried: after EINTR the number is already free (close(2)). */
	close(*fd);
	*fd = -1;
}

static inline void sb_auto_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void sb_auto_fclose(FILE **stream)
{
	if (*stream)
		fclose(*stream);
}

static inline void sb_auto_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define SB_AUTO(done) __attribute__((cleanup(done)))
#define SB_AUTO_FD __attribute__((cleanup(sb_auto_close)))
#define SB_AUTO_DIR __attribute__((cleanup(sb_auto_closedir)))
#define SB_AUTO_FREE __attribute__((cleanup(sb_auto_free)))
#define SB_AUTO_FILE __attribute__((cleanup(sb_auto_fclose)))

static inline int sb_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *sb_take_ptr(void *pointer)
{
	void *taken = *(void **)pointer;

	*(void **)pointer = NULL;
	return taken;
}

#endif
