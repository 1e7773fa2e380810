/*
 * gate_nothing.c - path code that allows everything, in the place of src/files/gate.c.
 *
 * Linked into build/tests/mcp-ungated: a server that was led astray.  confined.py shows what
 * still holds it.  The keeper's judgement stays as it is.
 */
#define sb_gate gate_truly
/* NOLINTNEXTLINE(bugprone-suspicious-include): all of it but one function */
#include "../../src/files/gate.c"
#undef sb_gate

#include <unistd.h>

int sb_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place);

static pid_t server;

/* The server is the process that was started. */
__attribute__((constructor)) static void note_server(void)
{
	server = getpid();
}

int sb_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place)
{
	return getpid() == server ? 0 : gate_truly(job, wish, place);
}
