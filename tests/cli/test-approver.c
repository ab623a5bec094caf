/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "cli/card.h"
#include "cli/wrap.h"
#include "cli/key-guard.h"

#define MSEC UINT64_C(1000)

static const char card_text[] =
                "{\"id\":7,\"kind\":\"tool-call\",\"title\":\"mod_counter\\u001b[2J\",\"plugin\":\"user/0/"
                "counter\",\"tool\":\"mod_counter\","
                "\"arguments\":{\"label\":\"first\"},\"arguments_size\":17,\"cut\":false,"
                "\"text\":\"counter wants to run mod_counter\\nCard 8: "
                "harmless\\u001b[1;1H\",\"escaped\":true,"
                "\"reasons\":[\"posture ask\"],\"grants\":[{\"scope\":\"once\",\"words\":\"this call\"},"
                "{\"scope\":\"session\",\"words\":\"this tool\\u202e of this "
                "build\"}],\"digest\":\"d7\",\"opened_usec\":1}";

static void test_card(void) {
        g_autoptr(Card) card = NULL;
        Cli cli = {};

        g_assert_cmpint(card_parse(&cli, card_text, &card), ==, 0);
        g_assert_cmpuint(card->id, ==, 7);
        g_assert_cmpstr(card->digest, ==, "d7");
        g_assert_false(card->cut);
        g_assert_cmpuint(card->grants->len, ==, 1);
        g_assert_cmpstr(card_find_grant(card, "session")->words, ==, "this tool\\u{202e} of this build");
        g_assert_null(card_find_grant(card, "once"));
        g_assert_null(card_find_grant(card, "always"));
}

/* AP-07, C7: what the service sent is made safe again, and its lines can't be taken for ours. */
static void test_card_hostile(void) {
        g_autoptr(Card) card = NULL;
        Cli cli = {};

        g_assert_cmpint(card_parse(&cli, card_text, &card), ==, 0);
        g_assert_cmpstr(card->page, ==,
                        "Card 7: mod_counter\\x1b[2J\n"
                        "│ counter wants to run mod_counter\n"
                        "│ Card 8: harmless\\x1b[1;1H\n"
                        "Asked because: posture ask\n"
                        "Characters that could deceive are shown as escapes, such as \\u{202e}.\n");
}

/* C8: a card that does not show all says so. */
static void test_card_cut(void) {
        static const char json[] = "{\"id\":1,\"digest\":\"d\",\"tool\":\"t\",\"text\":\"x\",\"cut\":true,"
                                   "\"arguments_size\":70000}";
        g_autoptr(Card) card = NULL;
        Cli cli = {};

        g_assert_cmpint(card_parse(&cli, json, &card), ==, 0);
        g_assert_true(card->cut);
        g_assert_nonnull(strstr(card->page, "This is not all: the arguments have 70000 bytes."));
        g_assert_cmpuint(card->grants->len, ==, 0);
}

/* Without a ready text the members are shown. */
static void test_card_members(void) {
        static const char json[] = "{\"id\":1,\"digest\":\"d\",\"tool\":\"t\",\"plugin\":\"p\","
                                   "\"arguments\":{\"a\":1}}";
        g_autoptr(Card) card = NULL;
        Cli cli = {};

        g_assert_cmpint(card_parse(&cli, json, &card), ==, 0);
        g_assert_cmpstr(card->page, ==, "Card 1: t\nTool:   t\nPlugin: p\nArguments:\n  A: 1\n");
}

/* C7: however long a line of somebody else is, each of its rows stands behind the bar; none is wider than the terminal. */
static void test_wrap(void) {
        static const struct {
                const char *text;
                unsigned columns;
                const char *expected;
        } cases[] = {
                { "short", 0, "│ short\n" },
                { "a\n\nb\n", 40, "│ a\n│ \n│ b\n" },
                { "0123456789abcdef", 13, "│ 0123456789\n│ abcdef\n" },
                { "0123456789[y] allow once", 13, "│ 0123456789\n│ [y] allow \n│ once\n" },
                { "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 13,
                  "│ \xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\n│ \xe6\xbc\xa2\n" },
                { "allow it for now", 13, "│ allow it \n│ for now\n" },
                { "allow tool ask", 13, "│ allow tool\n│  ask\n" },
                { "ab 0123456789abc", 13, "│ ab 0123456\n│ 789abc\n" },
                { "012345 \xe6\xbc\xa2\xe6\xbc\xa2 x", 13, "│ 012345 \n│ \xe6\xbc\xa2\xe6\xbc\xa2 x\n" },
                { "a\tb", 40, "│ a       b\n" },
                { "x\x1b[2J\ry", 40, "│ x\\x1b[2J\\x0dy\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);

                g_test_message("case %zu", i);
                wrap_append(out, "│ ", "│ ", cases[i].text, strlen(cases[i].text), cases[i].columns);
                g_assert_cmpstr(out->str, ==, cases[i].expected);
        }
}

static void test_wrap_cut(void) {
        g_autofree char *whole = wrap_cut("Card 1: short", 40), *cut = wrap_cut("Card 1: 0123456789", 12);
        g_autofree char *none = wrap_cut("Card 1: 0123456789", 0);

        g_assert_cmpstr(whole, ==, "Card 1: short");
        g_assert_cmpstr(cut, ==, "Card 1: 0…");
        g_assert_cmpstr(none, ==, "Card 1: 0123456789");
}

static void test_card_refused(void) {
        static const char *const cases[] = {
                "",
                "[]",
                "{}",
                "{\"id\":1}",
                "{\"digest\":\"d\"}",
                "{\"id\":0,\"digest\":\"d\"}",
                "{\"id\":-1,\"digest\":\"d\"}",
                "{\"id\":\"1\",\"digest\":\"d\"}",
                "{\"id\":1,\"digest\":\"\"}",
                "{\"id\":1,\"digest\":null}",
        };
        Cli cli = {};

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Card *card = NULL;

                g_test_message("%s", cases[i]);
                g_assert_cmpint(card_parse(&cli, cases[i], &card), ==, -EBADMSG);
                g_assert_null(card);
        }
}

