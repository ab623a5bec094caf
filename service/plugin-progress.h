/* SPDX-License-Identifier: MIT */
#pragma once

/* How far a worker is: a page that it shares with the daemon. Only shown, never trusted.
 * For plugin*.c, install*.c and tree-copy.c. */

#include <stdint.h>

typedef struct PluginProgress {
        _Atomic unsigned stage; /* PluginStage */
        _Atomic uint64_t done, total;
} PluginProgress;
