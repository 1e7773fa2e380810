/*
 * sni.h - the name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3).
 *
 * The command wrote these bytes.  What begins like TLS has to be one well-formed ClientHello, in as many records as
 * it takes: where servers differ in how they read, none of the readings is believed.  Whoever sends no TLS, or
 * a hello without a name, gets what the host has by default, at the address that was said yes to.
 */
#ifndef SB_NETWORK_SNI_H
#define SB_NETWORK_SNI_H

#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

enum sb_sni {
	SB_SNI_NONE,  /* no TLS, or a whole ClientHello that has no name */
	SB_SNI_FOUND, /* out has it, in its one spelling */
	SB_SNI_MORE,  /* the ClientHello has not come whole */
	SB_SNI_BAD, /* begins like TLS, and is no ClientHello, has two names or one that is none, is broken or too long */
};

#define SB_SNI_MAX (64 * 1024) /* with the heads of its records; browsers send 2 KiB */

/* bytes: all that has come; they are moved about.  *out_end: how long a whole ClientHello is; else 0. */
enum sb_sni sb_sni_read(uint8_t *bytes, size_t length, char out[SB_HOST_NAME_SIZE],
			size_t *out_end);

/*
 * A server may want a second ClientHello, by an answer of a form of its own (RFC 8446, 4.1.3 and 4.1.4).  What a server
 * says first: is it that?  SB_SNI_FOUND, SB_SNI_NONE, SB_SNI_MORE.
 */
#define SB_SNI_RETRY 43 /* so much of it says so */
enum sb_sni sb_sni_is_retry(const uint8_t *bytes, size_t length);

/* How long a record is, with the head that it begins with, if it is none of a handshake; else 0. */
#define SB_SNI_HEAD 5
size_t sb_sni_other_record(const uint8_t head[SB_SNI_HEAD]);

#endif