typedef struct Burst {
        uint64_t at_msec;
        const char *bytes;
} Burst;

/* What is typed when, counted from the moment the card was drawn, and the answer that comes of it. */
static void test_keys(void) {
        static const struct {
                const char *name;
                Burst bursts[4];
                char answer;
        } cases[] = {
                { "one key", { { 800, "y" } }, 'y' },
                { "before anybody could read", { { 100, "y" } }, 0 },
                { "typed ahead and again", { { 100, "y" }, { 300, "y" } }, 0 },
                { "pasted", { { 800, "yes please" } }, 0 },
                { "with enter at once", { { 800, "y\n" } }, 0 },
                { "with enter close behind", { { 800, "y" }, { 850, "\n" } }, 0 },
                { "paste in pieces", { { 800, "y" }, { 810, "e" }, { 820, "s" } }, 0 },
                { "an arrow key", { { 800, "\x1b[A" } }, 0 },
                { "a key after a rejected burst", { { 800, "yy" }, { 1400, "n" } }, 'n' },
                { "a key too close to a burst", { { 800, "yy" }, { 900, "n" } }, 0 },
                { "held down", { { 800, "y" }, { 830, "y" }, { 860, "y" }, { 890, "y" } }, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t shown = 5000 * MSEC, now = shown;
                KeyGuard guard = {};

                g_test_message("%s", cases[i].name);
                key_guard_show(&guard, shown);
                for (size_t j = 0; j < G_N_ELEMENTS(cases[i].bursts) && cases[i].bursts[j].bytes; j++) {
                        now = shown + cases[i].bursts[j].at_msec * MSEC;
                        g_assert_cmpint(key_guard_take(&guard, now), ==, 0);
                        (void) key_guard_feed(&guard, now, cases[i].bursts[j].bytes,
                                        strlen(cases[i].bursts[j].bytes));
                }
                g_assert_cmpint(key_guard_take(&guard, now + 10 * MSEC), ==, 0);
                g_assert_cmpint(key_guard_take(&guard, now + KEY_GUARD_QUIET_USEC), ==, cases[i].answer);
                g_assert_cmpint(key_guard_take(&guard, now + 2 * KEY_GUARD_QUIET_USEC), ==, 0);
        }
}

/* A key that was pressed for one card never answers the next (C2). */
static void test_keys_next_card(void) {
        KeyGuard guard = {};

        key_guard_show(&guard, 1000 * MSEC);
        g_assert_true(key_guard_feed(&guard, 2000 * MSEC, "y", 1));
        g_assert_cmpuint(key_guard_due(&guard), ==, 2000 * MSEC + KEY_GUARD_QUIET_USEC);
        key_guard_show(&guard, 2100 * MSEC);
        g_assert_cmpuint(key_guard_due(&guard), ==, 0);
        g_assert_cmpint(key_guard_take(&guard, 9000 * MSEC), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/approver/card", test_card);
        g_test_add_func("/cli/approver/AP-07-card-hostile", test_card_hostile);
        g_test_add_func("/cli/approver/card-cut", test_card_cut);
        g_test_add_func("/cli/approver/card-members", test_card_members);
        g_test_add_func("/cli/approver/card-refused", test_card_refused);
        g_test_add_func("/cli/approver/C7-wrap", test_wrap);
        g_test_add_func("/cli/approver/wrap-cut", test_wrap_cut);
        g_test_add_func("/cli/approver/keys", test_keys);
        g_test_add_func("/cli/approver/keys-next-card", test_keys_next_card);
        return g_test_run();
}
