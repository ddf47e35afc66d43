// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the real bounded_iter with the reference on whatever libFuzzer thinks
 * of: any batch, budget and clock, and a program of calls, restarts and changes.
 */
#include <linux/bounded_iter.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reference.h"

struct input {
	const uint8_t *data;
	size_t left;
};

/* The next @bytes of the input as a number, 0 where it has ended. */
static u64 take(struct input *in, size_t bytes)
{
	u64 value = 0;

	if (bytes > in->left)
		bytes = in->left;
	memcpy(&value, in->data, bytes);
	in->data += bytes;
	in->left -= bytes;
	return value;
}

/* @nr calls of both, with the clock going @step between two looks. */
static void call(struct bounded_iter *bi, struct reference *ref, unsigned int nr,
		 u64 step)
{
	while (nr--) {
		struct world before = real, reference = real;
		bool expected = reference_expired(ref, &reference);
		bool got = bounded_iter_expired(bi);

		if (got != expected || !same_looks(&real, &reference) ||
		    bounded_iter_truncated(bi) != ref->stopped) {
			fprintf(stderr,
				"batch %u, budget %llu, gate %d: %d instead of %d at call %llu\n",
				ref->batch, (unsigned long long)ref->budget,
				ref->gate, got, expected,
				(unsigned long long)ref->calls);
			abort();
		}
		if (real.looks != before.looks)
			real.now += step;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	bool gate = take(&in, 1) & 1;
	unsigned int batch = take(&in, 4);
	u64 budget = take(&in, 8), step = 0;
	struct reference ref;
	DEFINE_BOUNDED_ITER(timed, batch, budget);
	DEFINE_BOUNDED_ITER_RESCHED(gated, batch, budget);
	struct bounded_iter bi = gate ? gated : timed;

	reference_init(&ref, batch, budget, gate);
	real = (struct world) { .now = take(&in, 8) };
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			bounded_iter_restart(&bi);
			reference_start(&ref);
			break;
		case 1:
			real.resched = !real.resched;
			break;
		case 2:
			real.now += (int8_t)take(&in, 1);
			break;
		case 3:
			real.now += take(&in, 8);
			break;
		case 4:
			step = (int8_t)take(&in, 1);
			break;
		case 5:
			step = take(&in, 8);
			break;
		case 6:
			call(&bi, &ref, take(&in, 2) % 4096, step);
			break;
		default:
			call(&bi, &ref, 1, step);
		}
	}
	return 0;
}
