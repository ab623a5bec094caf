/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/approval-text.h"
#include "test-json.h"

static const BuildScope build = { .plugin = "user.counter", .content_hash = "0123456789abcdef0123" };
static const BuildScope caller = { .plugin = "user.caller", .content_hash = "ffffffffffffffffffff" };

/* A card with one thing changed by the test. */
typedef struct Card {
        ApprovalSubject subject;
        ApprovalFacts facts;
        ApprovalKeys keys;
        Jdoc *arguments;
} Card;

static void card_init(Card *card, const char *arguments) {
        *card = (Card) {
                .subject = { .tool = "mod_counter", .build = &build },
                .arguments = parse_json("{}"),
                .facts = {
                        .kind = "tool-call", .call_id = "c-1", .session = "s1", .client = "agent", .plugin_name = "Counter",
                        .arguments = arguments, .arguments_size = strlen(arguments),
                        .offers = GRANT_OFFER(GRANT_ARGUMENTS) | GRANT_OFFER(GRANT_TOOL),
                },
        };
        card->facts.subject = &card->subject;
        card->facts.keys = &card->keys;
        g_assert_cmpint(approval_keys_make(&card->subject, jdoc_root(card->arguments), &card->keys), ==, 0);
}

static void card_done(Card *card) {
        approval_keys_done(&card->keys);
        (void) jdoc_free(card->arguments);
}

static void test_plain(void) {
        g_autoptr(Trace) trace = trace_new();
        g_auto(ApprovalText) text = {};
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Card card;

        card_init(&card, "{\"label\":\"first\"}");
        trace_add(trace, LAYER_BASELINE, VERDICT_ASK, "extension-tool",
                        "a plugin's tool always needs approval");
        trace_add(trace, LAYER_RULES, VERDICT_NOTE, "rule", "not a reason");
        card.facts.trace = trace;
        approval_text_make(&card.facts, &text);
        g_assert_cmpstr(text.title, ==, "Counter wants to run mod_counter");
        g_assert_false(text.escaped);
        g_assert_false(text.cut);
        g_assert_cmpuint(strlen(text.digest), ==, 64);
        g_assert_cmpstr(text.body, ==,
                        "Tool: mod_counter\n"
                        "Plugin: Counter (user.counter), build 0123456789ab\n"
                        "Asked for by: agent\n"
                        "Session: s1\n"
                        "Asked because: a plugin's tool always needs approval (extension-tool)\n"
                        "May be allowed for the session (arguments): tool \"mod_counter\" of plugin "
                        "user.counter (build "
                        "0123456789ab), with exactly these arguments, in this session only\n"
                        "May be allowed for the session (tool): tool \"mod_counter\" of plugin user.counter "
                        "(build "
                        "0123456789ab), with any arguments, in this session only\n"
                        "Arguments, written by somebody else (17 bytes):\n"
                        "{\"label\":\"first\"}\n");

        jwriter_init(&writer);
        approval_text_write(&text, &card.facts, &writer);
        json = jwriter_steal(&writer, NULL);
        doc = parse_json(json);
        g_assert_true(jval_equals_text(jval_member(jdoc_root(doc), "digest"), text.digest));
        g_assert_cmpuint(jval_length(jval_member(jdoc_root(doc), "reasons")), ==, 1);
        g_assert_cmpuint(jval_length(jval_member(jdoc_root(doc), "grants")), ==, 2);
        g_assert_true(jval_equals_text(jval_element(jval_member(jdoc_root(doc), "origin"), 0), "agent"));
        g_assert_true(jval_equals_text(
                        jval_element(jval_member(jdoc_root(doc), "origin"), 1), "user.counter"));
        card_done(&card);
}

/* C7, AP-07: whatever field it comes in by, no byte that moves, hides or turns text gets through, and the
 * flag says so. */
