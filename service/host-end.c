/* SPDX-License-Identifier: MIT */
#include "service/host-end.h"

#include <errno.h>

#include "service/host-state.h"

typedef struct HostEndWaiter {
        HostEnded ended;
        void *userdata;
} HostEndWaiter;

int host_when_ended(Host *host, HostEnded ended, void *userdata) {
        const HostEndWaiter waiter = { ended, userdata };

        if (!host->process)
                return -ESRCH;
        if (!host->end_waiters)
                host->end_waiters = g_array_new(FALSE, FALSE, sizeof(HostEndWaiter));
        g_array_append_val(host->end_waiters, waiter);
        return 0;
}

void host_forget_ended(Host *host, const void *userdata) {
        for (unsigned i = host->end_waiters ? host->end_waiters->len : 0; i > 0; i--)
                if (g_array_index(host->end_waiters, HostEndWaiter, i - 1).userdata == userdata)
                        g_array_remove_index(host->end_waiters, i - 1);
}

/* One at a time: each may change the list. */
void host_tell_ended(Host *host, const HostEnd *end) {
        while (host->end_waiters && host->end_waiters->len > 0) {
                const HostEndWaiter waiter = g_array_index(host->end_waiters, HostEndWaiter, 0);

                g_array_remove_index(host->end_waiters, 0);
                waiter.ended(end, waiter.userdata);
        }
}
