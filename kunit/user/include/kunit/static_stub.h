/* SPDX-License-Identifier: GPL-2.0 */
#define KUNIT_STATIC_STUB_REDIRECT(fn, ...) do { } while (0)
