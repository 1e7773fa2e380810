#include "network/dns.h"

#include <stdlib.h>
#include <string.h>

#include "network/packet.h"

enum { HEADER = 12, LABEL_MAX = 63, CLASS_IN = 1, OPCODE = 0x78, RESPONSE = 0x80, RECURSION = 1 };
enum { TRUNCATED = 2, EDNS = 41, PLAIN = 512, POINTER = 0xc0 };
#define TTL 60 /* seconds; a name keeps its address for the whole run */

/*
 * Labels to text with dots.  Returns where the name ends, 0: it is broken.  A pointer to elsewhere in
 * the message is no part of a question with one name.
 */
static size_t read_name(const uint8_t *bytes, size_t length, char text[SB_HOST_NAME_SIZE],
			size_t *out_length)
{
	size_t at = HEADER, used = 0;

	while (at < length && bytes[at]) {
		size_t label = bytes[at++];

		if (label > LABEL_MAX || label > length - at ||
		    used + label + 1 > SB_HOST_NAME_SIZE - 1)
			return 0;
		if (used)
			text[used++] = '.';
		for (size_t i = 0; i < label; i++) /* a dot inside a label would be another name */
			text[used++] = bytes[at + i] == '.' || !bytes[at + i] ? '?'
									      : (char)bytes[at + i];
		at += label;
	}
	*out_length = used;
	return at < length ? at + 1 : 0;
}

/* Of EDNS only this is heard, where it stands first: the root's name, its type, and how much is taken. */
static size_t read_room(const uint8_t *bytes, size_t length)
{
	size_t room = length >= 5 && !bytes[0] && sb_two(bytes + 1) == EDNS ? sb_two(bytes + 3)
									    : PLAIN;

	return room < PLAIN ? PLAIN : room > SB_DNS_ANSWER_MAX ? SB_DNS_ANSWER_MAX : room;
}

int sb_dns_read(const uint8_t *bytes, size_t length, struct sb_dns_query *out)
{
	char text[SB_HOST_NAME_SIZE];
	size_t end, used;
	struct sb_error err;

	*out = (struct sb_dns_query){0};
	if (length < HEADER || (bytes[2] & RESPONSE))
		return -1;
	out->length = HEADER;
	if (length > SB_DNS_QUERY_MAX)
		return SB_DNS_FORMERR;
	if (bytes[2] & OPCODE)
		return SB_DNS_NOTIMP;
	if (sb_two(bytes + 4) != 1 || sb_two(bytes + 6) || sb_two(bytes + 8))
		return SB_DNS_FORMERR;
	end = read_name(bytes, length, text, &used);
	if (!end || length - end < 4)
		return SB_DNS_FORMERR;
	out->type = (uint16_t)sb_two(bytes + end);
	out->length = end + 4;
	out->room = read_room(bytes + out->length, length - out->length);
	if (sb_two(bytes + end + 2) != CLASS_IN)
		return SB_DNS_NOTIMP;
	if (sb_host_name(text, used, out->name, &err) != SB_OK)
		out->name[0] = '\0';
	return SB_DNS_FINE;
}

size_t sb_dns_say(const uint8_t *bytes, const struct sb_dns_query *query, int code,
		  uint8_t out[SB_DNS_ANSWER_MAX])
{
	memcpy(out, bytes, query->length);
	out[2] = (uint8_t)(RESPONSE | (bytes[2] & (OPCODE | RECURSION)));
	out[3] = (uint8_t)(0x80 | code); /* recursion is offered */
	memset(out + 4, 0, HEADER - 4);
	out[5] = query->length > HEADER;
	return query->length;
}

/* One record about the name of the question; returns where its data goes. */
static size_t begin_record(const uint8_t *bytes, const struct sb_dns_query *query, unsigned type,
			   uint8_t *out)
{
	const uint8_t record[] = {0xc0, HEADER, 0, (uint8_t)type, 0, CLASS_IN, 0, 0, 0, TTL};
	size_t at = sb_dns_say(bytes, query, SB_DNS_FINE, out);

	out[7] = 1;
	memcpy(out + at, record, sizeof record);
	return at + sizeof record + 2;
}

