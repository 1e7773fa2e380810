#include "policy/peer.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char *const protocol_names[] = {[SB_TCP] = "tcp", [SB_UDP] = "udp"};

#define MOST_WEIGHT 1024 /* of a host: more than a name has parts or an address bits */

static int invalid(const char *text, const char *why, struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, 0, "'%.*s' is no host: %s", 100, text, why);
}

unsigned sb_port_parse(const char *text, size_t length)
{
	unsigned port = 0;

	if (length == 0 || length > 5 || text[0] == '0')
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	return port <= 65535 ? port : 0;
}

static bool is_this_machine(const struct sb_address *address)
{
	static const unsigned char zero[16], one[16] = {[15] = 1}, four[4] = {127, 0, 0, 1};

	if (address->family == AF_INET)
		return memcmp(address->bytes, four, 4) == 0 || memcmp(address->bytes, zero, 4) == 0;
	return memcmp(address->bytes, zero, 16) == 0 || memcmp(address->bytes, one, 16) == 0;
}

struct sb_peer sb_peer_of_address(enum sb_protocol protocol, const struct sb_address *address,
				  uint16_t port)
{
	struct sb_peer peer = {.protocol = protocol, .port = port, .address = *address};

	if (is_this_machine(address))
		memcpy(peer.name, SB_HOST_LOCAL, sizeof SB_HOST_LOCAL);
	return peer;
}

/* "tcp:" or "udp:" in front, which a name cannot be: it has no colon. */
static int take_protocol(const char **text)
{
	for (int i = 0; i < 2; i++)
		if (strncmp(*text, protocol_names[i], 3) == 0 && (*text)[3] == ':') {
			*text += 4;
			return i;
		}
	return -1;
}

/* The host, without brackets, and the port behind it, if there is one. */
static int split(const char *text, size_t *out_skip, size_t *out_length, const char **out_port,
		 struct sb_error *err)
{
	const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = strrchr(text, ':');

	*out_port = NULL;
	*out_skip = text[0] == '[';
	if (text[0] == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return invalid(text, "a bracket is closed, and a port follows after ':'",
				       err);
		*out_length = (size_t)(close - text) - 1;
		*out_port = close[1] ? close + 2 : NULL;
		return SB_OK;
	}
	if (colon && memchr(text, ':', (size_t)(colon - text)))
		colon = NULL; /* more than one: an IPv6 address that stands alone */
	*out_length = colon ? (size_t)(colon - text) : strlen(text);
	*out_port = colon ? colon + 1 : NULL;
	return SB_OK;
}

/* "10.0.0.0/8", and 32 or 128 bits where no number is written. */
static int parse_net(const char *text, size_t length, struct sb_peer_pattern *out, bool *out_is_net,
		     struct sb_error *err)
{
	const char *slash = memchr(text, '/', length);
	size_t host = slash ? (size_t)(slash - text) : length;
	unsigned most, bits;

	*out_is_net = sb_address_parse(text, host, &out->net);
	if (!*out_is_net)
		return slash ? invalid(text, "what stands before '/' is no address", err) : SB_OK;
	most = out->net.family == AF_INET ? 32 : 128;
	out->bits = most;
	if (!slash)
		return SB_OK;
	length -= host + 1;
	bits = length == 1 && slash[1] == '0' ? 0 : sb_port_parse(slash + 1, length);
	if ((bits == 0 && !(length == 1 && slash[1] == '0')) || bits > most)
		return invalid(text, "a number of bits stands behind '/'", err);
	for (unsigned bit = bits; bit < most; bit++)
		if (out->net.bytes[bit / 8] & 0x80 >> bit % 8)
			return invalid(text, "bits behind the prefix are set", err);
	out->bits = bits;
	return SB_OK;
}

static void print_pattern(struct sb_peer_pattern *pattern)
{
	char address[SB_HOST_ADDRESS_SIZE], host[SB_HOST_NAME_SIZE + 8], port[8] = "";
	bool six = pattern->net.family == AF_INET6;
	bool all = pattern->bits == (six ? 128 : 32);

	if (pattern->name[0]) {
		snprintf(host, sizeof host, "%s%s", pattern->beneath ? "*." : "", pattern->name);
	} else {
		char bits[8] = "";

		sb_address_print(&pattern->net, address);
		if (!all)
			snprintf(bits, sizeof bits, "/%u", pattern->bits % 1000);
		snprintf(host, sizeof host, "%s%s%s%s", six ? "[" : "", address, bits,
			 six ? "]" : "");
	}
	if (pattern->port != SB_PORT_NONE)
		snprintf(port, sizeof port, pattern->port ? ":%u" : ":*",
			 (unsigned)pattern->port & 0xffff);
	snprintf(pattern->text, sizeof pattern->text, "%s%s%s%s",
		 pattern->protocol < 0 ? "" : protocol_names[pattern->protocol],
		 pattern->protocol < 0 ? "" : ":", host, port);
}

static int parse_host(const char *text, size_t length, bool in_brackets,
		      struct sb_peer_pattern *out, struct sb_error *err)
{
	bool is_net;
	int status = parse_net(text, length, out, &is_net, err);

	if (status != SB_OK)
		return status;
	if (is_net) {
		if (out->bits == (out->net.family == AF_INET ? 32 : 128) &&
		    is_this_machine(&out->net)) /* one name for it */
			memcpy(out->name, SB_HOST_LOCAL, sizeof SB_HOST_LOCAL);
		return SB_OK;
	}
	if (in_brackets)
		return invalid(text, "brackets are for IPv6 addresses", err);
	out->beneath = length > 2 && strncmp(text, "*.", 2) == 0;
	if (!out->beneath && memchr(text, '*', length)) {
		invalid(text, "a '*' stands for what is before a dot, at the beginning", err);
		return sb_hint(err, "*.example.org; 'network on' is every host");
	}
	return sb_host_name(text + 2 * out->beneath, length - 2 * (size_t)out->beneath, out->name,
			    err);
}

