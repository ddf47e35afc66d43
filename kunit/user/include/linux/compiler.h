/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_COMPILER_H
#define _SHIM_COMPILER_H

#define __always_inline	inline __attribute__((always_inline))
#define __must_check	__attribute__((warn_unused_result))
#define likely(x)	__builtin_expect(!!(x), 1)

/* The only options asked for: -DPREEMPT_RT=1 for a kernel with PREEMPT_RT. */
#ifndef PREEMPT_RT
#define PREEMPT_RT		0
#endif
#define CONFIG_PREEMPT_RT	PREEMPT_RT
#define CONFIG_KUNIT		0
#define IS_ENABLED(option)	(option)

#endif
