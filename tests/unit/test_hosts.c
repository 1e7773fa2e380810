/* test_hosts.c - questions and answers about hosts, what they become, and what is told at the end. */
#include "tree.h"

#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "consent/grants.h"
#include "consent/hosts.h"
#include "consent/override.h"
#include "consent/session.h"
#include "consent/summary.h"

static struct sb_host_wish wish_of(const char *text, const char *found, pid_t process)
{
	struct sb_host_wish wish = {.process = process, .started = 7};

	assert_int_equal(sb_peer_parse(text, &wish.peer, NULL), SB_OK);
	if (found)
		assert_true(sb_address_parse(found, strlen(found), &wish.found));
	return wish;
}

static void asks(const char *text, const char *found, const char *about, const char *note)
{
	struct sb_host_wish wish = wish_of(text, found, 1);
	struct sb_host_words words;
	struct sb_question question = {.id = 1};

	sb_host_question(&wish, &words, &question);
	assert_int_equal(question.about, SB_ABOUT_HOST);
	assert_string_equal(question.directory, about);
	if (note)
		assert_string_equal(question.notes[0], note);
	else
		assert_null(question.notes[0]);
	assert_non_null(question.rule);
	assert_non_null(sb_question_means(&question));
}

static void the_question_says_what_the_address_is(void **state)
{
	(void)state;
	asks("GitHub.com", NULL, "github.com:443", NULL);
	asks("udp:ntp.example:123", NULL, "udp:ntp.example:123", NULL);
	asks("cdn.example:80", "169.254.169.254", "cdn.example:80 at 169.254.169.254",
	     "cdn.example is 169.254.169.254: cloud metadata");
	asks("cdn.example", "::ffff:10.0.0.1", "cdn.example:443 at 10.0.0.1",
	     "cdn.example is 10.0.0.1: a private address");
	asks("10.0.0.1:22", NULL, "10.0.0.1:22", "10.0.0.1: a private address");
	asks("8.8.8.8:53", NULL, "8.8.8.8:53", "it is an address; no name was looked up for it");
	asks("[::1]:5432", NULL, "localhost:5432",
	     "it is this machine itself, with whatever listens there");
	asks("xn--ggle-55da.com", NULL, "xn--ggle-55da.com:443",
	     "it has letters of other scripts (xn--), and may look like a name that you know");
}

static void an_answer_covers_what_was_asked(void **state)
{
	struct sb_grants *grants = sb_grants_new("/");
	struct sb_host_wish first = wish_of("a.b", NULL, 1), other = wish_of("a.b", NULL, 2);
	struct sb_host_wish port = wish_of("a.b:80", NULL, 1), udp = wish_of("udp:a.b", NULL, 1);
	struct sb_host_wish found = wish_of("a.b", "10.0.0.1", 1);
	struct sb_host_wish again = first;

	(void)state;
	assert_int_equal(sb_grants_find_host(grants, &first), SB_ANSWER_NONE);
	sb_grants_remember_host(grants, &first, SB_ANSWER_ONCE, NULL);
	assert_int_equal(sb_grants_find_host(grants, &first), SB_ANSWER_ONCE);
	again.started = 8; /* another process with the same number */
	assert_int_equal(sb_grants_find_host(grants, &again), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_find_host(grants, &other), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_find_host(grants, &port), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_find_host(grants, &udp), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_find_host(grants, &found), SB_ANSWER_NONE);
	sb_grants_exited(grants, 1);
	assert_int_equal(sb_grants_find_host(grants, &first), SB_ANSWER_NONE);

	sb_grants_remember_host(grants, &first, SB_ANSWER_DIRECTORY, NULL);
	assert_int_equal(sb_grants_find_host(grants, &other), SB_ANSWER_DIRECTORY);
	assert_int_equal(sb_grants_find_host(grants, &port), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_find_host(grants, &found), SB_ANSWER_NONE);
	sb_grants_remember_host(grants, &found, SB_ANSWER_DENY, NULL);
	assert_int_equal(sb_grants_find_host(grants, &found), SB_ANSWER_DENY);
	assert_int_equal(sb_grants_find_host(grants, &first), SB_ANSWER_DIRECTORY);
	sb_grants_free(grants);
}

