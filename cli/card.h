/* SPDX-License-Identifier: MIT */
#pragma once

/* One card as an approver in a terminal shows it. The service sends text that is safe to show; here it is
 * made safe once more, because a card that can draw on the screen can lie about what is being allowed. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

typedef struct CardGrant {
        char *scope; /* what to answer with */
        char *words; /* what it means; made safe */
} CardGrant;

typedef struct Card {
        uint64_t id;
        char *kind, *title, *digest; /* title is made safe */
        char *page;                  /* everything to be shown but for the keys; made safe */
        char *json;                  /* what the service sent */
        bool cut;
        GPtrArray *grants; /* of CardGrant */
} Card;

Card *card_free(Card *card);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Card, card_free)

/**
 * card_parse() - read a card that Approvals.Describe answered
 *
 * Return: 0; -EBADMSG when it is no card: no id, no digest, or nothing to show.
 */
int card_parse(const Cli *cli, const char *json, Card **ret);

/** card_fit() - write the page anew: the terminal has another width now */
void card_fit(const Cli *cli, Card *card);

/** card_find_grant() - the grant of that scope, NULL when it is not offered */
const CardGrant *card_find_grant(const Card *card, const char *scope);
