#include "audit/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/each.h"
#include "base/escape.h"
#include "base/json.h"

static const char *const event_names[SB_EVENT_COUNT] = {
	"start", "ask",  "answer", "deny",    "grant", "perform",
	"note",  "exit", "revoke", "connect", "allow",
};

static const char *const counter_names[] = {"seen", "allowed", "denied", "asked", "approved"};

#define COUNTERS (sizeof counter_names / sizeof counter_names[0])
#define OPS 4

_Static_assert(sizeof(struct sb_counters) == sizeof(unsigned long[COUNTERS][OPS]),
	       "counters are read and written as a table");

enum type { TEXT, UNSIGNED, INT, WORDS, STATUS, COUNTS };

/* What may stand between "event" and "hash", in the order in which it does. */
static const struct field {
	const char *key;
	enum type type;
	size_t offset;
} fields[] = {
#define FIELD(key, type, member)                                                                   \
	{                                                                                          \
		key, type, offsetof(struct sb_record, member)                                      \
	}
#define EVENT(name, type, none) FIELD(#name, type, event.name)
	FIELD("name", TEXT, name),
	EVENT(question, UNSIGNED, ),
	SB_NAMED(EVENT, TEXT, , op, act, path, given, target, host),
	EVENT(port, UNSIGNED, ),
	SB_NAMED(EVENT, TEXT, , protocol, address, tls_name),
	SB_NAMED(EVENT, UNSIGNED, , sent, received, milliseconds),
	SB_NAMED(EVENT, TEXT, , program, worker),
	EVENT(process, INT, ),
	SB_NAMED(EVENT, TEXT, , rule, verdict, answer, by, note),
	EVENT(error, INT, ),
	EVENT(content, TEXT, ),
	EVENT(command, WORDS, ),
	SB_NAMED(EVENT, TEXT, , directory, mode, layers, policy_hash),
	EVENT(status, STATUS, ),
	EVENT(counters, COUNTS, ),
	FIELD("cut", UNSIGNED, cut),
#undef EVENT
#undef FIELD
};

#define FIELDS (sizeof fields / sizeof fields[0])

_Static_assert(sizeof(pid_t) == sizeof(int), "a process id is read as an int");

bool sb_record_link(const char *bytes, size_t length, char out_hash[SB_SHA256_HEX],
		    unsigned long *out_seq)
{
	static const char first[] = "{\"v\":1,\"time\":\"",
			  number[] = ",\"seq\":", last[] = ",\"hash\":\"";
	const size_t head = 64; /* where the number begins, and the least that follows it */
	const char *tail, *hash, *at;
	char *end;

	if (length < SB_RECORD_TAIL + head || memcmp(bytes, first, sizeof first - 1) != 0)
		return false;
	tail = bytes + length - SB_RECORD_TAIL;
	hash = tail + sizeof last - 1;
	at = memmem(bytes, head, number, sizeof number - 1);
	if (!at || memcmp(tail, last, sizeof last - 1) != 0 || memcmp(hash + 64, "\"}", 2) != 0)
		return false;
	at += sizeof number - 1;
	if (*at < '1' || *at > '9')
		return false;
	*out_seq = strtoul(at, &end, 10); /* ends at the tail's comma at the latest */
	memcpy(out_hash, hash, 64);
	out_hash[64] = '\0';
	return *end == ',' && strspn(out_hash, "0123456789abcdef") == 64;
}

bool sb_record_is_static(const struct sb_record *start)
{
	/* sb_layers_describe() */
	return start->event.layers && !strstr(start->event.layers, "supervisor");
}

const char *sb_event_name(enum sb_event_kind kind)
{
	return event_names[kind];
}

