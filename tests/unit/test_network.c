/* test_network.c - rules about hosts: their grammar, which one decides, and what an address is. */
#include "hosts_made.h"

static void is_pattern(const char *text, const char *printed)
{
	struct sb_peer_pattern pattern;
	struct sb_error err = {0};

	if (sb_peer_pattern_parse(text, &pattern, &err) != SB_OK)
		fail_msg("'%s': %s", text, err.message);
	assert_string_equal(pattern.text, printed);
}

static void is_bad(const char *text, const char *part)
{
	struct sb_peer_pattern pattern;
	struct sb_error err = {0};

	if (sb_peer_pattern_parse(text, &pattern, &err) != SB_E_INVALID)
		fail_msg("'%s' was taken", text);
	if (!strstr(err.message, part))
		fail_msg("'%s': %s", text, err.message);
}

static void grammar(void **state)
{
	(void)state;
	is_pattern("github.com", "github.com");
	is_pattern("GitHub.COM.", "github.com");
	is_pattern("github.com:443", "github.com:443");
	is_pattern("*.Example.org", "*.example.org");
	is_pattern("*.example.org:*", "*.example.org:*");
	is_pattern("udp:ntp.example:123", "udp:ntp.example:123");
	is_pattern("tcp:x", "tcp:x");
	is_pattern("_srv._tcp.xn--bcher-kva.example", "_srv._tcp.xn--bcher-kva.example");
	is_pattern("10.0.0.0/8:22", "10.0.0.0/8:22");
	is_pattern("10.1.2.3/32", "10.1.2.3");
	is_pattern("0.0.0.0/0", "0.0.0.0/0");
}

static void grammar_of_addresses(void **state)
{
	(void)state;
	is_pattern("2001:db8::/32", "[2001:db8::/32]");
	is_pattern("[2001:DB8::/32]:22", "[2001:db8::/32]:22");
	is_pattern("[::ffff:10.0.0.1]:22", "10.0.0.1:22");
	is_pattern("::/0", "[::/0]");
	is_pattern("127.0.0.1:5432", "localhost:5432");
	is_pattern("[::1]:5432", "localhost:5432");
	is_pattern("udp:[::]:53", "udp:localhost:53");
	is_pattern("127.0.0.53:53", "127.0.0.53:53");
}

static void what_is_no_host(void **state)
{
	char label[80], name[300], dotted[300];

	(void)state;
	memset(label, 'a', sizeof label);
	label[63] = '\0';
	is_pattern(label, label);
	label[63] = 'a';
	label[64] = '\0';
	is_bad(label, "longer than 63 bytes");
	for (size_t i = 0; i < sizeof name; i++)
		name[i] = i % 2 ? '.' : 'a';
	name[253] = '\0';
	is_pattern(name, name);
	memcpy(dotted, name, 253); /* the dot at the end is none of its bytes */
	memcpy(dotted + 253, ".", 2);
	is_pattern(dotted, name);
	memcpy(name + 253, "aa", 3);
	is_bad(name, "longer than 253 bytes");
	is_bad("", "it is empty");
	is_bad(".", "it is empty");
	is_bad("a..b", "a part of it is empty");
	is_bad("-a.b", "begins or ends with '-'");
	is_bad("a-.b", "begins or ends with '-'");
	is_bad("b\xc3\xbc"
	       "cher.example",
	       "letters beyond ASCII");
	is_bad("a b", "letters, digits");
	is_bad("a/b", "no address");
	is_bad("https://a.b", "it is a URL");
	is_bad("127.1", "ends in a number");
	is_bad("2130706433", "ends in a number");
	is_bad("0x7f.1", "ends in a number");
	is_bad("a.0x7f", "ends in a number");
	is_bad("*", "'*' stands for");
	is_bad("a.*.b", "'*' stands for");
	is_bad("*a.b", "'*' stands for");
	is_bad("*.", "'*' stands for");
	is_bad("*.1.2.3.4", "ends in a number");
	is_bad("a:0", "a port is a number");
	is_bad("a:65536", "a port is a number");
	is_bad("a:080", "a port is a number");
	is_bad("a:", "a port is a number");
	is_bad("a:443x", "a port is a number");
	is_bad("10.0.0.1/8", "bits behind the prefix are set");
	is_bad("10.0.0.0/33", "a number of bits");
	is_bad("10.0.0.0/", "a number of bits");
	is_bad("[2001:db8::]/32", "a bracket is closed");
	is_bad("[2001:db8::1", "a bracket is closed");
	is_bad("[github.com]:443", "brackets are for IPv6");
	is_bad("fe80::1%eth0", "letters, digits");
	is_bad("@npm", "letters, digits");
}

