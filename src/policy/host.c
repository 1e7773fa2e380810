#include "policy/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/words.h"

#define MAX_LABEL 63

static int no_name(const char *text, size_t length, const char *why, struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, 0, "'%.*s' is no name of a host: %s",
		       (int)(length > 80 ? 80 : length), text, why);
}

/* inet_aton(3) takes "127.1" and "0x7f.1" for addresses: what ends in a number is no name. */
static bool ends_in_number(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	const char *digits = "0123456789";

	if (strncmp(last, "0x", 2) == 0) {
		last += 2;
		digits = "0123456789abcdef";
	}
	return strspn(last, digits) == strlen(last);
}

/* Why the label cannot be a part of a name; NULL: it can. */
static const char *wrong_label(const char *label, size_t length)
{
	if (length == 0)
		return "a part of it is empty";
	if (length > MAX_LABEL)
		return "a part of it is longer than 63 bytes";
	if (label[0] == '-' || label[length - 1] == '-')
		return "a part of it begins or ends with '-'";
	return NULL;
}

int sb_host_name(const char *text, size_t length, char out[SB_HOST_NAME_SIZE], struct sb_error *err)
{
	char name[SB_HOST_NAME_SIZE];
	size_t used = length;

	if (used && text[used - 1] == '.')
		used--;
	if (used == 0 || used >= sizeof name)
		return no_name(text, length, used ? "it is longer than 253 bytes" : "it is empty",
			       err);
	for (size_t i = 0; i < used; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((unsigned char)c >= 0x80) {
			no_name(text, length, "it has letters beyond ASCII", err);
			return sb_hint(err, "write the form that goes over the wire: xn--...");
		}
		/* strchr() finds NUL, too: what stands behind it would be read by others */
		if (!sb_is_digit(c) && !(c >= 'a' && c <= 'z') && (!c || !strchr("-_.", c)))
			return no_name(text, length, "letters, digits, '-', '_' and '.' make one",
				       err);
		name[i] = c;
	}
	name[used] = '\0';
	for (const char *label = name;;) {
		size_t width = strcspn(label, ".");
		const char *wrong = wrong_label(label, width);

		if (wrong)
			return no_name(text, length, wrong, err);
		if (!label[width])
			break;
		label += width + 1;
	}
	if (ends_in_number(name))
		return no_name(text, length, "it ends in a number, as addresses do", err);
	memcpy(out, name, used + 1);
	return SB_OK;
}

const char *sb_host_name_note(const char *name)
{
	for (const char *label = name; label; label = strchr(label, '.')) {
		label += *label == '.';
		if (strncmp(label, "xn--", 4) == 0)
			return "it has letters of other scripts (xn--), and may look like a name that you know";
	}
	return NULL;
}

/* The IPv4 address that an IPv6 one only wraps, at this byte; 0: none. */
static int wrapped_at(const unsigned char *bytes)
{
	static const unsigned char zero[12], mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};

	if (memcmp(bytes, mapped, 12) == 0 || memcmp(bytes, nat64, 12) == 0)
		return 12;
	/* "compatible" ones, dead since 2006; :: and ::1 are themselves */
	if (memcmp(bytes, zero, 12) == 0 && (bytes[12] || bytes[13] || bytes[14]))
		return 12;
	return bytes[0] == 0x20 && bytes[1] == 0x02 ? 2 : 0; /* 6to4 */
}

struct sb_address sb_address_make(int family, const void *bytes)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct sb_address address = {.family = family};

	if (family == AF_INET6 && memcmp(bytes, mapped, 12) == 0)
		return sb_address_make(AF_INET, (const unsigned char *)bytes + 12);
	memcpy(address.bytes, bytes, family == AF_INET ? 4 : 16);
	return address;
}

bool sb_address_parse(const char *text, size_t length, struct sb_address *out)
{
	char copy[SB_HOST_ADDRESS_SIZE];
	unsigned char bytes[16];

	if (length >= sizeof copy || memchr(text, '\0', length))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (int family = AF_INET;; family = AF_INET6) {
		if (inet_pton(family, copy, bytes) == 1) {
			*out = sb_address_make(family, bytes);
			return true;
		}
		if (family == AF_INET6)
			return false;
	}
}

void sb_address_print(const struct sb_address *address, char out[SB_HOST_ADDRESS_SIZE])
{
	if (!inet_ntop(address->family, address->bytes, out, SB_HOST_ADDRESS_SIZE))
		snprintf(out, SB_HOST_ADDRESS_SIZE, "?");
}

bool sb_address_equal(const struct sb_address *a, const struct sb_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16) == 0;
}

