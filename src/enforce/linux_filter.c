/*
 * linux_filter.c - the layout of a program:
 *
 *     is it our architecture?     else kill
 *     the tree                    which piece of the numbers is it in?
 *     bodies                      arguments are looked at, for numbers where they matter
 *     answers                     one return for each
 *     long bodies                 each with answers of its own behind it
 *
 * All jumps go forward, and those with a condition reach at most 255 instructions.  A body with
 * many rows would push the answers out of everybody's reach, so it stands behind them, and among
 * the bodies is only a jump to it: one without a condition reaches any distance.
 */
#include "enforce/linux_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "sandbash has no system call table for this architecture"
#endif

#define LAST_NUMBER 512 /* more than any kernel has */

/* Where a jump may lead: an answer, or the rows of a number that ask for arguments. */
struct target {
	uint32_t answer;
	const struct sb_filter_row *const *rows; /* NULL: an answer */
	size_t count;
	size_t at; /* the instruction, once it is there */
};

#define ALLOW 0 /* the first target */

/* Numbers from here up to the next piece are treated alike. */
struct piece {
	uint32_t from;
	unsigned target;
};

/* A jump that is to lead to a target. */
struct jump {
	uint16_t at;
	uint16_t target;
	bool if_true;
};

/* Twice what the table needs: every page of the stack that is touched takes 3 us. */
#define MAX_TARGETS 64
#define MAX_PIECES 160
#define MAX_JUMPS 320

#define LONG_BODY 16   /* rows */
#define MOST_SINGLES 3 /* more, and finding one takes longer than in a tree */

struct program {
	struct sock_filter *out;
	size_t count, max;
	bool broken; /* something is too many, or a jump reaches too far */
	struct target targets[MAX_TARGETS];
	size_t target_count;
	struct piece pieces[MAX_PIECES];
	size_t piece_count;
	struct jump jumps[MAX_JUMPS];
	size_t jump_count;
};

static size_t emit(struct program *program, uint16_t code, uint32_t k)
{
	if (program->count < program->max)
		program->out[program->count] = (struct sock_filter){.code = code, .k = k};
	else
		program->broken = true;
	return program->count++;
}

static void load(struct program *program, size_t offset)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Let the conditional jump at index go to instruction to. */
static void point(struct program *program, size_t index, bool if_true, size_t to)
{
	size_t far = to - index - 1;

	if (far > 0xff || index >= program->max) {
		program->broken = true;
		return;
	}
	if (if_true)
		program->out[index].jt = (uint8_t)far;
	else
		program->out[index].jf = (uint8_t)far;
}

static void point_later(struct program *program, size_t index, bool if_true, size_t target)
{
	if (program->jump_count == MAX_JUMPS || index > UINT16_MAX) {
		program->broken = true;
		return;
	}
	program->jumps[program->jump_count++] = (struct jump){
		.at = (uint16_t)index, .target = (uint16_t)target, .if_true = if_true};
}

static size_t add_target(struct program *program, const struct target *target)
{
	if (program->target_count == MAX_TARGETS) {
		program->broken = true;
		return ALLOW;
	}
	program->targets[program->target_count] = *target;
	return program->target_count++;
}

static size_t find_answer(struct program *program, uint32_t answer)
{
	for (size_t i = 0; i < program->target_count; i++)
		if (!program->targets[i].rows && program->targets[i].answer == answer)
			return i;
	return add_target(program, &(struct target){.answer = answer});
}

static bool same_treatment(const struct sb_filter_row *a, const struct sb_filter_row *b)
{
	if (a->answer != b->answer)
		return false;
	for (size_t i = 0; i < SB_FILTER_CONDITIONS; i++)
		if (a->conditions[i].test != b->conditions[i].test ||
		    a->conditions[i].argument != b->conditions[i].argument ||
		    a->conditions[i].value != b->conditions[i].value)
			return false;
	return true;
}