/* --- deciding ----------------------------------------------------------------------------- */

static void decides(const char *lines, const char *text, enum sb_verdict verdict, const char *rule)
{
	struct sb_policy *policy = policy_of(lines);
	struct sb_peer peer = peer_of(text);
	struct sb_reach reach = sb_decide_connect(policy, &peer);

	if (reach.verdict != verdict || !reach.rule != !rule ||
	    (rule && strcmp(reach.rule->text, rule) != 0))
		fail_msg("%s: %s: %s by '%s'", lines, text, sb_verdict_name(reach.verdict),
			 reach.rule ? reach.rule->text : "");
	sb_policy_free(policy);
}

static void the_setting_decides_where_no_rule_does(void **state)
{
	(void)state;
	decides("network on", "a.b:443", SB_ALLOW, NULL);
	decides("network learn", "a.b:443", SB_ALLOW, NULL);
	decides("network ask", "a.b:443", SB_ASK, NULL);
	decides("network off", "a.b:443", SB_DENY, NULL);
	decides("network off; connect a.b", "a.b:443", SB_DENY, NULL);
	decides("network off; deny connect x; mode danger-full-access", "x:443", SB_ALLOW, NULL);
}

static void names_and_ports(void **state)
{
	(void)state;
	decides("network ask; connect a.b", "a.b:443", SB_ALLOW, "a.b");
	decides("network ask; connect a.b", "a.b:80", SB_ALLOW, "a.b");
	decides("network ask; connect a.b", "A.B.:80", SB_ALLOW, "a.b");
	decides("network ask; connect a.b", "a.b:22", SB_ASK, NULL);
	decides("network ask; connect a.b", "udp:a.b:443", SB_ASK, NULL);
	decides("network ask; connect a.b", "x.a.b:443", SB_ASK, NULL);
	decides("network ask; connect a.b", "xa.b:443", SB_ASK, NULL);
	decides("network ask; connect *.a.b", "a.b:443", SB_ASK, NULL);
	decides("network ask; connect *.a.b", "x.y.a.b:443", SB_ALLOW, "*.a.b");
	decides("network ask; connect *.a.b", "xa.b:443", SB_ASK, NULL);
	decides("network ask; connect *.a.b", "x.a.b.c:443", SB_ASK, NULL);
	decides("network ask; connect a.b:*", "a.b:22", SB_ALLOW, "a.b:*");
	decides("network ask; connect udp:a.b:53", "udp:a.b:53", SB_ALLOW, "udp:a.b:53");
	decides("network ask; connect udp:a.b:53", "a.b:53", SB_ASK, NULL);
	/* what takes away means every port and both protocols */
	decides("network on; deny connect a.b", "a.b:8443", SB_DENY, "a.b");
	decides("network on; deny connect a.b", "udp:a.b:443", SB_DENY, "a.b");
	decides("network on; deny connect a.b:443", "udp:a.b:443", SB_DENY, "a.b:443");
	decides("network on; deny connect tcp:a.b", "udp:a.b:443", SB_ALLOW, NULL);
	decides("network on; ask connect a.b", "a.b:8443", SB_ASK, "a.b");
}

static void addresses(void **state)
{
	(void)state;
	decides("network ask; connect 10.0.0.0/8:22", "10.9.8.7:22", SB_ALLOW, "10.0.0.0/8:22");
	decides("network ask; connect 10.0.0.0/8:22", "[::ffff:10.9.8.7]:22", SB_ALLOW,
		"10.0.0.0/8:22");
	decides("network ask; connect 10.0.0.0/8:22", "11.9.8.7:22", SB_ASK, NULL);
	decides("network ask; connect 10.0.0.0/8:22", "10.9.8.7:23", SB_ASK, NULL);
	decides("network ask; connect 172.16.0.0/12", "172.31.255.255:80", SB_ALLOW,
		"172.16.0.0/12");
	decides("network ask; connect 172.16.0.0/12", "172.32.0.0:80", SB_ASK, NULL);
	decides("network ask; connect 2001:db8::/33", "[2001:db8:7fff::1]:443", SB_ALLOW,
		"[2001:db8::/33]");
	decides("network ask; connect 2001:db8::/33", "[2001:db8:8000::1]:443", SB_ASK, NULL);
	decides("network ask; connect 0.0.0.0/0", "a.b:443", SB_ASK, NULL);
	decides("network ask; connect 0.0.0.0/0", "[2001::1]:443", SB_ASK, NULL);
	decides("network ask; connect localhost:5432", "127.0.0.1:5432", SB_ALLOW,
		"localhost:5432");
	decides("network ask; connect localhost:5432", "0.0.0.0:5432", SB_ALLOW, "localhost:5432");
	decides("network ask; connect localhost:5432", "[::1]:5432", SB_ALLOW, "localhost:5432");
	decides("network ask; connect localhost:5432", "[::]:5432", SB_ALLOW, "localhost:5432");
	decides("network ask; connect localhost:5432", "127.0.0.2:5432", SB_ASK, NULL);
	decides("network on; deny connect 127.0.0.0/8", "localhost:80", SB_DENY, "127.0.0.0/8");
	decides("network on; deny connect ::/0", "localhost:80", SB_DENY, "[::/0]");
}

