/*
 * linux_seccomp.h - system calls that no confined program needs, or only the harmless half of.
 */
#ifndef SB_ENFORCE_LINUX_SECCOMP_H
#define SB_ENFORCE_LINUX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforce/layers.h"

struct sock_filter;

/* Which parts of the table apply. */
struct sb_filter_options {
	bool network_off; /* no internet sockets at all (used without a network namespace) */
	bool as_root;     /* no setuid files: root's would be everybody's way to root */
	bool no_mounts;   /* also stop file flags, which mounts would hold */
	bool no_landlock; /* nothing holds an open that the broker has let go on */
	bool shared_ipc;  /* message queues and shared memory are everybody's */
	bool shared_pids; /* numbers of processes outside mean something */
	bool other_pids;  /* or those of a run around this one */
	bool programs;    /* only some may be executed */
	bool supervised;  /* hold every change for the broker */
	bool reads;       /* and every open */
	bool listings;    /* and every open of a directory that says it is one */
	bool signals;     /* and every signal */
	bool sockets;     /* and making a socket: copies of it cannot be had later */
	bool sight;       /* processes that hide their memory could not be held: none does */
	bool performer;   /* the broker's own filter instead of the command's */
	bool one_user;    /* the namespace knows these two, and nobody else: */
	unsigned user, group;
	bool groups;      /* and groups of the user's that it knows not: asking for them is held */
	unsigned self;    /* what the private query answers: see sb_inside() */
	unsigned staging; /* closing numbers from this one on is held, too; 0: none */
};

/*
 * Files that must be checked before they land are written to a copy, whose descriptor has a
 * high number: from this one on.  By the limit on descriptors that the calling process has, so
 * command and performer find the same.  0: the limit leaves no room.
 */
#define SB_STAGING_COUNT 24 /* as many as there are between 1000 and the usual limit */
#define SB_STAGING_HELD 64  /* closing further ones is noticed milliseconds later */
unsigned sb_staging_base(void);

/*
 * Write the filter into out (room for max instructions); returns how many, 0 when it
 * does not fit.  Pure: the same options give the same program.
 */
size_t sb_filter_build(const struct sb_filter_options *options, struct sock_filter *out,
		       size_t max);

/* Load it into this process.  Needs no_new_privs.  layers->outer is taken into the answer. */
int sb_filter_enter(const struct sb_plan *plan, struct sb_layers *layers, struct sb_error *err);

/* The same with every change held, for a supervised run: the listener sees each call. */
int sb_filter_enter_held(const struct sb_plan *plan, struct sb_layers *layers, int *out_listener,
			 struct sb_error *err);

/* What the process that performs held calls cannot do itself. */
int sb_filter_enter_performer(const struct sb_layers *layers, struct sb_error *err);

/*
 * A prctl() that no kernel knows, by which a nested run tells the outer one its rules: bytes, length, 0.  With an
 * operation and 1 instead of 0 it asks what the outer one's rules, for whoever asks, say about a path: bytes,
 * length; the answer is a verdict.  With SB_OP_COUNT and 1: the note of the worker that asks, as a descriptor.
 */
#define SB_REGISTER 0x53425252u
#define SB_HOLDS_HOSTS 1 /* its answer: what the rules say about hosts is held as well */

#endif