void sb_time_print(int64_t time_us, char out[SB_TIME_SIZE])
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;

	if (time_us < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900) {
		seconds = 0; /* a clock that is far off must not stop the log */
		time_us = 0;
		gmtime_r(&seconds, &tm);
	}
	snprintf(out, SB_TIME_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
		 (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
		 (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
		 (unsigned)tm.tm_sec % 100, (unsigned)(time_us % 1000000));
}

static bool is_digits(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return length > 0;
}

bool sb_session_valid(const char *id, size_t length)
{
	if (length < sizeof "20261115T180301-1-9f3c" - 1 || length >= SB_SESSION_SIZE)
		return false;
	for (size_t i = length - 4; i < length; i++)
		if (!strchr("0123456789abcdef", id[i]) || !id[i])
			return false;
	return is_digits(id, 8) && id[8] == 'T' && is_digits(id + 9, 6) && id[15] == '-' &&
	       is_digits(id + 16, length - 21) && id[length - 5] == '-';
}

/* The number that these digits make; -1: they are none. */
static int digits(const char *text, size_t length)
{
	int value = 0;

	if (!is_digits(text, length))
		return -1;
	for (size_t i = 0; i < length; i++)
		value = value * 10 + (text[i] - '0');
	return value;
}

/* From where in text year, month, day, hour, minute and second stand. */
static int64_t read_time(const char *text, const unsigned char at[6])
{
	struct tm tm = {.tm_year = digits(text + at[0], 4) - 1900,
			.tm_mon = digits(text + at[1], 2) - 1,
			.tm_mday = digits(text + at[2], 2),
			.tm_hour = digits(text + at[3], 2),
			.tm_min = digits(text + at[4], 2),
			.tm_sec = digits(text + at[5], 2)};

	return (int64_t)timegm(&tm) * 1000000;
}

int64_t sb_session_begin(const char *id)
{
	static const unsigned char at[] = {0, 4, 6, 9, 11, 13};

	return read_time(id, at);
}

/* --- writing ----------------------------------------------------------------- */

/* At most limit bytes of text, whole characters of it. */
static size_t cut_length(const char *text, size_t length, size_t limit)
{
	if (length <= limit)
		return length;
	for (size_t back = 0; back < 4 && back < limit; back++)
		if (((unsigned char)text[limit - back] & 0xc0) != 0x80)
			return limit - back;
	return limit; /* no UTF-8 anyway */
}

static unsigned long print_text(struct sb_json *json, const char *text, size_t limit)
{
	size_t length = strlen(text), kept = cut_length(text, length, limit);

	sb_json_bytes(json, text, kept);
	return length - kept;
}

static unsigned long print_words(struct sb_json *json, const char *const *words)
{
	size_t left = SB_RECORD_WORDS_MAX;
	unsigned long cut = 0;

	sb_json_open(json, '[');
	for (size_t i = 0; words[i]; i++) {
		size_t length = strlen(words[i]);

		if (left == 0) {
			cut += length +
			       1; /* a word costs its end as well: empty ones do not go free */
			continue;
		}
		cut += print_text(json, words[i], left);
		left -= length + 1 < left ? length + 1 : left;
	}
	sb_json_close(json, ']');
	return cut;
}

static void print_counters(struct sb_json *json, const struct sb_counters *counters)
{
	const unsigned long *number = counters->seen;

	sb_json_open(json, '{');
	for (size_t i = 0; i < COUNTERS; i++) {
		sb_json_key(json, counter_names[i]);
		sb_json_open(json, '[');
		for (size_t op = 0; op < OPS; op++)
			sb_json_int(json, (long)*number++);
		sb_json_close(json, ']');
	}
	sb_json_close(json, '}');
}

/* One field, if it applies; returns how many bytes had to be cut. */
static unsigned long print_field(struct sb_json *json, const struct sb_record *record,
				 const struct field *field)
{
	const void *at = (const char *)record + field->offset;
	const void *pointer = NULL;

	switch (field->type) {
	case UNSIGNED:
		if (*(const unsigned long *)at)
			sb_json_pair_int(json, field->key, (long)*(const unsigned long *)at);
		return 0;
	case INT:
		if (*(const int *)at)
			sb_json_pair_int(json, field->key, *(const int *)at);
		return 0;
	case STATUS:
		if (record->event.has_status)
			sb_json_pair_int(json, field->key, *(const int *)at);
		return 0;
	case TEXT:
	case WORDS:
	case COUNTS:
		break;
	}
	memcpy(&pointer, at, sizeof pointer);
	if (!pointer)
		return 0;
	sb_json_key(json, field->key);
	if (field->type == TEXT)
		return print_text(json, pointer, SB_RECORD_TEXT_MAX);
	if (field->type == WORDS)
		return print_words(json, pointer);
	print_counters(json, pointer);
	return 0;
}

void sb_record_print(const struct sb_record *record, struct sb_buf *out)
{
	unsigned long cut = record->cut;
	char time[SB_TIME_SIZE];
	struct sb_json json;

	sb_time_print(record->time_us, time);
	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair_int(&json, "v", 1);
	sb_json_pair(&json, "time", time);
	sb_json_pair_int(&json, "seq", (long)record->seq);
	if (record->lost)
		sb_json_pair_int(&json, "lost", (long)record->lost);
	sb_json_pair(&json, "session", record->session);
	sb_json_pair(&json, "event", event_names[record->event.kind]);
	for (size_t i = 0; i < FIELDS - 1; i++) /* all but "cut", which is known only now */
		cut += print_field(&json, record, &fields[i]);
	if (cut)
		sb_json_pair_int(&json, "cut", (long)cut);
}

void sb_record_print_tail(const char *hash, struct sb_buf *out)
{
	sb_buf_printf(out, ",\"hash\":\"%s\"}\n", hash);
}

/* --- reading ----------------------------------------------------------------- */

struct reader {
	const char *at, *end;
	char *memory; /* where the next string goes: what is read is never longer than its text */
	struct sb_record *record;
};

static bool take(struct reader *reader, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, text, length) != 0)
		return false;
	reader->at += length;
	return true;
}