bool sb_address_within(const struct sb_address *net, unsigned bits,
		       const struct sb_address *address)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return net->family == address->family && memcmp(net->bytes, address->bytes, whole) == 0 &&
	       (!rest || (net->bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0);
}

/* IANA's registries of special-purpose addresses, and where clouds keep credentials.  The first row that fits counts. */
static const struct {
	const char *net;
	unsigned char bits;
	enum sb_address_class which;
} ranges[] = {
	{"169.254.169.254", 32, SB_ADDRESS_METADATA}, /* AWS, Google, Azure, OpenStack, ... */
	{"169.254.170.2", 32, SB_ADDRESS_METADATA},   /* AWS: containers */
	{"169.254.170.23", 32, SB_ADDRESS_METADATA},  /* AWS: pods */
	{"100.100.100.200", 32, SB_ADDRESS_METADATA}, /* Alibaba */
	{"168.63.129.16", 32, SB_ADDRESS_METADATA},   /* Azure: the host's own server */
	{"192.0.0.192", 32, SB_ADDRESS_METADATA},     /* Oracle */
	{"fd00:ec2::254", 128, SB_ADDRESS_METADATA},  /* AWS */
	{"fd00:ec2::23", 128, SB_ADDRESS_METADATA},   /* AWS: pods */
	{"fd20:ce::254", 128, SB_ADDRESS_METADATA},   /* Google */
	{"127.0.0.0", 8, SB_ADDRESS_LOOPBACK},
	{"0.0.0.0", 32, SB_ADDRESS_LOOPBACK}, /* connect() takes it for this machine */
	{"10.0.0.0", 8, SB_ADDRESS_PRIVATE},
	{"172.16.0.0", 12, SB_ADDRESS_PRIVATE},
	{"192.168.0.0", 16, SB_ADDRESS_PRIVATE},
	{"100.64.0.0", 10, SB_ADDRESS_PRIVATE}, /* shared by customers of one provider; VPNs */
	{"169.254.0.0", 16, SB_ADDRESS_LINK_LOCAL},
	{"224.0.0.0", 4, SB_ADDRESS_MULTICAST},
	{"0.0.0.0", 8, SB_ADDRESS_RESERVED},
	{"192.0.0.0", 24, SB_ADDRESS_RESERVED},
	{"192.0.2.0", 24, SB_ADDRESS_RESERVED},
	{"198.18.0.0", 15, SB_ADDRESS_RESERVED},
	{"198.51.100.0", 24, SB_ADDRESS_RESERVED},
	{"203.0.113.0", 24, SB_ADDRESS_RESERVED},
	{"240.0.0.0", 4, SB_ADDRESS_RESERVED},
	{"::1", 128, SB_ADDRESS_LOOPBACK},
	{"::", 128, SB_ADDRESS_LOOPBACK},
	{"fc00::", 7, SB_ADDRESS_PRIVATE},
	{"fec0::", 10, SB_ADDRESS_PRIVATE},
	{"fe80::", 10, SB_ADDRESS_LINK_LOCAL},
	{"ff00::", 8, SB_ADDRESS_MULTICAST},
	{"2001::", 32, SB_ADDRESS_RESERVED}, /* Teredo, and documentation */
	{"2001:db8::", 32, SB_ADDRESS_RESERVED},
	{"3fff::", 20, SB_ADDRESS_RESERVED},
	{"2000::", 3, SB_ADDRESS_PUBLIC}, /* all else of IPv6 is no one's */
	{"::", 0, SB_ADDRESS_RESERVED},
};

enum sb_address_class sb_address_class(const struct sb_address *address)
{
	int at = address->family == AF_INET6 ? wrapped_at(address->bytes) : 0;
	struct sb_address net, inner;

	if (at) {
		inner = sb_address_make(AF_INET, address->bytes + at);
		return sb_address_class(&inner);
	}
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (sb_address_parse(ranges[i].net, strlen(ranges[i].net), &net) &&
		    sb_address_within(&net, ranges[i].bits, address))
			return ranges[i].which;
	return SB_ADDRESS_PUBLIC;
}

const char *sb_address_class_text(enum sb_address_class which)
{
	static const char *const texts[] = {
		[SB_ADDRESS_PUBLIC] = "an address of the internet",
		[SB_ADDRESS_LOOPBACK] = "this machine itself",
		[SB_ADDRESS_PRIVATE] = "a private address",
		[SB_ADDRESS_LINK_LOCAL] = "a link-local address",
		[SB_ADDRESS_METADATA] = "cloud metadata",
		[SB_ADDRESS_MULTICAST] = "a multicast address",
		[SB_ADDRESS_RESERVED] = "a reserved address",
	};

	return texts[which];
}
