/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * memory_trim() - give back to the system what this process holds and does not need while it is idle
 *
 * That is free memory inside of the heap, and pages of programs and libraries that were mapped for starting up: the dynamic
 * linker's tables, readers of configuration. What is needed again comes back by itself, in microseconds a page. Takes a
 * fraction of a millisecond; for moments when nobody waits.
 */
void memory_trim(void);