/* What opens localhost opens no more; what takes it away takes all of this machine. */
static void localhost_is_closed_by_each_address(void **state)
{
	static const char *const here[] = {"127.0.0.1", "127.0.0.2",          "127.255.255.254",
					   "[::1]",     "[::ffff:127.0.0.2]", "0.0.0.0",
					   "[::]",      "localhost",          "[64:ff9b::7f00:2]"};
	struct sb_policy *policy = policy_of("network on; deny connect localhost:80");
	struct sb_peer peer;
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(here); i++) {
		snprintf(text, sizeof text, "%s:80", here[i]);
		decides("network on; deny connect localhost", text, SB_DENY, "localhost");
		decides("network on; ask connect 127.0.0.1:80", text, SB_ASK, "localhost:80");
		decides("network on; deny connect localhost:81", text, SB_ALLOW, NULL);
		decides("network on; deny connect *.localhost", text, SB_ALLOW, NULL);
	}
	decides("network on; deny connect localhost", "10.1.2.3:80", SB_ALLOW, NULL);
	decides("network on; deny connect localhost; connect 127.0.0.2:80", "127.0.0.2:80",
		SB_ALLOW, "127.0.0.2:80");
	assert_int_equal(sb_peer_parse("10.1.2.3:80", &peer, NULL), SB_OK);
	assert_int_equal(sb_decide_connect(policy, &peer).verdict, SB_ALLOW);
	peer.address.here = true;
	assert_int_equal(sb_decide_connect(policy, &peer).verdict, SB_DENY);
	assert_int_equal(sb_decide_address(policy, &peer, &peer.address).verdict, SB_DENY);
	peer.port = 81;
	assert_int_equal(sb_decide_connect(policy, &peer).verdict, SB_ALLOW);
	sb_policy_free(policy);
	policy = policy_of("network ask; connect localhost:80");
	peer.port = 80;
	assert_int_equal(sb_decide_connect(policy, &peer).verdict, SB_ASK);
	sb_policy_free(policy);
}

static void the_most_specific_decides(void **state)
{
	(void)state;
	decides("network ask; deny connect *.b; connect a.b", "a.b:443", SB_ALLOW, "a.b");
	decides("network ask; connect *.b; deny connect *.a.b", "x.a.b:443", SB_DENY, "*.a.b");
	decides("network ask; deny connect *.b; connect *.a.b", "x.a.b:443", SB_ALLOW, "*.a.b");
	decides("network ask; deny connect a.b; connect a.b:443", "a.b:443", SB_ALLOW, "a.b:443");
	decides("network ask; deny connect a.b; connect a.b:443", "a.b:80", SB_DENY, "a.b");
	decides("network ask; connect a.b; deny connect a.b:*", "a.b:80", SB_DENY, "a.b:*");
	decides("network ask; connect a.b; deny connect tcp:a.b", "a.b:80", SB_DENY, "tcp:a.b");
	decides("network ask; connect 10.0.0.0/8; deny connect 10.1.0.0/16", "10.1.2.3:80", SB_DENY,
		"10.1.0.0/16");
	decides("network ask; deny connect 10.0.0.0/8; connect 10.1.2.3", "10.1.2.3:80", SB_ALLOW,
		"10.1.2.3");
	/* a host counts more than a port */
	decides("network ask; deny connect *.b:443; connect *.a.b", "x.a.b:443", SB_ALLOW, "*.a.b");
}

