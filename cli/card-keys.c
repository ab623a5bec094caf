/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/card-keys.h"
#include "cli/output.h"
#include "cli/wrap.h"
#include "common/cleanup.h"

/* The keys of the grants that a card offers, in its order. */
static const char grant_keys[] = "st3456789";

static const CardGrant *find_grant(const Card *card, char key) {
        const char *place = strchr(grant_keys, key);
        size_t index = place ? (size_t) (place - grant_keys) : SIZE_MAX;

        return index < card->grants->len ? card->grants->pdata[index] : NULL;
}

/* Words that somebody else's text may stand in. */
static void print_wrapped(const char *first, const char *words) {
        unsigned columns = output_columns();
        g_autoptr(GString) rows = g_string_new(NULL);

        wrap_append(rows, first, "  │ ", words, strlen(words), columns > 4 ? columns - 4 : columns);
        (void) fputs(rows->str, stdout);
}

/* A card of an act that only a person may do is about no call that comes again. */
static bool can_deny_for_session(const Card *card) {
        return strcmp(card->kind, "personal-act") != 0;
}

void card_keys_print(const Cli *cli, const Card *card, unsigned n_waiting) {
        const char *bold = style_on(cli, STYLE_BOLD), *plain = style_on(cli, STYLE_PLAIN);

        (void) printf("%s[y]%s allow once\n", bold, plain);
        for (guint i = 0; i < card->grants->len && i < strlen(grant_keys); i++) {
                const CardGrant *grant = card->grants->pdata[i];

                (void) printf("%s[%c]%s ", bold, grant_keys[i], plain);
                print_wrapped("allow ", grant->words);
        }
        if (can_deny_for_session(card))
                (void) printf("%s[d]%s deny this very call for the rest of the session\n", bold, plain);
        (void) printf("%s[n]%s deny   %s[f]%s full arguments   %s[q]%s quit\n", bold, plain, bold, plain,
                        bold, plain);
        if (n_waiting > 0)
                (void) printf("(%u more waiting)\n", n_waiting);
        (void) fflush(stdout);
}

bool card_keys_read(const Card *card, char key, CardAnswer *ret) {
        const CardGrant *grant = find_grant(card, key);

        if (key == 'y' || key == 'n')
                *ret = (CardAnswer) { .allow = key == 'y' };
        else if (key == 'd' && can_deny_for_session(card))
                *ret = (CardAnswer) { .scope = "session" };
        else if (grant)
                *ret = (CardAnswer) { .allow = true, .grant = grant, .scope = grant->scope };
        else
                return false;
        return true;
}
