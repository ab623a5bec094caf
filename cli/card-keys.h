/* SPDX-License-Identifier: MIT */
#pragma once

/* Which key answers a card with what. */

#include <stdbool.h>

#include "cli/card.h"

typedef struct CardAnswer {
        bool allow;
        const CardGrant *grant; /* NULL: once; borrowed from the card */
        const char *scope;      /* to answer with; NULL: once */
} CardAnswer;

/** card_keys_print() - the choices below a card; @n_waiting: cards behind it */
void card_keys_print(const Cli *cli, const Card *card, unsigned n_waiting);

/** card_keys_read() - what @key means for @card; false when it is no answer */
bool card_keys_read(const Card *card, char key, CardAnswer *ret);