/* The target for a number with these rows. */
static size_t find_target(struct program *program, const struct sb_filter_row *const *rows,
			  size_t count)
{
	if (rows[0]->conditions[0].test == SB_FILTER_ALWAYS)
		return find_answer(program, rows[0]->answer);
	for (size_t i = 0; i < program->target_count; i++) {
		const struct target *target = &program->targets[i];
		size_t same = 0;

		while (target->rows && target->count == count && same < count &&
		       same_treatment(target->rows[same], rows[same]))
			same++;
		if (same == count)
			return i;
	}
	return add_target(program, &(struct target){.rows = rows, .count = count});
}

/* From this number on the target is another. */
static void add_piece(struct program *program, uint32_t from, size_t target)
{
	if (program->piece_count && program->pieces[program->piece_count - 1].from == from)
		program->piece_count--; /* there is no gap between two numbers */
	if (program->piece_count && program->pieces[program->piece_count - 1].target == target)
		return;
	if (program->piece_count == MAX_PIECES) {
		program->broken = true;
		return;
	}
	program->pieces[program->piece_count++] =
		(struct piece){.from = from, .target = (unsigned)target};
}

static void cut_into_pieces(struct program *program, const struct sb_filter_row *const *rows,
			    size_t count)
{
	add_piece(program, 0, ALLOW);
	for (size_t i = 0, same; i < count; i += same) {
		uint32_t number = (uint32_t)rows[i]->number;

		for (same = 1; i + same < count && rows[i + same]->number == rows[i]->number;)
			same++;
		add_piece(program, number, find_target(program, rows + i, same));
		add_piece(program, number + 1, ALLOW);
	}
#ifdef X32_BIT
	/* x32 numbers; but -1 is what a tracer leaves to skip a call */
	add_piece(program, X32_BIT, find_answer(program, SECCOMP_RET_KILL_PROCESS));
	add_piece(program, UINT32_MAX, ALLOW);
#endif
}

/* How many numbers the pieces from first to last hold, of those that the kernel tries. */
static size_t weight(const struct program *program, size_t first, size_t end)
{
	uint32_t from = program->pieces[first].from;
	uint32_t to = end < program->piece_count ? program->pieces[end].from : LAST_NUMBER;

	from = from < LAST_NUMBER ? from : LAST_NUMBER;
	to = to < LAST_NUMBER ? to : LAST_NUMBER;
	return to - from;
}

/* The piece before which both sides hold about as many numbers. */
static size_t find_middle(const struct program *program, size_t first, size_t end)
{
	size_t middle = first + 1;

	while (middle + 1 < end && weight(program, first, middle) < weight(program, middle, end))
		middle++;
	return middle;
}

static bool is_single(const struct program *program, size_t piece)
{
	return piece + 1 < program->piece_count &&
	       program->pieces[piece + 1].from == program->pieces[piece].from + 1;
}

/*
 * Are these a few single numbers in the midst of others that are all treated as the first or the
 * second piece is?  Asking for one after the other takes one instruction each; a tree takes two.
 * Says which piece, or end: they are not.
 */
static size_t find_common(const struct program *program, size_t first, size_t end)
{
	for (size_t common = first; common < end && common < first + 2; common++) {
		size_t singles = 0, i = first;

		while (i < end && singles <= MOST_SINGLES &&
		       (program->pieces[i].target == program->pieces[common].target ||
			is_single(program, i)))
			singles += program->pieces[i++].target != program->pieces[common].target;
		if (i == end && singles <= MOST_SINGLES)
			return common;
	}
	return end;
}

static void emit_singles(struct program *program, size_t first, size_t end, unsigned others)
{
	size_t test = 0;

	for (size_t i = first; i < end; i++) {
		if (program->pieces[i].target == others)
			continue;
		test = emit(program, BPF_JMP | BPF_JEQ | BPF_K, program->pieces[i].from);
		point_later(program, test, true, program->pieces[i].target);
	}
	point_later(program, test, false, others);
}

