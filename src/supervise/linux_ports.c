#include "supervise/ports.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line of /proc/net/tcp: "  0: 0100007F:1F90 00000000:0000 0A ...": is it this port's listener? */
static bool is_listener(const char *line, uint16_t port)
{
	const char *number = strchr(line, ':'), *local = number ? strchr(number + 1, ':') : NULL;
	const char *remote = local ? strchr(local, ' ') : NULL,
		   *state = remote ? strchr(remote + 1, ' ') : NULL;

	return state && strtoul(local + 1, NULL, 16) == port &&
	       strtoul(state, NULL, 16) == TCP_LISTEN;
}

bool sb_port_is_listened_to(int proc, uint16_t port)
{
	static const char *const files[] = {"self/net/tcp", "self/net/tcp6"};
	char line[512];
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		int fd = openat(proc, files[i], O_RDONLY | O_CLOEXEC);
		FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;

		while (file && !found && fgets(line, sizeof line, file))
			found = is_listener(line, port);
		if (file)
			fclose(file);
		else if (fd >= 0)
			close(fd);
	}
	return found;
}