int sb_peer_pattern_parse(const char *text, struct sb_peer_pattern *out, struct sb_error *err)
{
	struct sb_peer_pattern pattern = {.port = SB_PORT_NONE};
	const char *whole = text, *port;
	size_t skip = 0, length = 0;
	int status;

	if (strstr(text, "://"))
		return invalid(text, "it is a URL; write its host alone", err);
	pattern.protocol = take_protocol(&text);
	status = split(text, &skip, &length, &port, err);
	if (status == SB_OK)
		status = parse_host(text + skip, length, skip, &pattern, err);
	if (status != SB_OK)
		return status;
	if (port) {
		pattern.port = (int)sb_port_parse(port, strlen(port));
		if (!pattern.port && strcmp(port, "*") != 0)
			return invalid(whole, "a port is a number from 1 to 65535, or '*'", err);
	}
	print_pattern(&pattern);
	*out = pattern;
	return SB_OK;
}

int sb_peer_parse(const char *text, struct sb_peer *out, struct sb_error *err)
{
	struct sb_peer_pattern pattern;
	int status = sb_peer_pattern_parse(text, &pattern, err);

	if (status != SB_OK)
		return status;
	if (pattern.beneath || pattern.port == SB_PORT_ANY ||
	    (!pattern.name[0] && pattern.bits != (pattern.net.family == AF_INET ? 32u : 128u)))
		return invalid(text, "it means more than one", err);
	*out = (struct sb_peer){.protocol = pattern.protocol == SB_UDP ? SB_UDP : SB_TCP,
				.port = (uint16_t)(pattern.port < 0 ? 443 : pattern.port),
				.address = pattern.net};
	memcpy(out->name, pattern.name, sizeof out->name);
	return SB_OK;
}

void sb_peer_print(const struct sb_peer *peer, char out[SB_PEER_TEXT_SIZE])
{
	char address[SB_HOST_ADDRESS_SIZE] = "";
	bool six = !peer->name[0] && peer->address.family == AF_INET6;

	if (!peer->name[0])
		sb_address_print(&peer->address, address);
	snprintf(out, SB_PEER_TEXT_SIZE, "%s%s%s%s%s:%u", peer->protocol == SB_UDP ? "udp:" : "",
		 six ? "[" : "", peer->name[0] ? peer->name : address, six ? "]" : "", "",
		 peer->port);
}

static bool is_beneath(const char *suffix, const char *name)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length > tail + 1 && name[length - tail - 1] == '.' &&
	       strcmp(name + length - tail, suffix) == 0;
}

/* What is called localhost is also covered by rules about its addresses. */
static bool covers_this_machine(const struct sb_peer_pattern *pattern)
{
	static const unsigned char four[4] = {127, 0, 0, 1}, six[16] = {[15] = 1};
	const struct sb_address v4 = sb_address_make(AF_INET, four);
	const struct sb_address v6 = sb_address_make(AF_INET6, six);

	return sb_address_within(&pattern->net, pattern->bits, &v4) ||
	       sb_address_within(&pattern->net, pattern->bits, &v6);
}

bool sb_peer_pattern_means(const struct sb_peer_pattern *pattern, const struct sb_peer *peer)
{
	if (pattern->name[0])
		return pattern->beneath ? is_beneath(pattern->name, peer->name)
					: strcmp(pattern->name, peer->name) == 0;
	if (peer->name[0])
		return strcmp(peer->name, SB_HOST_LOCAL) == 0 && covers_this_machine(pattern);
	return sb_address_within(&pattern->net, pattern->bits, &peer->address);
}

bool sb_peer_pattern_is_here(const struct sb_peer_pattern *pattern)
{
	return !pattern->beneath && strcmp(pattern->name, SB_HOST_LOCAL) == 0;
}

/*
 * SECURITY: what is closed of this machine is closed by each of its addresses.
 *
 * Danger: a server that listens at 0.0.0.0 is reached at 127.0.0.2 and at the machine's own address as well.
 * Price: none; a rule that opens localhost opens no more than it says.
 * Held by: tests/unit/test_network.c, tests/supervise/network_attacks.py
 */
static bool closes_here(const struct sb_peer_pattern *pattern, const struct sb_peer *peer)
{
	return sb_peer_pattern_is_here(pattern) && !peer->name[0] &&
	       (peer->address.here || sb_address_class(&peer->address) == SB_ADDRESS_LOOPBACK);
}

bool sb_peer_pattern_covers(const struct sb_peer_pattern *pattern, bool opens,
			    const struct sb_peer *peer)
{
	int protocol = pattern->protocol < 0 && opens ? SB_TCP : pattern->protocol;

	if (protocol >= 0 && protocol != (int)peer->protocol)
		return false;
	if (pattern->port > 0 && pattern->port != peer->port)
		return false;
	if (pattern->port == SB_PORT_NONE && opens && peer->port != 443 && peer->port != 80)
		return false;
	return sb_peer_pattern_means(pattern, peer) || (!opens && closes_here(pattern, peer));
}

int sb_peer_pattern_weight(const struct sb_peer_pattern *pattern)
{
	int weight = MOST_WEIGHT;

	if (pattern->name[0] && pattern->beneath) {
		weight = 1;
		for (const char *at = pattern->name; *at; at++)
			weight += *at == '.';
	} else if (!pattern->name[0] &&
		   pattern->bits < (pattern->net.family == AF_INET ? 32u : 128u)) {
		weight = (int)pattern->bits;
	}
	return weight * 4 + 2 * (pattern->port > 0) + (pattern->protocol >= 0);
}