static bool take_hex4(struct reader *reader, unsigned *out)
{
	unsigned value = 0;

	if (reader->end - reader->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = strchr(hex, reader->at[i]);

		if (!digit || !*digit)
			return false;
		value = value << 4 | (unsigned)(digit - hex);
	}
	reader->at += 4;
	*out = value;
	return true;
}

/* What follows a backslash, as base/json.c writes it; NULL: it does not. */
static char *take_escape(struct reader *reader, char *to)
{
	unsigned point, low;

	if (take(reader, "\"") || take(reader, "\\")) {
		*to++ = reader->at[-1];
		return to;
	}
	if (!take(reader, "u") || !take_hex4(reader, &point) || point == 0)
		return NULL;
	if (point >= 0xdc80 && point <= 0xdcff) { /* a byte that is no UTF-8 */
		*to++ = (char)(point & 0xff);
		return to;
	}
	if (point >= 0xd800 && point <= 0xdbff) {
		if (!take(reader, "\\u") || !take_hex4(reader, &low) || low < 0xdc00 ||
		    low > 0xdfff)
			return NULL;
		point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
	} else if (point >= 0xdc00 && point <= 0xdfff) {
		return NULL;
	}
	return to + sb_utf8_put(to, point);
}

/* A string, unescaped into the record's memory. */
static bool take_string(struct reader *reader, const char **out)
{
	char *to = reader->memory;

	if (!take(reader, "\""))
		return false;
	while (reader->at < reader->end && *reader->at != '"') {
		size_t step = sb_utf8_length(reader->at, (size_t)(reader->end - reader->at));

		if (*reader->at == '\\') {
			reader->at++;
			to = take_escape(reader, to);
			if (!to)
				return false;
			continue;
		}
		if (step == 0 || (unsigned char)*reader->at < 0x20 || *reader->at == 0x7f)
			return false;
		while (step--) /* memcpy() of a byte or two costs more */
			*to++ = *reader->at++;
	}
	if (!take(reader, "\""))
		return false;
	*to++ = '\0';
	*out = reader->memory;
	reader->memory = to;
	return true;
}

/* A whole number without a sign, as printf() writes it. */
static bool take_unsigned(struct reader *reader, unsigned long *out)
{
	const char *start = reader->at;
	unsigned long value = 0;

	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') {
		unsigned long digit = (unsigned long)(*reader->at++ - '0');

		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value) || value > LONG_MAX)
			return false;
	}
	*out = value;
	return reader->at > start && (reader->at == start + 1 || *start != '0');
}

static bool take_int(struct reader *reader, int *out)
{
	bool negative = take(reader, "-");
	unsigned long value;

	if (!take_unsigned(reader, &value) || value > INT_MAX || (negative && value == 0))
		return false;
	*out = negative ? -(int)value : (int)value;
	return true;
}

/* Words live behind each other in the memory; their list is made once their number is known. */
static bool take_words(struct reader *reader, const char *const **out)
{
	const char *first = reader->memory, *word;
	const char **list;
	size_t count = 0;

	if (!take(reader, "["))
		return false;
	while (!take(reader, "]")) {
		if ((count && !take(reader, ",")) || !take_string(reader, &word))
			return false;
		count++;
	}
	list = calloc(count + 1, sizeof *list);
	if (!list)
		return false;
	word = first;
	for (size_t i = 0; i < count; i++) {
		list[i] = word;
		word += strlen(word) + 1;
	}
	*out = list;
	return true;
}

static bool take_counters(struct reader *reader, struct sb_counters *out)
{
	unsigned long *number = out->seen;

	for (size_t i = 0; i < COUNTERS; i++) {
		if (!take(reader, i ? ",\"" : "{\"") || !take(reader, counter_names[i]) ||
		    !take(reader, "\":["))
			return false;
		for (size_t op = 0; op < OPS; op++)
			if ((op && !take(reader, ",")) || !take_unsigned(reader, number++))
				return false;
		if (!take(reader, "]"))
			return false;
	}
	return take(reader, "}");
}