static void a_no_never_gives_way(void **state)
{
	struct sb_grants *grants = sb_grants_new("/");
	struct sb_host_wish no = wish_of("no.example", NULL, 1);

	(void)state;
	sb_grants_remember_host(grants, &no, SB_ANSWER_DENY, NULL);
	for (int i = 0; i < 3000; i++) {
		struct sb_host_wish one = wish_of("a.b", NULL, i);

		snprintf(one.peer.name, sizeof one.peer.name, "h%d.example", i);
		sb_grants_remember_host(grants, &one, SB_ANSWER_ONCE, NULL);
	}
	assert_int_equal(sb_grants_find_host(grants, &no), SB_ANSWER_DENY);
	for (int i = 0; i < 3000; i++) {
		struct sb_host_wish one = wish_of("a.b", NULL, i);

		snprintf(one.peer.name, sizeof one.peer.name, "d%d.example", i);
		sb_grants_remember_host(grants, &one, SB_ANSWER_DENY, NULL);
	}
	no = wish_of("never.asked", NULL,
		     1); /* more than can be kept: what is not allowed is denied */
	assert_int_equal(sb_grants_find_host(grants, &no), SB_ANSWER_DENY);
	sb_grants_free(grants);
}

struct seen {
	size_t count;
	unsigned long number;
	char words[256];
};

static void see(void *context, const struct sb_standing *standing)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(4096);
	struct seen *seen = context;

	seen->count++;
	seen->number = standing->number;
	sb_standing_words(standing, &words);
	snprintf(seen->words, sizeof seen->words, "%s", words.data);
}

static void answers_are_seen_and_taken_back(void **state)
{
	struct sb_grants *grants = sb_grants_new("/");
	struct sb_host_wish wish = wish_of("a.b", NULL, 1);
	unsigned long changes = sb_grants_changes(grants);
	struct seen seen = {0};

	(void)state;
	sb_grants_remember_host(grants, &wish, SB_ANSWER_DIRECTORY, NULL);
	assert_true(sb_grants_changes(grants) > changes);
	sb_grants_each(grants, see, &seen);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.words, "allowed for this run: connect to a.b:443");
	assert_true(sb_grants_take_back(grants, seen.number));
	assert_false(sb_grants_take_back(grants, seen.number));
	assert_int_equal(sb_grants_find_host(grants, &wish), SB_ANSWER_NONE);
	sb_grants_free(grants);
}

static void always_is_a_rule(void **state)
{
	char *root = *state;
	struct sb_home home = {.home = root, .cwd = root, .config_dir = strdup(in(root, "config"))};
	struct sb_host_wish wish = wish_of("cdn.example", NULL, 1);
	char *file = NULL, *rule = NULL, text[1024] = "";
	struct sb_error err = {0};
	FILE *stream;

	for (int i = 0; i < 2; i++) { /* once is enough */
		free(file);
		free(rule);
		if (sb_host_always(&home, &wish, &file, &rule, &err) != SB_OK)
			fail_msg("%s", err.message);
		assert_string_equal(rule, "connect cdn.example:443");
	}
	free(file);
	free(rule);
	wish = wish_of("cdn.example", "2001:db8::1", 1);
	assert_int_equal(sb_host_always(&home, &wish, &file, &rule, &err), SB_OK);
	stream = fopen(file, "r+");
	assert_true(fread(text, 1, sizeof text - 1, stream) > 0);
	assert_string_equal(text, "connect cdn.example:443\nconnect [2001:db8::1]:443\n");
	fputs("ask connect X.example:443", stream); /* a line without its end */
	fclose(stream);
	free(file);
	free(rule);
	wish = wish_of("x.example", NULL, 1);
	assert_int_equal(sb_host_always(&home, &wish, &file, &rule, &err), SB_E_CONFLICT);
	free(home.config_dir);
}

