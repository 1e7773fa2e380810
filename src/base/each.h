/*
 * each.h - names of which the same is to be said: a row of a table for each, in their order.
 *
 *     SB_NAMED(ROW, a, b, "x", "y")     is ROW("x", a, b), ROW("y", a, b)
 */
#ifndef SB_BASE_EACH_H
#define SB_BASE_EACH_H

#define SB_NAMED(row, a, b, ...) SB_EXPAND(SB_EACH(row, a, b, __VA_ARGS__))
#define SB_EACH(row, a, b, name, ...)                                                              \
	row(name, a, b) __VA_OPT__(, SB_EACH_AGAIN SB_PARENS(row, a, b, __VA_ARGS__))
#define SB_EACH_AGAIN() SB_EACH
#define SB_PARENS ()
/* A macro is no part of its own expansion: each look at the text makes one more.  These are 64. */
#define SB_EXPAND(...) SB_EXPAND3(SB_EXPAND3(SB_EXPAND3(SB_EXPAND3(__VA_ARGS__))))
#define SB_EXPAND3(...) SB_EXPAND2(SB_EXPAND2(SB_EXPAND2(SB_EXPAND2(__VA_ARGS__))))
#define SB_EXPAND2(...) SB_EXPAND1(SB_EXPAND1(SB_EXPAND1(SB_EXPAND1(__VA_ARGS__))))
#define SB_EXPAND1(...) __VA_ARGS__

/* How many elements it has. */
#define SB_COUNT(array) (sizeof(array) / sizeof(array)[0])

#endif
