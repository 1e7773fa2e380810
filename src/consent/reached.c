#include "consent/reached.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/list.h"
#include "base/words.h"
#include "consent/way.h"

#define MOST 1024 /* hosts with their ports */

struct contact {
	char text[SB_PEER_TEXT_SIZE];
	bool reached;
	bool final;    /* no option allows it */
	bool own_flag; /* what forbids it was said on the command line */
	int proxy;     /* rules allow it, and the proxy does not: its status, or a negative errno */
	char *program, *by, *rule, *variable;
	char *tls; /* rules allow the host, and TLS named this one; "": none to believe; or NULL */
	unsigned long count;
};

void sb_contacts_done(struct sb_contact_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->entries[i].program);
		free(list->entries[i].by);
		free(list->entries[i].rule);
		free(list->entries[i].variable);
		free(list->entries[i].tls);
	}
	free(list->entries);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Of a refusal an earlier answer is a person's as well. */
static const char *who(const char *by)
{
	return by && (strcmp(by, "terminal") == 0 || strcmp(by, "attach") == 0 ||
		      strcmp(by, "grant") == 0)
		       ? "person"
		       : by;
}

void sb_contacts_add(struct sb_contact_list *list, const struct sb_contact *contact)
{
	const struct sb_connect_rule *rule = contact->rule;
	struct contact entry = {.reached = contact->reached, .count = 1, .proxy = contact->proxy};

	sb_peer_print(&contact->peer, entry.text);
	list->refused += !contact->reached;
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].reached == contact->reached &&
		    list->entries[i].proxy == contact->proxy &&
		    sb_text_same(list->entries[i].tls, contact->tls) &&
		    strcmp(list->entries[i].text, entry.text) == 0) {
			list->entries[i].count++;
			return;
		}
	if (list->count >= MOST || !SB_GROW(list->entries, list->count)) {
		list->beyond++;
		return;
	}
	entry.program = copy(contact->program);
	entry.by = copy(who(contact->by));
	entry.tls = copy(contact->tls);
	entry.variable = copy(contact->proxy ? contact->variable : NULL);
	if (rule && rule->verdict != SB_ALLOW) {
		entry.rule = strdup(rule->origin);
		entry.final = rule->tier == SB_TIER_SYSTEM && rule->verdict == SB_DENY;
		entry.own_flag = rule->tier >= SB_TIER_FILE && strcmp(rule->text, entry.text) == 0;
	}
	list->entries[list->count++] = entry;
}

bool sb_contacts_nobody(const struct sb_contact_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].by && strcmp(list->entries[i].by, "nobody") == 0)
			return true;
	return false;
}

static const char *variable_of(const struct contact *entry)
{
	return entry->variable ? entry->variable : "HTTPS_PROXY";
}

static void put_why(const struct contact *entry, struct sb_buf *out)
{
	int proxy = entry->proxy;

	if (entry->tls && *entry->tls)
		sb_buf_printf(out, "the name in TLS was '%s', and not this one", entry->tls);
	else if (entry->tls)
		sb_buf_puts(out, "what began like TLS was no hello with one name, or none");
	else if (!proxy)
		sb_refused_why(entry->by, entry->rule, "no rule allows this host", out);
	else if (proxy == -EPROTONOSUPPORT)
		sb_buf_printf(
			out,
			"%s names a proxy that sandbash does not speak to, which are those with "
			"http://, socks5:// and socks5h://",
			variable_of(entry));
	else if (proxy < 0)
		sb_buf_puts(out, "the proxy cannot be reached, or does not answer");
	else
		sb_buf_printf(out, "the proxy %s (%s%d)",
			      proxy == 407 ? "wants another login" : "does not lead there",
			      proxy < 100 ? "SOCKS reply " : "", proxy);
}

