/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

u64 local_clock(void);