static bool take_value(struct reader *reader, const struct field *field)
{
	struct sb_record *record = reader->record;
	void *at = (char *)record + field->offset;
	const char *text;

	switch (field->type) {
	case TEXT:
		if (!take_string(reader, &text))
			return false;
		memcpy(at, &text, sizeof text);
		return true;
	case UNSIGNED:
		return take_unsigned(reader, at) && *(unsigned long *)at != 0;
	case INT:
		return take_int(reader, at) && *(int *)at != 0;
	case STATUS:
		record->event.has_status = true;
		return take_int(reader, at);
	case WORDS:
		return take_words(reader, &record->event.command);
	case COUNTS:
		record->event.counters = &record->counters;
		return take_counters(reader, &record->counters);
	}
	return false;
}

static bool take_key(struct reader *reader, const char *key)
{
	const char *before = reader->at;

	if (take(reader, ",\"") && take(reader, key) && take(reader, "\":"))
		return true;
	reader->at = before;
	return false;
}

static bool take_time(struct reader *reader)
{
	static const char form[] = "2026-11-15T18:03:01.000123Z";
	static const unsigned char at[] = {0, 5, 8, 11, 14, 17};
	char again[SB_TIME_SIZE];
	const char *text;

	if (!take_string(reader, &text) || strlen(text) != sizeof form - 1)
		return false;
	reader->record->time_us = read_time(text, at) + digits(text + 20, 6);
	/* what was no time does not print the same again */
	sb_time_print(reader->record->time_us, again);
	return strcmp(text, again) == 0;
}

static bool take_event(struct reader *reader)
{
	const char *name;

	if (!take_string(reader, &name))
		return false;
	for (int kind = 0; kind < SB_EVENT_COUNT; kind++) {
		if (strcmp(name, event_names[kind]) == 0) {
			reader->record->event.kind = (enum sb_event_kind)kind;
			return true;
		}
	}
	return false;
}

static bool take_head(struct reader *reader)
{
	struct sb_record *record = reader->record;
	const char *session;

	if (!take(reader, "{\"v\":1") || !take_key(reader, "time") || !take_time(reader) ||
	    !take_key(reader, "seq") || !take_unsigned(reader, &record->seq) || record->seq == 0)
		return false;
	if (take_key(reader, "lost") &&
	    (!take_unsigned(reader, &record->lost) || record->lost == 0))
		return false;
	if (!take_key(reader, "session") || !take_string(reader, &session) ||
	    !sb_session_valid(session, strlen(session)))
		return false;
	memcpy(record->session, session, strlen(session) + 1);
	return take_key(reader, "event") && take_event(reader);
}

static bool take_hash(struct reader *reader)
{
	const char *hash;

	if (!take_key(reader, "hash") || !take_string(reader, &hash) ||
	    strlen(hash) != SB_SHA256_HEX - 1 ||
	    strspn(hash, "0123456789abcdef") != SB_SHA256_HEX - 1)
		return false;
	memcpy(reader->record->hash, hash, SB_SHA256_HEX);
	return take(reader, "}") && reader->at == reader->end;
}

static bool take_record(struct reader *reader)
{
	if (!take_head(reader))
		return false;
	for (size_t i = 0; i < FIELDS; i++)
		if (take_key(reader, fields[i].key) && !take_value(reader, &fields[i]))
			return false;
	return take_hash(reader);
}

int sb_record_parse(const char *bytes, size_t length, struct sb_record *out, struct sb_error *err)
{
	struct sb_record record = {0};
	struct reader reader = {.at = bytes, .end = bytes + length, .record = &record};

	if (length > SB_RECORD_MAX)
		return sb_fail(err, SB_E_INVALID, 0, "no record: longer than %d bytes",
			       SB_RECORD_MAX);
	record.memory = reader.memory = malloc(length + 1);
	if (!record.memory)
		return sb_no_memory(err);
	if (!take_record(&reader)) {
		sb_record_done(&record);
		return sb_fail(err, SB_E_INVALID, 0, "no record: byte %zu is not expected",
			       (size_t)(reader.at - bytes) + 1);
	}
	*out = record;
	if (out->event.counters)
		out->event.counters = &out->counters;
	return SB_OK;
}

void sb_record_done(struct sb_record *record)
{
	if (!record)
		return;
	if (record->memory)
		free((void *)record->event.command);
	free(record->memory);
	*record = (struct sb_record){0};
}