/* What helps against a proxy. */
static void put_proxy_help(const struct contact *entry, struct sb_buf *out)
{
	const char *variable = variable_of(entry);

	if (entry->proxy == 407)
		sb_buf_printf(
			out,
			"the login stands in the variable: %s=SCHEME://USER:PASSWORD@HOST:PORT\n",
			variable);
	else if (entry->proxy > 0)
		sb_buf_puts(out,
			    "name the host in NO_PROXY to go past it, or ask who runs the proxy\n");
	else
		sb_buf_printf(out,
			      "%s says where it is; NO_PROXY names what is reached without it\n",
			      variable);
}

void sb_contacts_text(const struct sb_contact_list *list, size_t lines, struct sb_buf *out)
{
	unsigned long told = 0;
	bool by_rules = false;

	if (!list->refused)
		return;
	sb_buf_printf(out, "sandbash: %lu %s refused; to which host, why, and what allows it:\n",
		      list->refused, list->refused == 1 ? "connection was" : "connections were");
	for (size_t i = 0; i < list->count && lines; i++) {
		const struct contact *entry = &list->entries[i];

		if (entry->reached)
			continue;
		lines--;
		told += entry->count;
		sb_buf_printf(out, "  connect to '%s' (", entry->text);
		if (entry->count > 1)
			sb_buf_printf(out, "%lu times; ", entry->count);
		put_why(entry, out);
		sb_buf_puts(out, entry->tls ? ")\n" : ")\n      ");
		if (entry->tls)
			continue; /* no rule is missing */
		by_rules |= !entry->proxy;
		if (entry->proxy)
			put_proxy_help(entry, out);
		else if (entry->final)
			sb_buf_puts(out, "no option allows it\n");
		else if (entry->own_flag)
			sb_buf_puts(out, "leave out what says so\n");
		else
			sb_buf_printf(out, "sandbash '--connect=%s' ...\n", entry->text);
	}
	if (told < list->refused)
		sb_buf_printf(out, "  and %lu more\n", list->refused - told);
	if (by_rules)
		sb_buf_puts(out, "to allow a host from now on: sandbash --edit, and a line: "
				 "connect HOST\n");
}

void sb_contacts_json(const struct sb_contact_list *list, struct sb_json *json)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct contact *entry = &list->entries[i];
		SB_AUTO_BUF struct sb_buf text = SB_BUF(4 * 4096);

		if (entry->reached)
			continue;
		put_why(entry, &text);
		sb_json_open(json, '{');
		sb_json_pair(json, "operation", "connect");
		sb_json_pair(json, "host", entry->text);
		sb_json_pair_int(json, "count", (long)entry->count);
		if (entry->program)
			sb_json_pair(json, "program", entry->program);
		sb_json_pair(json, "why", text.data);
		sb_json_pair(json, "rule", entry->rule);
		if (entry->by)
			sb_json_pair(json, "by", entry->by);
		sb_json_pair_bool(json, "can_be_allowed",
				  !entry->final && !entry->proxy && !entry->tls);
		if (!entry->final && !entry->own_flag && !entry->proxy && !entry->tls) {
			text.length = 0;
			sb_buf_printf(&text, "--connect=%s", entry->text);
			sb_json_pair(json, "option", text.data);
		}
		sb_json_close(json, '}');
	}
}

void sb_contacts_rules(const struct sb_contact_list *list, bool refused, struct sb_buf *out)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct contact *entry = &list->entries[i];
		size_t start = out->length;

		/* what a rule denies, or a person, is none to learn */
		if (!entry->reached && (!refused || entry->rule || entry->proxy || entry->tls ||
					(entry->by && strcmp(entry->by, "person") == 0)))
			continue;
		sb_buf_printf(out, "connect %s", entry->text);
		do
			sb_buf_putc(out, ' ');
		while (!sb_buf_failed(out) && out->length - start < 40);
		sb_buf_puts(out, "# ");
		sb_escape_append(out, entry->program ? entry->program : "?",
				 strlen(entry->program ? entry->program : "?"));
		sb_buf_putc(out, '\n');
	}
}