static void a_session_keeps_them(void **state)
{
	char *root = *state;
	struct sb_host_wish yes = wish_of("a.b", NULL, 1), no = wish_of("udp:c.d:53", NULL, 1);
	struct sb_host_wish denied = wish_of("e.f", NULL, 1);
	struct sb_policy *policy = sb_policy_new();
	struct sb_connect_rule rule = {SB_DENY, SB_TIER_FLAG, "*.f", "here"};
	struct sb_session *session;

	assert_int_equal(sb_session_open(root, "work", &session, NULL), SB_OK);
	assert_int_equal(sb_session_keep_host(session, &yes, SB_ANSWER_ONCE, NULL), SB_OK);
	assert_int_equal(sb_session_keep_host(session, &yes, SB_ANSWER_DIRECTORY, NULL), SB_OK);
	assert_int_equal(sb_session_keep_host(session, &no, SB_ANSWER_DENY, NULL), SB_OK);
	assert_int_equal(sb_session_keep_host(session, &denied, SB_ANSWER_DIRECTORY, NULL), SB_OK);
	sb_session_free(session);

	sb_policy_set(policy, SB_SETTING_NETWORK, SB_NETWORK_ASK);
	assert_int_equal(sb_connect_add(policy, &rule, NULL), SB_OK);
	assert_int_equal(sb_session_open(root, "work", &session, NULL), SB_OK);
	assert_int_equal(sb_session_apply(session, policy, root, NULL, NULL, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	assert_int_equal(sb_decide_connect(policy, &yes.peer).verdict, SB_ALLOW);
	assert_int_equal(sb_decide_connect(policy, &yes.peer).rule->tier, SB_TIER_SESSION);
	assert_int_equal(sb_decide_connect(policy, &no.peer).verdict, SB_DENY);
	assert_int_equal(sb_decide_connect(policy, &denied.peer).verdict, SB_DENY);
	sb_session_free(session);
	sb_policy_free(policy);
}

static void a_person_adds_and_takes_back(void **state)
{
	static const struct sb_connect_rule allows = {SB_ALLOW, SB_TIER_FLAG, "ok.example", "here"};
	static const struct sb_connect_rule denies = {SB_DENY, SB_TIER_FLAG, "no.example", "here"};
	struct sb_policy *policy = sb_policy_new();
	struct sb_home home = {.home = "/", .cwd = "/"};
	struct sb_override override = {
		.policy = policy, .home = &home, .grants = sb_grants_new("/")};
	SB_AUTO_BUF struct sb_buf out = SB_BUF(65536);
	struct sb_host_wish wish = wish_of("a.b", NULL, 1), other = wish_of("c.d:22", NULL, 1);
	struct seen seen = {0};

	(void)state;
	sb_policy_set(policy, SB_SETTING_NETWORK, SB_NETWORK_ASK);
	sb_connect_add(policy, &allows, NULL);
	sb_connect_add(policy, &denies, NULL);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	assert_int_equal(sb_override_add(&override, "connect A.b", &out, NULL), SB_OK);
	assert_string_equal(out.data, "added for this run: connect a.b:443");
	assert_int_equal(sb_grants_find_host(override.grants, &wish), SB_ANSWER_DIRECTORY);
	assert_int_equal(sb_override_add(&override, "deny connect c.d:22", &out, NULL), SB_OK);
	assert_int_equal(sb_grants_find_host(override.grants, &other), SB_ANSWER_DENY);
	assert_int_equal(sb_override_add(&override, "connect ok.example", &out, NULL), SB_OK);
	assert_int_equal(sb_override_add(&override, "connect no.example", &out, NULL),
			 SB_E_CONFLICT);
	assert_int_equal(sb_override_add(&override, "deny connect ok.example", &out, NULL),
			 SB_E_CONFLICT);
	assert_int_equal(sb_override_add(&override, "ask connect x.y", &out, NULL), SB_E_INVALID);
	assert_int_equal(sb_override_add(&override, "connect *.y", &out, NULL), SB_E_INVALID);
	assert_int_equal(sb_override_add(&override, "connect @npm", &out, NULL), SB_E_INVALID);
	sb_grants_each(override.grants, see, &seen);
	assert_int_equal(seen.count, 2);
	out.length = 0;
	assert_int_equal(sb_override_take_back(&override, seen.number, &out, NULL), SB_OK);
	assert_string_equal(out.data, "taken back: denied for this run: connect to c.d:22");
	assert_int_equal(sb_grants_find_host(override.grants, &other), SB_ANSWER_NONE);
	sb_grants_free(override.grants);
	sb_policy_free(policy);
}

static void contact(struct sb_summary *summary, const char *text, bool reached, const char *by,
		    const struct sb_connect_rule *rule)
{
	struct sb_contact contact = {
		.reached = reached, .program = "cu\x1brl", .by = by, .rule = rule};

	assert_int_equal(sb_peer_parse(text, &contact.peer, NULL), SB_OK);
	sb_summary_contact(summary, &contact);
}

static void the_end_tells_what_was_refused(void **state)
{
	static const struct sb_connect_rule asks_rule = {SB_ASK, SB_TIER_GLOBAL, "*.corp",
							 "global"};
	static const struct sb_connect_rule final = {SB_DENY, SB_TIER_SYSTEM, "*.bad", "system"};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(65536), rules = SB_BUF(65536),
				  report = SB_BUF(65536);
	struct sb_summary *summary = sb_summary_new("/root");
	struct sb_json json;

	(void)state;
	contact(summary, "ok.example", true, NULL, NULL);
	sb_summary_text(summary, 20, &text);
	assert_true(sb_summary_is_empty(summary));
	assert_null(text.data && text.length ? text.data : NULL);
	contact(summary, "a.b", false, "nobody", NULL);
	contact(summary, "a.b", false, "nobody", NULL);
	contact(summary, "x.corp:22", false, "terminal", &asks_rule);
	contact(summary, "x.bad", false, NULL, &final);
	assert_int_equal(sb_summary_count(summary), 4);
	assert_true(sb_summary_nobody(summary));
	sb_summary_text(summary, 20, &text);
	assert_non_null(strstr(text.data, "4 connections were refused"));
	assert_non_null(strstr(text.data,
			       "  connect to 'a.b:443' (2 times; nobody could be asked; no rule "
			       "allows this host)\n      sandbash '--connect=a.b:443' ...\n"));
	assert_non_null(strstr(text.data, "'x.corp:22' (you said no; global)"));
	assert_non_null(strstr(text.data, "no option allows it"));
	assert_null(strchr(text.data, '\x1b'));
	assert_null(strstr(text.data, "TLS"));
	sb_summary_hosts(summary, true, &rules);
	assert_non_null(strstr(rules.data, "connect ok.example:443 "));
	assert_non_null(strstr(rules.data, "connect a.b:443 "));
	assert_null(strstr(rules.data, "corp"));
	assert_null(strstr(rules.data, "bad"));
	assert_null(strchr(rules.data, '\x1b'));
	sb_json_init(&json, &report);
	sb_summary_json(summary, 10, &json);
	assert_non_null(strstr(report.data, "\"--connect=a.b:443\""));
	sb_summary_free(summary);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_question_says_what_the_address_is),
	cmocka_unit_test(an_answer_covers_what_was_asked),
	cmocka_unit_test(a_no_never_gives_way),
	cmocka_unit_test(answers_are_seen_and_taken_back),
	cmocka_unit_test_setup_teardown(always_is_a_rule, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(a_session_keeps_them, tree_setup, tree_teardown),
	cmocka_unit_test(a_person_adds_and_takes_back),
	cmocka_unit_test(the_end_tells_what_was_refused),
};

UNIT_MAIN("hosts")