static void the_later_tier_counts_for_one_text(void **state)
{
	(void)state;
	decides("network ask; 3deny connect a.b; 7connect a.b", "a.b:443", SB_ALLOW, "a.b");
	decides("network ask; 7connect a.b; 3deny connect a.b", "a.b:443", SB_ALLOW, "a.b");
	decides("network ask; 3connect a.b; 7deny connect a.b", "a.b:443", SB_DENY, "a.b");
	decides("network ask; 3connect a.b; 7deny connect a.b", "a.b:99", SB_DENY, "a.b");
	/* the system's denials are final, its grants are not */
	decides("network ask; 1deny connect a.b; 7connect a.b", "a.b:443", SB_DENY, "a.b");
	decides("network ask; 7connect a.b; 1deny connect *.b", "a.b:443", SB_DENY, "*.b");
	decides("network ask; 1connect a.b; 7deny connect a.b", "a.b:443", SB_DENY, "a.b");
	decides("network ask; 1ask connect a.b; 7connect a.b", "a.b:443", SB_ALLOW, "a.b");
}

static void two_of_one_tier_must_agree(void **state)
{
	struct sb_policy *policy = policy_of("");
	struct sb_connect_rule rule = {SB_ALLOW, SB_TIER_GLOBAL, "a.b", "here"};
	struct sb_error err = {0};

	(void)state;
	assert_int_equal(sb_connect_add(policy, &rule, &err), SB_E_INVALID); /* sealed */
	sb_policy_free(policy);
	policy = sb_policy_new();
	assert_int_equal(sb_connect_add(policy, &rule, &err), SB_OK);
	rule.text = "A.b."; /* the same */
	assert_int_equal(sb_connect_add(policy, &rule, &err), SB_OK);
	rule.verdict = SB_DENY;
	assert_int_equal(sb_connect_add(policy, &rule, &err), SB_E_CONFLICT);
	assert_string_equal(err.message,
			    "two rules for 'a.b' contradict each other: here and here");
	sb_policy_free(policy);
}

