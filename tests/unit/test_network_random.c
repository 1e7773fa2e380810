/* test_network_random.c - random rules about hosts decide as they are described; random addresses and texts. */
#include "hosts_made.h"

static const char *const labels[] = {"a", "b", "corp", "xn--x", "localhost"};

static void random_host(char *out, size_t size, bool wild)
{
	if (unit_below(3) == 0) {
		unsigned bits = unit_below(5) * 8;

		if (!wild || bits == 0)
			bits = 32;
		snprintf(out, size, "%u.%u.%u.%u", bits > 0 ? 1 + unit_below(2) * 9 : 0,
			 bits > 8 ? unit_below(2) : 0, bits > 16 ? unit_below(2) : 0,
			 bits > 24 ? 1 + unit_below(2) : 0);
		if (bits < 32)
			snprintf(out + strlen(out), size - strlen(out), "/%u", bits);
		return;
	}
	*out = '\0';
	if (wild && unit_below(2))
		snprintf(out, size, "*.");
	for (unsigned i = 1 + unit_below(3); i; i--)
		snprintf(out + strlen(out), size - strlen(out), "%s%s",
			 labels[unit_below(COUNT(labels))], i > 1 ? "." : "");
}

static void random_line(char *out, size_t size, bool peer)
{
	static const char *const words[] = {"connect ", "ask connect ", "deny connect "};
	static const char *const protocols[] = {"", "", "udp:", "tcp:"};
	static const char *const ports[] = {"", ":443", ":80", ":22", ":*"};
	char host[128];

	random_host(host, sizeof host, !peer);
	snprintf(out, size, "%s%s%s%s", peer ? "" : words[unit_below(3)],
		 protocols[unit_below(COUNT(protocols))], host,
		 ports[peer ? 1 + unit_below(3) : unit_below(COUNT(ports))]);
}

static void random_rules(struct sb_policy *policy)
{
	char line[200];

	sb_policy_set(policy, SB_SETTING_NETWORK, (int)unit_below(4));
	for (unsigned i = unit_below(9); i; i--) {
		struct sb_line parsed;
		struct sb_connect_rule rule = {.tier = (enum sb_tier)(1 + unit_below(7)),
					       .origin = "#"};

		random_line(line, sizeof line, false);
		assert_int_equal(sb_line_parse(line, strlen(line), &parsed, NULL), SB_OK);
		rule.verdict = (enum sb_verdict)parsed.value;
		rule.text = parsed.text;
		sb_connect_add(policy, &rule, NULL); /* some contradict each other */
		sb_line_done(&parsed);
	}
}

/* As the header says it, and not as it is written: the strictest of those that nothing outweighs. */
static enum sb_verdict slowly(const struct sb_policy *policy, const struct sb_peer *peer)
{
	static const enum sb_verdict settings[] = {SB_ALLOW, SB_ALLOW, SB_ASK, SB_DENY};
	enum sb_network network = sb_network_of(policy);
	enum sb_verdict verdict = settings[network];
	int most = -1;

	for (int pass = 0; pass < 2 && network != SB_NETWORK_OFF; pass++)
		for (size_t i = 0; i < sb_connect_count(policy); i++) {
			const struct sb_connect_rule *rule = sb_connect_at(policy, i);
			struct sb_peer_pattern pattern;

			assert_int_equal(sb_peer_pattern_parse(rule->text, &pattern, NULL), SB_OK);
			if (!sb_peer_pattern_covers(&pattern, rule->verdict == SB_ALLOW, peer))
				continue;
			if (rule->tier == SB_TIER_SYSTEM && rule->verdict == SB_DENY)
				return SB_DENY;
			if (pass == 0) {
				if (sb_peer_pattern_weight(&pattern) > most)
					most = sb_peer_pattern_weight(&pattern);
				verdict = SB_ALLOW;
			} else if (sb_peer_pattern_weight(&pattern) == most &&
				   rule->verdict > verdict) {
				verdict = rule->verdict;
			}
		}
	return verdict;
}

static struct sb_policy *read_back(const struct sb_policy *policy, bool as_bytes)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1 << 20);
	struct sb_policy *again;
	char *rest, *line;

	if (as_bytes) {
		sb_policy_encode(policy, &text);
		assert_int_equal(sb_policy_decode(text.data, text.length, &again, NULL), SB_OK);
		return again;
	}
	again = sb_policy_new();
	sb_policy_print(policy, &text);
	for (rest = text.data; (line = strsep(&rest, "\n"));)
		if (*line)
			add(again, SB_TIER_FILE, line);
	assert_int_equal(sb_policy_seal(again, NULL), SB_OK);
	return again;
}

