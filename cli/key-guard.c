/* SPDX-License-Identifier: MIT */
#include "cli/key-guard.h"

void key_guard_show(KeyGuard *guard, uint64_t now_usec) {
        *guard = (KeyGuard){ .shown_usec = now_usec };
}

bool key_guard_feed(KeyGuard *guard, uint64_t now_usec, const char *bytes, size_t n) {
        bool early = now_usec < guard->shown_usec + KEY_GUARD_READ_USEC;
        bool crowded = guard->last_usec != 0 && now_usec < guard->last_usec + KEY_GUARD_QUIET_USEC;

        if (n == 0)
                return true;

        guard->last_usec = now_usec;
        guard->pending = early || crowded || n != 1 ? 0 : bytes[0];
        return guard->pending != 0;
}

uint64_t key_guard_due(const KeyGuard *guard) {
        return guard->pending ? guard->last_usec + KEY_GUARD_QUIET_USEC : 0;
}

char key_guard_take(KeyGuard *guard, uint64_t now_usec) {
        char key = guard->pending;

        if (key == 0 || now_usec < key_guard_due(guard))
                return 0;

        guard->pending = 0;
        return key;
}
