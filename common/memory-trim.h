/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * memory_trim() - give free memory inside of the heap back to the system
 *
 * Takes a fraction of a millisecond; for moments when nobody waits.
 */
void memory_trim(void);