static bool has_system_denial(const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_connect_count(policy); i++)
		if (sb_connect_at(policy, i)->tier == SB_TIER_SYSTEM &&
		    sb_connect_at(policy, i)->verdict == SB_DENY)
			return true;
	return false;
}

static void random_rules_decide_as_described_and_come_back(void **state)
{
	unsigned rounds = getenv("SANDBASH_TEST_LONG") ? 200000 : 4000;

	(void)state;
	unit_random_state = 19;
	for (unsigned round = 0; round < rounds; round++) {
		struct sb_policy *policy = sb_policy_new(), *bytes, *text;
		char wanted[200], printed[SB_PEER_TEXT_SIZE];

		random_rules(policy);
		assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
		bytes = read_back(policy, true);
		text = read_back(policy, false);
		for (unsigned i = 0; i < 12; i++) {
			struct sb_peer peer, again;
			enum sb_verdict verdict;

			random_line(wanted, sizeof wanted, true);
			if (strstr(wanted, ":*"))
				continue;
			peer = peer_of(wanted);
			verdict = sb_decide_connect(policy, &peer).verdict;
			if (verdict != slowly(policy, &peer))
				fail_msg("round %u: %s is not decided as described", round, wanted);
			if (verdict != sb_decide_connect(bytes, &peer).verdict)
				fail_msg("round %u: %s, as bytes", round, wanted);
			/* a text has no tiers, so what is final is not */
			if (!has_system_denial(policy) &&
			    verdict != sb_decide_connect(text, &peer).verdict)
				fail_msg("round %u: %s, as text", round, wanted);
			/* off is off, and no lookup goes where nothing may */
			if (sb_network_of(policy) == SB_NETWORK_OFF)
				assert_int_equal(verdict, SB_DENY);
			if (peer.name[0] && verdict == SB_ALLOW)
				assert_int_equal(sb_decide_lookup(policy, peer.name), SB_ALLOW);
			sb_peer_print(&peer, printed);
			again = peer_of(printed);
			assert_int_equal(verdict, sb_decide_connect(policy, &again).verdict);
		}
		sb_policy_free(policy);
		sb_policy_free(bytes);
		sb_policy_free(text);
	}
}

static void random_addresses_have_one_class(void **state)
{
	(void)state;
	unit_random_state = 20;
	for (unsigned i = 0; i < 20000; i++) {
		unsigned char bytes[16];
		char text[SB_HOST_ADDRESS_SIZE];
		struct sb_address four, six, again;

		for (size_t k = 0; k < sizeof bytes; k++)
			bytes[k] = (unsigned char)unit_below(256);
		if (unit_below(2))
			memcpy(bytes + 12, (unsigned char[]){169, 254, 169, 254}, unit_below(5));
		four = sb_address_make(AF_INET, bytes + 12);
		/* however it is wrapped, it is what it is */
		memset(bytes, 0, 10);
		memset(bytes + 10, 0xff, 2);
		six = sb_address_make(AF_INET6, bytes);
		assert_true(sb_address_equal(&four, &six));
		memcpy(bytes, (unsigned char[]){0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, 12);
		six = sb_address_make(AF_INET6, bytes);
		assert_int_equal(sb_address_class(&six), sb_address_class(&four));
		sb_address_print(&six, text);
		assert_true(sb_address_parse(text, strlen(text), &again));
		assert_true(sb_address_equal(&six, &again));
		for (unsigned bits = 0; bits <= 128; bits += 8)
			assert_true(sb_address_within(&six, bits, &again));
		again.bytes[15] ^= 1;
		assert_false(sb_address_within(&six, 128, &again));
		assert_true(sb_address_within(&six, 127, &again));
	}
}

static void random_bytes_are_no_host_or_come_back(void **state)
{
	static const char bytes[] = "ab0A19.:*[]/-_@ud p\xc3x";

	(void)state;
	unit_random_state = 21;
	for (unsigned i = 0; i < 100000; i++) {
		struct sb_peer_pattern pattern, again;
		char text[24];
		unsigned length = unit_below(sizeof text);

		for (unsigned k = 0; k < length; k++)
			text[k] = bytes[unit_below(sizeof bytes - 1)];
		text[length] = '\0';
		if (sb_peer_pattern_parse(text, &pattern, NULL) != SB_OK)
			continue;
		assert_int_equal(sb_peer_pattern_parse(pattern.text, &again, NULL), SB_OK);
		assert_string_equal(pattern.text, again.text);
		assert_int_equal(sb_peer_pattern_weight(&pattern), sb_peer_pattern_weight(&again));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(random_rules_decide_as_described_and_come_back),
	cmocka_unit_test(random_addresses_have_one_class),
	cmocka_unit_test(random_bytes_are_no_host_or_come_back),
};

UNIT_MAIN("network random")
