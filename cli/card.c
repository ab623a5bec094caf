/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/card.h"
#include "cli/output.h"
#include "cli/view.h"
#include "cli/wrap.h"
#include "common/jdoc.h"
#include "common/limits.h"
#include "common/sanitize.h"

#define LINE_BYTES_MAX 512u

static void grant_free(void *pointer) {
        CardGrant *grant = pointer;

        g_free(grant->scope);
        g_free(grant->words);
        g_free(grant);
}

Card *card_free(Card *card) {
        if (!card)
                return NULL;

        g_free(card->kind);
        g_free(card->title);
        g_free(card->digest);
        g_free(card->page);
        g_free(card->json);
        if (card->grants)
                g_ptr_array_unref(card->grants);
        g_free(card);
        return NULL;
}

const CardGrant *card_find_grant(const Card *card, const char *scope) {
        for (guint i = 0; i < card->grants->len; i++) {
                const CardGrant *grant = card->grants->pdata[i];

                if (strcmp(grant->scope, scope) == 0)
                        return grant;
        }

        return NULL;
}

static void read_grants(Jval grants, GPtrArray *into) {
        JIter iter = jval_iterate(grants);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                const char *scope = jval_text(jval_member(item, "scope"));
                CardGrant *grant;

                if (!scope || strcmp(scope, "once") == 0)
                        continue;
                grant = g_new0(CardGrant, 1);
                grant->scope = g_strdup(scope);
                grant->words = view_scalar(jval_member(item, "words"));
                g_ptr_array_add(into, grant);
        }
}

/* Foreign text, each row behind a bar, so that it can't be taken for a line of ours. */
static void append_quoted(GString *page, const char *text, size_t size, unsigned columns) {
        wrap_append(page, "│ ", "│ ", text, size, columns);
}

/* The members that a card has when the service sent no text for it. */
static void append_members(const Cli *cli, GString *page, Jval card) {
        static const char *const elsewhere[] = { "id", "kind", "title", "text", "reasons", "grants",
                "digest", "opened_usec", "cut", "escaped", "arguments_size", NULL };

        view_append(cli, page, card, 0, elsewhere);
}

/* Unless the text says them already. */
static void append_reasons(GString *page, Jval reasons, const char *text, unsigned columns) {
        JIter iter = jval_iterate(reasons);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                const char *reason = jval_text(item);
                g_autofree char *line = view_scalar(item);

                if (!text || !reason || !strstr(text, reason))
                        wrap_append(page, "Asked because: ", "│ ", line, strlen(line), columns);
        }
}

static void append_warnings(const Cli *cli, GString *page, Jval root, bool cut) {
        g_autofree char *size = view_scalar(jval_member(root, "arguments_size"));
        bool escaped = false;

        if (jval_boolean(jval_member(root, "escaped"), &escaped) >= 0 && escaped) {
                style_append(cli, page, STYLE_WARNING,
                                "Characters that could deceive are shown as escapes, such as \\u{202e}.");
                g_string_append_c(page, '\n');
        }
        if (cut) {
                g_autofree char *line =
                                g_strdup_printf("This is not all: the arguments have %s bytes.", size);

                style_append(cli, page, STYLE_WARNING, line);
                g_string_append_c(page, '\n');
        }
}

static char *card_page(const Cli *cli, const Card *card, Jval root) {
        const unsigned columns = output_columns();
        g_autofree char *line = g_strdup_printf("Card %" PRIu64 ": %s", card->id, card->title);
        g_autofree char *heading = wrap_cut(line, columns); /* all of the title stands in the text */
        g_autoptr(GString) page = g_string_new(NULL);
        size_t size = 0;
        const char *text = jval_string(jval_member(root, "text"), &size);

        view_heading(cli, page, heading);
        if (text && size > 0)
                append_quoted(page, text, size, columns);
        else
                append_members(cli, page, root);
        append_reasons(page, jval_member(root, "reasons"), text, columns);
        append_warnings(cli, page, root, card->cut);
        return g_string_free(g_steal_pointer(&page), FALSE);
}

static char *card_title(Jval root) {
        const char *title = jval_text(jval_member(root, "title"));
        const char *tool = jval_text(jval_member(root, "tool"));

        return sanitize_line(title ? title : tool ? tool : "?", LINE_BYTES_MAX, NULL);
}

int card_parse(const Cli *cli, const char *json, Card **ret) {
        g_autoptr(Card) card = g_new0(Card, 1);
        g_autoptr(Jdoc) doc = NULL;
        const char *digest;
        Jval root;

        card->grants = g_ptr_array_new_with_free_func(grant_free);
        if (jdoc_parse(json, strlen(json), NULL, &doc, NULL) < 0)
                return -EBADMSG;

        root = jdoc_root(doc);
        digest = jval_text(jval_member(root, "digest"));
        if (jval_uint64(jval_member(root, "id"), &card->id) < 0 || card->id == 0 || !digest || !*digest)
                return -EBADMSG;

        card->digest = g_strdup(digest);
        card->kind = view_scalar(jval_member(root, "kind"));
        card->title = card_title(root);
        (void) jval_boolean(jval_member(root, "cut"), &card->cut);
        read_grants(jval_member(root, "grants"), card->grants);
        card->page = card_page(cli, card, root);
        card->json = g_strdup(json);

        *ret = g_steal_pointer(&card);
        return 0;
}

void card_fit(const Cli *cli, Card *card) {
        g_autoptr(Jdoc) doc = NULL;

        if (jdoc_parse(card->json, strlen(card->json), NULL, &doc, NULL) < 0)
                return; /* it was parsed before */
        g_free(card->page);
        card->page = card_page(cli, card, jdoc_root(doc));
}
