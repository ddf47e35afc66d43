/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_TYPES_H
#define _SHIM_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t u64;
typedef int64_t s64;

#endif