size_t sb_dns_say_address(const uint8_t *bytes, const struct sb_dns_query *query,
			  const uint8_t address[4], uint8_t out[SB_DNS_ANSWER_MAX])
{
	size_t at = begin_record(bytes, query, SB_DNS_A, out);

	sb_put_two(out + at - 2, 4);
	memcpy(out + at, address, 4);
	return at + 4;
}

size_t sb_dns_say_name(const uint8_t *bytes, const struct sb_dns_query *query, const char *name,
		       uint8_t out[SB_DNS_ANSWER_MAX])
{
	size_t begin = begin_record(bytes, query, SB_DNS_PTR, out), at = begin;

	while (*name) {
		size_t label = strcspn(name, ".");

		out[at++] = (uint8_t)label;
		memcpy(out + at, name, label);
		at += label;
		name += label + (name[label] == '.');
	}
	out[at++] = 0;
	sb_put_two(out + begin - 2, (unsigned)(at - begin));
	return at;
}

/* Where the record that begins here ends; 0: it is broken. */
static size_t skip_record(const uint8_t *bytes, size_t length, size_t at)
{
	while (at < length && bytes[at] && bytes[at] < POINTER)
		at += 1u + bytes[at];
	at += at < length && bytes[at] ? 2 : 1;
	if (at > length || length - at < 10 || length - at - 10 < sb_two(bytes + at + 8))
		return 0;
	return at + 10 + sb_two(bytes + at + 8);
}

static bool is_same_question(const uint8_t *one, const uint8_t *other, size_t length)
{
	for (size_t i = HEADER; i < length; i++) {
		uint8_t a = one[i], b = other[i];

		if (a != b && ((a | 0x20) != (b | 0x20) || (a | 0x20) < 'a' || (a | 0x20) > 'z'))
			return false;
	}
	return true;
}

size_t sb_dns_pass_on(const uint8_t *bytes, const struct sb_dns_query *query, const uint8_t *answer,
		      size_t length, size_t room, uint8_t out[SB_DNS_ANSWER_MAX])
{
	size_t end = query->length, size;
	unsigned count, code;

	if (length < query->length || length > SB_DNS_ANSWER_MAX || !(answer[2] & RESPONSE) ||
	    sb_two(answer + 4) != 1 || !is_same_question(bytes, answer, query->length))
		return sb_dns_say(bytes, query, SB_DNS_SERVFAIL, out);
	count = sb_two(answer + 6);
	code = answer[3] & 15;
	for (unsigned i = 0; i < count && end; i++)
		end = skip_record(answer, length, end);
	if (!end || (code != SB_DNS_FINE && code != SB_DNS_NXDOMAIN))
		return sb_dns_say(bytes, query, SB_DNS_SERVFAIL, out);
	size = sb_dns_say(bytes, query, (int)code, out);
	if (end > room || (answer[2] & TRUNCATED)) {
		out[2] |= TRUNCATED;
		return size;
	}
	sb_put_two(out + 6, count);
	memcpy(out + size, answer + size, end - size);
	return end;
}

bool sb_dns_is_about(unsigned type)
{
	/* NS, SOA, MX, TXT, SRV, NAPTR, SSHFP, TLSA, URI, CAA */
	static const uint16_t types[] = {2, 6, 15, 16, 33, 35, 44, 52, 256, 257};

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (types[i] == type)
			return true;
	return false;
}

const char *sb_dns_owner(const char *name)
{
	while (*name == '_' && strchr(name, '.'))
		name = strchr(name, '.') + 1;
	return name;
}

bool sb_dns_reversed(const char *name, uint8_t out_address[4])
{
	for (int i = 3; i >= 0; i--) {
		char *end;
		unsigned long part;

		if (*name < '0' || *name > '9')
			return false;
		part = strtoul(name, &end, 10);
		if (part > 255 || *end != '.')
			return false;
		out_address[i] = (uint8_t)part;
		name = end + 1;
	}
	return strcmp(name, "in-addr.arpa") == 0;
}
