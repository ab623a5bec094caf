/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "service/dirty-window.h"

#define WINDOW_USEC ((uint64_t) HOST_DIRTY_WINDOW_MSEC * 1000)

bool dirty_window_note(DirtyWindow *window, uint64_t now_usec) {
        unsigned oldest = 0, n = 0;

        for (unsigned i = 1; i < HOST_DIRTY_MAX; i++)
                if (window->dirty_usec[i] < window->dirty_usec[oldest])
                        oldest = i;
        window->dirty_usec[oldest] = now_usec;

        for (unsigned i = 0; i < HOST_DIRTY_MAX; i++)
                n += window->dirty_usec[i] > 0 && now_usec - window->dirty_usec[i] < WINDOW_USEC;
        window->due = window->due || n >= HOST_DIRTY_MAX;
        return window->due;
}

void dirty_window_reset(DirtyWindow *window) {
        memset(window, 0, sizeof *window);
}
