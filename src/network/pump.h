/*
 * pump.h - a process that carries bytes between pairs of sockets, and can do nothing else.
 *
 * It gets each pair by SB_GATE_CARRY and says SB_GATE_ENDED when it is done.  It opens nothing, looks
 * nothing up and knows no rules; killed, it takes its connections along and leaves nothing open.  An
 * idle connection costs it a few hundred bytes: pipes for splice(2) are lent to who has bytes on the way.
 */
#ifndef SB_NETWORK_PUMP_H
#define SB_NETWORK_PUMP_H

/* In a process of its own, which ends with the channel.  Returns its exit status. */
int sb_pump_main(int channel);

#endif