/* Instructions that find the piece among those from first on; there are at least two. */
static void emit_tree(struct program *program, size_t first, size_t end)
{
	size_t common = find_common(program, first, end), middle, test;

	if (common < end) {
		emit_singles(program, first, end, program->pieces[common].target);
		return;
	}
	middle = find_middle(program, first, end);
	test = emit(program, BPF_JMP | BPF_JGE | BPF_K, program->pieces[middle].from);
	if (middle - first == 1) {
		point_later(program, test, false, program->pieces[first].target);
	} else {
		point(program, test, false, program->count);
		emit_tree(program, first, middle);
	}
	if (end - middle == 1) {
		point_later(program, test, true, program->pieces[middle].target);
	} else {
		point(program, test, true, program->count);
		emit_tree(program, middle, end);
	}
}

static size_t low_half(unsigned argument)
{
	/* little-endian, as both architectures are */
	return offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
}

/* What is in the accumulator: which half of an argument, and which bits of it. */
struct loaded {
	size_t half;
	uint32_t mask;
};

#define ALL_BITS UINT32_MAX

/* A row's tests, in the making. */
struct attempt {
	size_t answer; /* the target when all conditions hold */
	struct loaded loaded;
	struct jump misses[SB_FILTER_CONDITIONS];
	size_t miss_count;
};

static const struct loaded NOTHING_LOADED = {(size_t)-1, 0};

static void miss(struct attempt *attempt, size_t test, bool if_true)
{
	attempt->misses[attempt->miss_count++] =
		(struct jump){.at = (uint16_t)test, .if_true = if_true};
}

static uint16_t comparison(enum sb_filter_test test)
{
	switch (test) {
	case SB_FILTER_ANY_BIT:
		return BPF_JSET;
	case SB_FILTER_AT_LEAST:
		return BPF_JGE;
	case SB_FILTER_AT_MOST:
		return BPF_JGT; /* and the condition holds where it does not */
	default:
		return BPF_JEQ;
	}
}

static uint32_t mask_of(const struct sb_filter_condition *condition)
{
	return condition->test == SB_FILTER_MASKED ? condition->value >> 16 : ALL_BITS;
}

static void load_bits(struct program *program, struct attempt *attempt, size_t half, uint32_t mask)
{
	/* what is left of an argument under another mask is less than all of it */
	if (attempt->loaded.half != half ||
	    (attempt->loaded.mask != mask && attempt->loaded.mask != ALL_BITS)) {
		load(program, half);
		attempt->loaded = (struct loaded){half, ALL_BITS};
	}
	if (attempt->loaded.mask != mask)
		emit(program, BPF_ALU | BPF_AND | BPF_K, mask);
	attempt->loaded.mask = mask;
}

/* Falls through when the condition holds and is not the last; the last leads to the answer. */
static void emit_condition(struct program *program, const struct sb_filter_condition *condition,
			   bool last, struct attempt *attempt)
{
	bool holds = condition->test == SB_FILTER_EQUAL || condition->test == SB_FILTER_ANY_BIT ||
		     condition->test == SB_FILTER_AT_LEAST || condition->test == SB_FILTER_MASKED;
	size_t low = low_half(condition->argument), test;

	load_bits(program, attempt, low, mask_of(condition));
	if (condition->test == SB_FILTER_NOT_ZERO) {
		test = emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0);
		if (last)
			point_later(program, test, false, attempt->answer);
		else
			point(program, test, false, test + 3);
		load(program, low + sizeof(uint32_t));
		attempt->loaded = NOTHING_LOADED; /* either half, depending on the way here */
		test = emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0);
	} else {
		test = emit(program, (uint16_t)(BPF_JMP | BPF_K | comparison(condition->test)),
			    condition->test == SB_FILTER_MASKED ? condition->value & 0xffff
								: condition->value);
	}
	miss(attempt, test, !holds);
	if (last)
		point_later(program, test, holds, attempt->answer);
}

/* Does whoever misses the row come from it with the same in the accumulator? */
static bool looks_at_one_half(const struct sb_filter_row *row)
{
	for (size_t i = 0; i < SB_FILTER_CONDITIONS && row->conditions[i].test; i++)
		if (row->conditions[i].test == SB_FILTER_NOT_ZERO ||
		    row->conditions[i].argument != row->conditions[0].argument ||
		    mask_of(&row->conditions[i]) != mask_of(&row->conditions[0]))
			return false;
	return true;
}

