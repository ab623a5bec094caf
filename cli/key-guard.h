/* SPDX-License-Identifier: MIT */
#pragma once

/* Decides which bytes from a terminal are an answer. A person reads a card and then presses one key; text
 * that was typed before the card was there, pasted, or sent in a burst is no answer, whatever letters it
 * holds. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_GUARD_READ_USEC  (UINT64_C(500) * 1000) /* nobody reads a card faster */
#define KEY_GUARD_QUIET_USEC (UINT64_C(250) * 1000) /* of silence before and after the key */

typedef struct KeyGuard {
        uint64_t shown_usec; /* when the card was drawn */
        uint64_t last_usec;  /* of the last byte; 0: none since then */
        char pending;        /* the key that may become an answer; 0: none */
} KeyGuard;

/** key_guard_show() - a card was just drawn; what came before it counts no more */
void key_guard_show(KeyGuard *guard, uint64_t now_usec);

/**
 * key_guard_feed() - bytes came from the terminal
 *
 * Return: whether they may be an answer; false when they were dropped, which the person should be told.
 */
bool key_guard_feed(KeyGuard *guard, uint64_t now_usec, const char *bytes, size_t n);

/** key_guard_due() - when to call key_guard_take(); 0: nothing is pending */
uint64_t key_guard_due(const KeyGuard *guard);

/** key_guard_take() - the key, once silence followed it; 0: none (yet) */
char key_guard_take(KeyGuard *guard, uint64_t now_usec);