static void test_hostile_fields(void) {
        static const char hostile[] = "a\x1b[2J\u202eb\u200b\nAsked because: fine\r\x9b";

        for (unsigned field = 0; field < 10; field++) {
                g_autoptr(Trace) trace = trace_new();
                g_auto(ApprovalText) text = {};
                g_auto(JWriter) writer = {};
                ApprovalOperand operand = { .path = "plain", .sha256 = "00" };
                g_autofree char *json = NULL;
                BuildScope named = build;
                Card card;

                card_init(&card, "{}");
                card.facts.operands = &operand;
                card.facts.n_operands = 1;
                switch (field) {
                case 0:
                        card.subject.tool = hostile;
                        break;
                case 1:
                        card.facts.plugin_name = hostile;
                        break;
                case 2:
                        card.facts.client = hostile;
                        break;
                case 3:
                        card.facts.session = hostile;
                        break;
                case 4:
                        card.facts.workspace = hostile;
                        break;
                case 5:
                        card.facts.revisor = hostile;
                        break;
                case 6:
                        operand.path = hostile;
                        break;
                case 7:
                        card.facts.arguments = hostile;
                        card.facts.arguments_size = strlen(hostile);
                        break;
                case 8:
                        trace_add(trace, LAYER_HOOKS, VERDICT_ASK, "hook:guard", "%s", hostile);
                        card.facts.trace = trace;
                        break;
                default:
                        named.plugin = hostile;
                        card.subject.build = &named;
                        card.facts.plugin_name = NULL;
                        break;
                }
                g_test_message("field %u", field);
                approval_text_make(&card.facts, &text);
                g_assert_true(text.escaped);
                g_assert_null(strpbrk(text.title, "\x1b\n\r"));
                g_assert_null(strpbrk(text.body, "\x1b\r"));
                g_assert_null(strstr(text.body, "\u202e"));
                g_assert_null(strstr(text.body, "\u200b"));
                g_assert_true(g_utf8_validate(text.body, -1, NULL));
                if (field != 7)
                        g_assert_null(strstr(text.body, "\nAsked because: fine"));

                jwriter_init(&writer);
                approval_text_write(&text, &card.facts, &writer);
                json = jwriter_steal(&writer, NULL);
                g_assert_null(strstr(json, "\u202e"));
                g_assert_null(strstr(json, "\\u001b"));
                card_done(&card);
        }
}

/* C7: padding does not push the end out of sight. */
static void test_padding(void) {
        static const struct {
                const char *text;
                const char *expected;
        } cases[] = {
                { "a  b", "a  b" },
                { "a                b", "a                b" },
                { "a                 b", "a[17 blanks]b" },
                { "a\n\n\n\nb", "a\n\n\n\nb" },
                { "a\n\n\n\n\nb", "a[5 line ends]b" },
                { "", "" },
        };
        g_autofree char *blanks = g_strnfill(30000, ' ');
        g_autofree char *arguments = g_strdup_printf("{\"command\":\"ls%s; rm -rf ~\"}", blanks);
        g_auto(ApprovalText) text = {};
        Card card;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                bool squeezed;
                g_autofree char *out = approval_text_squeeze(cases[i].text, &squeezed);

                g_assert_cmpstr(out, ==, cases[i].expected);
                g_assert_true(squeezed == (strcmp(cases[i].text, out) != 0));
        }

        card_init(&card, arguments);
        approval_text_make(&card.facts, &text);
        g_assert_cmpstr(text.preview, ==, "{\"command\":\"ls[30000 blanks]; rm -rf ~\"}");
        g_assert_true(text.escaped);
        g_assert_false(text.cut);
        card_done(&card);
}

