/*
 * hosts.h - rules about hosts, into a setup that is being made; and which hosts a tool is set up for.
 *
 *     connect @npm
 *
 * means the hosts in npm's own settings, read when the run starts: those of the user and of the machine
 * are allowed, and what variables say; those that only a file of the project names ask, and say so.  No host is known by
 * itself.  @claude and the like are the same for agents.
 */
#ifndef SB_CONFIG_HOSTS_H
#define SB_CONFIG_HOSTS_H

#include "config/load.h"

/* line is SB_LINE_CONNECT or SB_LINE_LISTEN. */
int sb_load_host(struct sb_maker *maker, const struct sb_rule_source *source,
		 const struct sb_line *line, struct sb_error *err);

/*
 * A host that a profile of sandbash's own names, and the end of these: they count where hosts are asked about, with
 * what tools are set up for; where the network is open, they would only ask.
 */
int sb_hosts_defer(struct sb_maker *maker, const struct sb_rule_source *source,
		   const struct sb_line *line, struct sb_error *err);
int sb_hosts_settle(struct sb_maker *maker, struct sb_error *err);
void sb_hosts_forget(struct sb_maker *maker);

#endif
