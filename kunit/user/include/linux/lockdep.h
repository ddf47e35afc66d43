/* SPDX-License-Identifier: GPL-2.0 */
void lockdep_assert_irqs_enabled(void);