/* C8: what is cut says so, tells the full length, and can't be allowed for longer. */
static void test_cut(void) {
        static const size_t sizes[] = { 16 * 1024, 16 * 1024 + 1, 300 * 1024, 8 * 1024 * 1024 };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
                g_autofree char *arguments = g_strnfill(sizes[i], 'x');
                g_auto(ApprovalText) text = {};
                g_autofree char *length = g_strdup_printf("(%zu bytes)", sizes[i]);
                Card card;

                card_init(&card, arguments);
                approval_text_make(&card.facts, &text);
                g_assert_true(text.cut == (i > 0));
                g_assert_true((text.offers == 0) == (i > 0));
                g_assert_true((strstr(text.body, "May be allowed") == NULL) == (i > 0));
                g_assert_true((strstr(text.body, ", CUT") != NULL) == (i > 0));
                g_assert_nonnull(strstr(text.body, length));
                g_assert_cmpuint(strlen(text.preview), <=, 16 * 1024);
                card_done(&card);
        }
}

/* C1: anything that is other than it was makes another digest. */
static void test_digest(void) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        static const ApprovalOperand one = { "a", "00" }, changed = { "a", "01" };
        g_autofree char *large = g_strnfill(400 * 1024, 'x');

        for (unsigned change = 0; change < 15; change++) {
                g_auto(ApprovalText) text = {}, again = {};
                Card card;

                card_init(&card, "{\"a\":1}");
                switch (change) {
                case 1:
                        card.facts.arguments = "{\"a\":2}";
                        break;
                case 2:
                        card.facts.arguments = "{\"a\": 1}";
                        card.facts.arguments_size++;
                        break;
                case 3:
                        card.subject.tool = "other";
                        break;
                case 4:
                        card.subject.build = &caller;
                        break;
                case 5:
                        card.subject.called_from = &caller;
                        break;
                case 6:
                        card.facts.call_id = "c-2";
                        break;
                case 7:
                        card.facts.client = "other";
                        break;
                case 8:
                        card.facts.operands = &one;
                        card.facts.n_operands = 1;
                        break;
                case 9:
                        card.facts.operands = &changed;
                        card.facts.n_operands = 1;
                        break;
                case 10:
                        card.facts.offers = 0;
                        break;
                case 11:
                        card.facts.workspace = "/w";
                        break;
                case 12:
                        card.facts.kind = "core-call";
                        break;
                /* The last byte counts although it is never shown. */
                case 13:
                case 14:
                        large[400 * 1024 - 1] = change == 13 ? 'x' : 'y';
                        card.facts.arguments = large;
                        card.facts.arguments_size = 400 * 1024;
                        break;
                default:
                        break;
                }
                approval_text_make(&card.facts, &text);
                approval_text_make(&card.facts, &again);
                g_assert_cmpstr(text.digest, ==, again.digest);
                g_test_message("change %u", change);
                g_assert_true(g_hash_table_add(seen, g_strdup(text.digest)));
                card_done(&card);
        }
}

/* C6: a nested call shows its whole chain. */
static void test_chain(void) {
        g_auto(ApprovalText) text = {};
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;
        Card card;

        card_init(&card, "{\"command\":\"ls\"}");
        card.subject = (ApprovalSubject){ .tool = "exec_shell", .called_from = &caller };
        card.facts.kind = "core-call";
        approval_text_make(&card.facts, &text);
        g_assert_nonnull(strstr(text.body,
                        "Tool: exec_shell\nCalled by plugin: Counter (user.caller), build ffffffffffff\n"));
        jwriter_init(&writer);
        approval_text_write(&text, &card.facts, &writer);
        json = jwriter_steal(&writer, NULL);
        g_assert_nonnull(strstr(json, "\"origin\":[\"agent\",\"user.caller\",\"exec_shell\"]"));
        card_done(&card);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/approval-text/plain", test_plain);
        g_test_add_func("/approval-text/C7-AP-07-hostile-fields", test_hostile_fields);
        g_test_add_func("/approval-text/C7-padding", test_padding);
        g_test_add_func("/approval-text/C8-cut", test_cut);
        g_test_add_func("/approval-text/C1-digest", test_digest);
        g_test_add_func("/approval-text/C6-chain", test_chain);
        return g_test_run();
}
