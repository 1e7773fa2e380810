/*
 * sni.h - the name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3).
 *
 * The command wrote these bytes, and what it means is read the way servers do.  Where it cannot be
 * read the connection is none of ours to close: whoever sends no name gets what the host has by
 * default, at the address that was said yes to.  Pure.
 */
#ifndef SB_NETWORK_SNI_H
#define SB_NETWORK_SNI_H

#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

enum sb_sni {
	SB_SNI_NONE,  /* no TLS, or no name in it */
	SB_SNI_FOUND, /* out has it, in its one spelling */
	SB_SNI_MORE,  /* the ClientHello has not come whole */
	SB_SNI_BAD, /* TLS, and against the rules: two names, a name that is none, a broken message */
};

#define SB_SNI_MAX (16 * 1024 + 5) /* one record; browsers send 2 KiB */

enum sb_sni sb_sni_read(const uint8_t *bytes, size_t length, char out[SB_HOST_NAME_SIZE]);

#endif