static void a_gate_is_needed_where_on_and_off_are_not_all(void **state)
{
	static const struct {
		const char *lines;
		bool gate, network;
	} cases[] = {
		{"network on", false, true},
		{"network off", false, false},
		{"network ask", true, false},
		{"network learn", true, false},
		{"network on; connect a.b; listen 80", false, true},
		{"network on; deny connect a.b", true, false},
		{"network on; ask connect a.b", true, false},
		{"network off; deny connect a.b", false, false},
		{"network ask; mode danger-full-access", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sb_policy *policy = policy_of(cases[i].lines);

		if (sb_policy_needs_gate(policy) != cases[i].gate ||
		    sb_policy_network(policy) != cases[i].network)
			fail_msg("%s", cases[i].lines);
		sb_policy_free(policy);
	}
}

static void a_policy_covers_one_that_opens_more(void **state)
{
	static const struct {
		const char *outer, *inner;
		bool covers, back;
	} cases[] = {
		{"network ask", "network ask", true, true},
		{"network ask; connect a.b; deny connect *.c",
		 "network ask; 7deny connect *.C; 3connect a.b", true, true},
		{"network ask", "network on", true, false},
		{"network ask", "network learn", false, false},
		{"network learn", "network learn", true, true},
		{"network ask; connect a.b", "network ask", false, true},
		{"network ask; connect a.b", "network ask; connect a.c", false, false},
		{"network ask; connect a.b", "network ask; ask connect a.b", false, false},
		{"network ask; deny connect a.b", "network ask; ask connect a.b", true, false},
		{"network ask; connect a.b", "network ask; connect a.b:443", false, false},
		{"network ask; ask connect *.b", "network ask; deny connect b", false, false},
		{"network ask; 1deny connect a.b", "network ask; 3deny connect a.b", true, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sb_policy *outer = policy_of(cases[i].outer),
				 *inner = policy_of(cases[i].inner);

		if (sb_network_covers(outer, inner) != cases[i].covers ||
		    sb_network_covers(inner, outer) != cases[i].back)
			fail_msg("%s | %s", cases[i].outer, cases[i].inner);
		sb_policy_free(outer);
		sb_policy_free(inner);
	}
}

/* Some rules, of which two policies may well have the same. */
static struct sb_policy *random_policy(char *lines, size_t size)
{
	static const char *const hosts[] = {"*.b", "a.b", "a.b:22", "c.a.b", "udp:a.b"};
	static const char *const words[] = {"", "ask ", "deny ", "1deny "};
	size_t used = (size_t)snprintf(lines, size, "network %s", unit_below(2) ? "ask" : "on");

	for (size_t i = 0; i < COUNT(hosts); i++)
		if (unit_below(3)) {
			const char *word = words[unit_below(COUNT(words))];

			used += (size_t)snprintf(lines + used, size - used, "; %sconnect %s", word,
						 hosts[i]);
		}
	return policy_of(lines);
}

static void what_covers_is_as_strict_for_every_peer(void **state)
{
	static const char *const peers[] = {"a.b:443",  "a.b:22",  "udp:a.b:443",
					    "c.a.b:80", "x.b:443", "y:443"};
	unsigned covered = 0;

	(void)state;
	unit_seed();
	for (int i = 0; i < 20000; i++) {
		char one[200], other[200];
		struct sb_policy *outer = random_policy(one, sizeof one),
				 *inner = random_policy(other, sizeof other);
		bool covers = sb_network_covers(outer, inner);

		covered += covers;
		for (size_t k = 0; covers && k < COUNT(peers); k++) {
			struct sb_peer peer = peer_of(peers[k]);

			if (sb_decide_connect(outer, &peer).verdict <
			    sb_decide_connect(inner, &peer).verdict)
				fail_msg("%s | %s: %s", one, other, peers[k]);
		}
		sb_policy_free(outer);
		sb_policy_free(inner);
	}
	assert_true(covered > 50);
}

/* --- addresses ---------------------------------------------------------------------------- */

static void resolves(const char *lines, const char *text, const char *address,
		     enum sb_verdict verdict)
{
	struct sb_policy *policy = policy_of(lines);
	struct sb_peer peer = peer_of(text);
	struct sb_address found;

	assert_true(sb_address_parse(address, strlen(address), &found));
	if (sb_decide_address(policy, &peer, &found).verdict != verdict)
		fail_msg("%s: %s at %s", lines, text, address);
	sb_policy_free(policy);
}

static void an_allowed_name_opens_the_internet_alone(void **state)
{
	static const char *const inner[] = {"127.0.0.1",
					    "127.8.8.8",
					    "10.0.0.1",
					    "192.168.1.1",
					    "169.254.1.1",
					    "169.254.169.254",
					    "100.100.100.200",
					    "0.0.0.0",
					    "::1",
					    "::",
					    "fd00:ec2::254",
					    "fe80::1",
					    "::ffff:10.0.0.1",
					    "64:ff9b::a9fe:a9fe",
					    "2002:a9fe:a9fe::1",
					    "224.0.0.1",
					    "198.18.0.1"};

	(void)state;
	for (size_t i = 0; i < COUNT(inner); i++) {
		resolves("network ask; connect cdn.example", "cdn.example", inner[i], SB_ASK);
		resolves("network on; deny connect x", "cdn.example", inner[i], SB_ALLOW);
	}
	resolves("network ask; connect cdn.example", "cdn.example", "8.8.8.8", SB_ALLOW);
	resolves("network ask; connect cdn.example", "cdn.example", "2606:4700::1", SB_ALLOW);
	resolves("network ask; connect db.corp:22; connect 10.0.0.0/8:22", "db.corp:22", "10.1.1.1",
		 SB_ALLOW);
	resolves("network ask; connect db.corp:22; connect 10.0.0.0/8:23", "db.corp:22", "10.1.1.1",
		 SB_ASK);
	resolves("network ask; connect a.b; connect localhost:443", "a.b", "127.0.0.1", SB_ALLOW);
	resolves("network ask; connect a.b; deny connect 8.0.0.0/8", "a.b", "8.8.8.8", SB_DENY);
	resolves("network ask; connect a.b; ask connect 8.0.0.0/8", "a.b", "8.8.8.8", SB_ASK);
}

static void what_an_address_is(void **state)
{
	static const struct {
		const char *address;
		enum sb_address_class which;
	} cases[] = {
		{"8.8.8.8", SB_ADDRESS_PUBLIC},
		{"172.15.255.255", SB_ADDRESS_PUBLIC},
		{"172.32.0.0", SB_ADDRESS_PUBLIC},
		{"100.63.255.255", SB_ADDRESS_PUBLIC},
		{"100.128.0.0", SB_ADDRESS_PUBLIC},
		{"223.255.255.255", SB_ADDRESS_PUBLIC},
		{"2606:4700::1", SB_ADDRESS_PUBLIC},
		{"64:ff9b::808:808", SB_ADDRESS_PUBLIC},
		{"127.255.255.255", SB_ADDRESS_LOOPBACK},
		{"::1", SB_ADDRESS_LOOPBACK},
		{"::127.0.0.1", SB_ADDRESS_LOOPBACK},
		{"172.16.0.0", SB_ADDRESS_PRIVATE},
		{"172.31.255.255", SB_ADDRESS_PRIVATE},
		{"100.127.255.255", SB_ADDRESS_PRIVATE},
		{"fdff::1", SB_ADDRESS_PRIVATE},
		{"169.254.0.1", SB_ADDRESS_LINK_LOCAL},
		{"febf::1", SB_ADDRESS_LINK_LOCAL},
		{"169.254.169.254", SB_ADDRESS_METADATA},
		{"::ffff:169.254.169.254", SB_ADDRESS_METADATA},
		{"fd00:ec2::254", SB_ADDRESS_METADATA},
		{"239.1.2.3", SB_ADDRESS_MULTICAST},
		{"ff02::1", SB_ADDRESS_MULTICAST},
		{"255.255.255.255", SB_ADDRESS_RESERVED},
		{"0.1.2.3", SB_ADDRESS_RESERVED},
		{"203.0.113.9", SB_ADDRESS_RESERVED},
		{"2001:db8::1", SB_ADDRESS_RESERVED},
		{"2001:0:1::", SB_ADDRESS_RESERVED},
		{"4000::1", SB_ADDRESS_RESERVED},
		{"::2", SB_ADDRESS_RESERVED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sb_address address;

		assert_true(sb_address_parse(cases[i].address, strlen(cases[i].address), &address));
		if (sb_address_class(&address) != cases[i].which)
			fail_msg("%s is %s", cases[i].address,
				 sb_address_class_text(sb_address_class(&address)));
	}
}

static void names_of_other_scripts_are_told(void **state)
{
	(void)state;
	assert_null(sb_host_name_note("github.com"));
	assert_null(sb_host_name_note("axn--b.com"));
	assert_non_null(sb_host_name_note("xn--ggle-55da.com"));
	assert_non_null(sb_host_name_note("www.xn--ggle-55da.com"));
}

static void looks_up(const char *lines, const char *name, enum sb_verdict verdict)
{
	struct sb_policy *policy = policy_of(lines);

	if (sb_decide_lookup(policy, name) != verdict)
		fail_msg("%s: %s", lines, name);
	sb_policy_free(policy);
}

static void a_name_is_looked_up_where_some_port_is_allowed(void **state)
{
	(void)state;
	looks_up("network ask", "a.b", SB_ASK);
	looks_up("network ask; connect a.b", "a.b", SB_ALLOW);
	looks_up("network ask; connect udp:a.b:123", "a.b", SB_ALLOW);
	looks_up("network ask; connect *.b:22", "a.b", SB_ALLOW);
	looks_up("network ask; connect a.c", "a.b", SB_ASK);
	looks_up("network ask; deny connect a.b", "a.b", SB_DENY);
	looks_up("network ask; deny connect a.b:443", "a.b", SB_ASK);
	looks_up("network ask; deny connect a.b; connect a.b:22", "a.b", SB_ALLOW);
	looks_up("network ask; 1deny connect a.b; connect a.b:22", "a.b", SB_DENY);
	looks_up("network learn", "a.b", SB_ALLOW);
	looks_up("network off; connect a.b", "a.b", SB_DENY);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(grammar),
	cmocka_unit_test(grammar_of_addresses),
	cmocka_unit_test(localhost_is_closed_by_each_address),
	cmocka_unit_test(what_is_no_host),
	cmocka_unit_test(the_setting_decides_where_no_rule_does),
	cmocka_unit_test(names_and_ports),
	cmocka_unit_test(addresses),
	cmocka_unit_test(the_most_specific_decides),
	cmocka_unit_test(the_later_tier_counts_for_one_text),
	cmocka_unit_test(two_of_one_tier_must_agree),
	cmocka_unit_test(a_gate_is_needed_where_on_and_off_are_not_all),
	cmocka_unit_test(a_policy_covers_one_that_opens_more),
	cmocka_unit_test(what_covers_is_as_strict_for_every_peer),
	cmocka_unit_test(an_allowed_name_opens_the_internet_alone),
	cmocka_unit_test(what_an_address_is),
	cmocka_unit_test(names_of_other_scripts_are_told),
	cmocka_unit_test(a_name_is_looked_up_where_some_port_is_allowed),
};

UNIT_MAIN("network")
