#include "consent/hosts.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "config/edit.h"

#define MAX_ANSWERS 1024 /* by hand */

/* --- asking ------------------------------------------------------------------------------ */

void sb_host_text(const struct sb_host_wish *wish, char out[SB_HOST_TEXT_SIZE])
{
	char peer[SB_PEER_TEXT_SIZE], address[SB_HOST_ADDRESS_SIZE] = "";

	sb_peer_print(&wish->peer, peer);
	if (wish->found.family)
		sb_address_print(&wish->found, address);
	snprintf(out, SB_HOST_TEXT_SIZE, "%s%s%s", peer, *address ? " at " : "", address);
}

/* What the address is, if a person should know; *text is room for it. */
static const char *note_of(const struct sb_host_wish *wish, struct sb_host_words *words)
{
	const struct sb_address *address = wish->found.family   ? &wish->found
					   : wish->peer.name[0] ? NULL
								: &wish->peer.address;
	char shown[SB_HOST_ADDRESS_SIZE];

	if (!address)
		return strcmp(wish->peer.name, SB_HOST_LOCAL) == 0
			       ? "it is this machine itself, with whatever listens there"
			       : NULL;
	if (!wish->found.family && sb_address_class(address) == SB_ADDRESS_PUBLIC)
		return "it is an address; no name was looked up for it";
	sb_address_print(address, shown);
	snprintf(words->note, sizeof words->note, "%s%s%s: %s",
		 wish->found.family ? wish->peer.name : "", wish->found.family ? " is " : "", shown,
		 sb_address_class_text(sb_address_class(address)));
	return words->note;
}

void sb_host_question(const struct sb_host_wish *wish, struct sb_host_words *words,
		      struct sb_question *out)
{
	const char *notes[] = {note_of(wish, words), sb_host_name_note(wish->peer.name)};
	size_t count = 0;

	sb_host_text(wish, words->text);
	sb_peer_print(&wish->peer, words->peer);
	out->op = SB_MODIFY;
	out->verb = wish->peer.protocol == SB_UDP ? "send to" : "connect to";
	out->path = words->peer;
	out->target = NULL;
	out->directory = words->text;
	out->about = SB_ABOUT_HOST;
	out->thing = SB_THING_NODE;
	out->rule = wish->rule           ? wish->rule->origin
		    : wish->found.family ? "a name leads where its owner likes: an address that is "
					   "not the internet's asks"
					 : "no rule allows this host";
	for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
		if (notes[i])
			out->notes[count++] = notes[i];
	out->notes[count] = NULL;
	out->content = NULL;
}

/* --- answers ----------------------------------------------------------------------------- */

void sb_host_rule(const struct sb_host_wish *wish, char out[SB_PEER_TEXT_SIZE])
{
	struct sb_peer at = wish->peer;

	if (wish->found.family)
		at = sb_peer_of_address(at.protocol, &wish->found, at.port);
	sb_peer_print(&at, out);
}

int sb_host_always(const struct sb_home *home, const struct sb_host_wish *wish, char **out_file,
		   char **out_rule, struct sb_error *err)
{
	SB_AUTO_FREE char *file = sb_directory_config(home, home->cwd);
	SB_AUTO_FREE char *rule = NULL;
	char text[SB_PEER_TEXT_SIZE];
	int status;

	sb_host_rule(wish, text);
	if (!file || asprintf(&rule, "connect %s", text) < 0) {
		rule = NULL;
		return sb_no_memory(err);
	}
	status = sb_config_add_host(file, text, err);
	if (status != SB_OK)
		return status;
	*out_file = sb_take_ptr(&file);
	*out_rule = sb_take_ptr(&rule);
	return SB_OK;
}

static bool is_for(const struct sb_host_answer *answer, const struct sb_host_wish *wish)
{
	return answer->answer != SB_ANSWER_ONCE ||
	       (answer->process == wish->process && answer->started == wish->started);
}

enum sb_answer sb_host_list_find(const struct sb_host_list *list, const struct sb_host_wish *wish)
{
	enum sb_answer found = list->full ? SB_ANSWER_DENY : SB_ANSWER_NONE;
	char text[SB_HOST_TEXT_SIZE];

	sb_host_text(wish, text);
	for (size_t i = 0; i < list->count; i++) {
		const struct sb_host_answer *answer = &list->answers[i];

		if (strcmp(answer->text, text) != 0 || !is_for(answer, wish))
			continue;
		if (answer->answer == SB_ANSWER_DENY)
			return SB_ANSWER_DENY;
		found = answer->answer == SB_ANSWER_ONCE ? SB_ANSWER_ONCE : SB_ANSWER_DIRECTORY;
	}
	return found;
}

static void remove_at(struct sb_host_list *list, size_t i)
{
	memmove(list->answers + i, list->answers + i + 1,
		(--list->count - i) * sizeof *list->answers);
}

/* The oldest yes gives way: it is asked again.  A no never does. */
static bool make_room(struct sb_host_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->answers[i].answer != SB_ANSWER_DENY) {
			remove_at(list, i);
			return true;
		}
	return false;
}

int sb_host_list_add(struct sb_host_list *list, unsigned long number,
		     const struct sb_host_wish *wish, enum sb_answer answer, struct sb_error *err)
{
	if (list->count == MAX_ANSWERS && !make_room(list)) {
		list->full = true;
		return sb_fail(err, SB_E_REFUSED, 0, "too many answers about hosts to remember");
	}
	if (!SB_GROW(list->answers, list->count)) {
		list->full |= answer == SB_ANSWER_DENY;
		return sb_no_memory(err);
	}
	list->answers[list->count] = (struct sb_host_answer){.number = number,
							     .answer = answer,
							     .process = wish->process,
							     .started = wish->started};
	sb_host_text(wish, list->answers[list->count++].text);
	return SB_OK;
}

void sb_host_list_exited(struct sb_host_list *list, pid_t process)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->answers[i].answer == SB_ANSWER_ONCE &&
		    list->answers[i].process == process)
			remove_at(list, i);
}

bool sb_host_list_take_back(struct sb_host_list *list, unsigned long number)
{
	bool found = false;

	for (size_t i = list->count; i-- > 0;)
		if (list->answers[i].number == number) {
			remove_at(list, i);
			found = true;
		}
	return found;
}
