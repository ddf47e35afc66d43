/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bounded_iter

#if !defined(_TRACE_BOUNDED_ITER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_BOUNDED_ITER_H

#include <linux/tracepoint.h>

/**
 * bounded_iter_expired - called when a loop is told to stop
 * @caller: where in the loop, as an address
 * @items: handled since the start or the last restart
 * @spent: time since the first look at the clock, in ns; less than @budget if
 *         the clock stands still
 * @budget: in ns
 */
TRACE_EVENT(bounded_iter_expired,
	    TP_PROTO(unsigned long caller, u64 items, u64 spent, u64 budget),
	    TP_ARGS(caller, items, spent, budget),

	    TP_STRUCT__entry(__field(unsigned long, caller)
			     __field(u64, items)
			     __field(u64, spent)
			     __field(u64, budget)),

	    TP_fast_assign(__entry->caller = caller;
			   __entry->items = items;
			   __entry->spent = spent;
			   __entry->budget = budget;),

	    TP_printk("caller=%pS items=%llu spent=%llu budget=%llu",
		      (void *)__entry->caller, __entry->items, __entry->spent,
		      __entry->budget)
);

#endif /* _TRACE_BOUNDED_ITER_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
