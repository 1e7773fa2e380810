/*
 * services.h - places in the real /tmp where programs outside look for a service.
 */
#ifndef SB_JUDGE_SERVICES_H
#define SB_JUDGE_SERVICES_H

#include <stdbool.h>

/*
 * SECURITY: what is made at such a name is believed.
 *
 * Danger: a server at /tmp/tmux-1000/default tells whoever attaches to run a command, outside; a display takes
 * what is typed; a database asks for a password.  Only where /tmp is everybody's: without namespaces, or as
 * the user wished (--shared-tmp).
 * Price: such a server inside asks there.
 * Held by: tests/supervise/services.py
 */
bool sb_temp_is_service(const char *path);

#endif
