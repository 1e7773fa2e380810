/*
 * base64.h - bytes as text: RFC 4648, with the digits "+" and "/" and padding.
 */
#ifndef SB_BASE_BASE64_H
#define SB_BASE_BASE64_H

#include "base/buf.h"

void sb_base64_append(struct sb_buf *out, const char *bytes, size_t length);

#endif
