/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the latency guest's /init share. */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stdio.h>

#define TRACING	"/sys/kernel/tracing/"
#define EVENTS	TRACING "events/"
#define CUT	EVENTS "bounded_iter/bounded_iter_expired/"

/* guest.c */
void step(bool ok, const char *fmt, ...);
void value(const char *name, long long number);
long number(const char *name);
bool is(const char *name, const char *text);
void set(const char *path, const char *text);
void set_up_tracing(void);
void create(const char *dir, long nr);
void start_tracing(void);
void stop_tracing(void);
FILE *open_trace(const char *path);
void read_symbols(void);
const char *symbol_at(unsigned int offset);

/* find.c */
void start_cuts(void);
void print_cuts(void);
bool is_finder(void);
void set_up_finder(void);
void start_finder(void);
void stop_finder(void);

/* churn.c */
int job(void);
bool churn(const char *what);

/* soak.c */
void soak(void);

#endif
