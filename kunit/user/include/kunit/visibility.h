/* SPDX-License-Identifier: GPL-2.0 */
#define VISIBLE_IF_KUNIT static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
