/*
 * devices.h - which devices the command could open.
 */
#ifndef SB_ENFORCE_DEVICES_H
#define SB_ENFORCE_DEVICES_H

#include <stdbool.h>

#include "sandbash/error.h"

/* Could the command read a disk?  Then no hidden file is hidden. */
bool sb_devices_disks_readable(void);

/* May this process make a /dev without them?  Else they are hidden one by one. */
bool sb_devices_can_be_own(void);

/* Does the kernel let whoever may read a device control it?  (Inside another run that holds.) */
bool sb_devices_are_drivable(void);

/* Call found for every device in /dev that this user can read, terminals left out. */
int sb_devices_readable(int (*found)(void *context, const char *path, struct sb_error *err),
			void *context, struct sb_error *err);

#endif