/* The rows of one number; when none applies the call is allowed. */
static void emit_body(struct program *program, const struct target *body)
{
	struct loaded loaded = NOTHING_LOADED;
	size_t count = 0, otherwise = ALLOW;

	/* a row without conditions is what all before it fall back on; none behind it counts */
	while (count < body->count && body->rows[count]->conditions[0].test != SB_FILTER_ALWAYS)
		count++;
	if (count < body->count)
		otherwise = find_answer(program, body->rows[count]->answer);
	for (size_t i = 0; i < count; i++) {
		const struct sb_filter_row *row = body->rows[i];
		struct attempt attempt = {.loaded = loaded};

		attempt.answer = find_answer(program, row->answer);
		for (size_t j = 0; j < SB_FILTER_CONDITIONS && row->conditions[j].test; j++)
			emit_condition(program, &row->conditions[j],
				       j + 1 == SB_FILTER_CONDITIONS ||
					       !row->conditions[j + 1].test,
				       &attempt);
		for (size_t j = 0; j < attempt.miss_count; j++) {
			const struct jump *jump = &attempt.misses[j];

			if (i + 1 < count)
				point(program, jump->at, jump->if_true, program->count);
			else
				point_later(program, jump->at, jump->if_true, otherwise);
		}
		loaded = looks_at_one_half(row) ? attempt.loaded : NOTHING_LOADED;
	}
}

static bool is_long(const struct target *target)
{
	return target->rows && target->count > LONG_BODY;
}

/* Let all jumps so far reach their targets. */
static void settle_jumps(struct program *program)
{
	for (size_t i = 0; i < program->jump_count; i++)
		point(program, program->jumps[i].at, program->jumps[i].if_true,
		      program->targets[program->jumps[i].target].at);
	program->jump_count = 0;
}

static bool is_wanted(const struct program *program, size_t target)
{
	for (size_t i = 0; i < program->jump_count; i++)
		if (program->jumps[i].target == target)
			return true;
	return false;
}

/* Answers that are jumped to, behind all who do. */
static void emit_answers(struct program *program)
{
	for (size_t i = 0; i < program->target_count; i++) {
		if (program->targets[i].rows || !is_wanted(program, i))
			continue;
		program->targets[i].at = program->count;
		emit(program, BPF_RET | BPF_K, program->targets[i].answer);
	}
	settle_jumps(program);
}

static void emit_long_body(struct program *program, const struct target *target)
{
	if (target->at < program->max)
		program->out[target->at].k = (uint32_t)(program->count - target->at - 1);
	emit_body(program, target);
	emit_answers(program);
}

static void emit_targets(struct program *program)
{
	size_t bodies = program->target_count; /* those behind them are answers */

	for (size_t i = 0; i < bodies; i++) {
		program->targets[i].at = program->count;
		if (is_long(&program->targets[i]))
			emit(program, BPF_JMP | BPF_JA, 0);
		else if (program->targets[i].rows)
			emit_body(program, &program->targets[i]);
	}
	emit_answers(program);
	for (size_t i = 0; i < bodies; i++)
		if (is_long(&program->targets[i]))
			emit_long_body(program, &program->targets[i]);
}

size_t sb_filter_compile(const struct sb_filter_row *const *rows, size_t count,
			 struct sock_filter *out, size_t max)
{
	struct program program;
	size_t test;

	program.out = out;
	program.max = max;
	program.broken = false;
	program.count = program.target_count = program.piece_count = program.jump_count = 0;
	find_answer(&program, SECCOMP_RET_ALLOW); /* becomes the target ALLOW */
	cut_into_pieces(&program, rows, count);

	/* Another architecture's calls have other numbers: none of the table would fit. */
	load(&program, offsetof(struct seccomp_data, arch));
	test = emit(&program, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH);
	point(&program, test, true, test + 2);
	emit(&program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	load(&program, offsetof(struct seccomp_data, nr));
	emit_tree(&program, 0, program.piece_count);
	emit_targets(&program);
	return program.broken ? 0 : program.count;
}
