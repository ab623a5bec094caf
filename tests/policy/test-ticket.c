/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/ticket.h"
#include "test-json.h"

#define SEC UINT64_C(1000000)
#define FAR (1000 * SEC)

static const TicketScope base = {
        .kind = TICKET_INVOCATION,
        .tier = TICKET_TIER_PLUGIN,
        .host_generation = 3,
        .owner = "counter",
        .owner_generation = 7,
        .owner_token = "aaaa",
        .method = "core/call",
};

static void mint(TicketTable *table, const TicketScope *scope, unsigned uses, uint8_t seed, char *ret) {
        uint8_t random[TICKET_RANDOM_BYTES];

        memset(random, seed, sizeof random);
        g_assert_cmpint(ticket_table_mint(table, scope, "c1", uses, FAR, random, ret), ==, 0);
}

static int redeem(TicketTable *table, const char *id, const TicketScope *claim, uint64_t now,
                TicketAnswer *ret) {
        return ticket_table_redeem(table, id, strlen(id), claim, now, ret);
}

static void test_good(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        char id[TICKET_ID_CHARS + 1];
        TicketAnswer answer;

        mint(table, &base, 50, 1, id);
        g_assert_cmpuint(strlen(id), ==, 68);
        g_assert_true(g_str_has_prefix(id, "cwt.0101"));
        for (unsigned i = 0; i < 50; i++) {
                g_assert_cmpint(redeem(table, id, &base, SEC, &answer), ==, 0);
                g_assert_cmpstr(answer.invocation, ==, "c1");
                g_assert_null(answer.text);
        }
        /* X07: the 51st is refused as a limit, and the row stays. */
        g_assert_cmpint(redeem(table, id, &base, SEC, &answer), ==, -ENOBUFS);
        g_assert_cmpint(answer.refusal, ==, TICKET_EXHAUSTED);
        g_assert_cmpuint(ticket_table_length(table), ==, 1);
        g_assert_cmpuint(ticket_table_remove_invocation(table, "c1"), ==, 1);
        g_assert_cmpint(redeem(table, id, &base, SEC, &answer), ==, -EPERM);
        g_assert_cmpint(answer.refusal, ==, TICKET_UNKNOWN);
}

/* X08: each thing that can be wrong, alone; first come, first told, in the contract's order. */
static void test_wrong(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        g_autoptr(Jdoc) target = parse_json("{\"a\":1,\"b\":[2]}"),
                        same = parse_json("{\"b\":[2.0],\"a\":1}");
        g_autoptr(Jdoc) other = parse_json("{\"a\":1}");
        TicketScope scope = base, claims[8];
        char id[TICKET_ID_CHARS + 1];
        TicketAnswer answer;

        scope.target = jdoc_root(target);
        mint(table, &scope, 50, 2, id);
        for (size_t i = 0; i < G_N_ELEMENTS(claims); i++)
                claims[i] = scope;
        claims[0].kind = TICKET_EXECUTION;
        claims[1].tier = TICKET_TIER_BUILTIN;
        claims[2].host_generation = 4;
        claims[3].owner = "greeting";
        claims[4].owner_generation = 6;
        claims[5].owner_token = "aaab";
        claims[6].method = "exec/redeem";
        claims[7].target = jdoc_root(other);
        static const TicketRefusal expected[] = {
                TICKET_WRONG_KIND,
                TICKET_WRONG_TIER,
                TICKET_WRONG_HOST,
                TICKET_WRONG_OWNER,
                TICKET_WRONG_OWNER,
                TICKET_WRONG_OWNER,
                TICKET_WRONG_METHOD,
                TICKET_WRONG_TARGET,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(claims); i++) {
                g_test_message("%s", ticket_refusal_to_string(expected[i]));
                g_assert_cmpint(redeem(table, id, &claims[i], SEC, &answer), ==, -EPERM);
                g_assert_cmpint(answer.refusal, ==, expected[i]);
                g_assert_null(answer.invocation);
        }
        /* Everything wrong at once is told as the first. */
        for (size_t i = 1; i < G_N_ELEMENTS(claims); i++) {
                TicketScope all = claims[i];

                all.kind = TICKET_EXECUTION;
                g_assert_cmpint(redeem(table, id, &all, 2 * FAR, &answer), ==, -EPERM);
                g_assert_cmpint(answer.refusal, ==, TICKET_WRONG_KIND);
        }
        /* The order of the target's members does not matter, and it need not be stated. */
        scope.target = jdoc_root(same);
        g_assert_cmpint(redeem(table, id, &scope, SEC, &answer), ==, 0);
        scope.target = (Jval){};
        g_assert_cmpint(redeem(table, id, &scope, SEC, &answer), ==, 0);
        g_assert_cmpint(redeem(table, id, &scope, FAR, &answer), ==, -ETIME);
        g_assert_cmpint(answer.refusal, ==, TICKET_EXPIRED);
}

static void test_made_up(void) {
        static const char *const ids[] = {
                "",
                "cwt.",
                "x",
                "cwt.0000000000000000000000000000000000000000000000000000000000000000",
                "cwt.03030303030303030303030303030303030303030303030303030303030303",
                "CWT.0303",
        };
        g_autoptr(TicketTable) table = ticket_table_new();
        char id[TICKET_ID_CHARS + 1];
        TicketAnswer answer;

        mint(table, &base, 1, 3, id);
        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_assert_cmpint(redeem(table, ids[i], &base, i * 100 * SEC, &answer), ==, -EPERM);
                g_assert_cmpint(answer.refusal, ==, TICKET_UNKNOWN);
        }
        for (size_t i = 0; i < TICKET_ID_CHARS; i++) {
                char wrong[TICKET_ID_CHARS + 1];

                memcpy(wrong, id, sizeof wrong);
                wrong[i] ^= 1;
                g_assert_cmpint(redeem(table, wrong, &base, (1000 + i * 100) * SEC, &answer), ==, -EPERM);
        }
        g_assert_cmpint(ticket_table_redeem(table, "cwt.\0", 5, &base, 0, &answer), ==, -EPERM);
}

/* X09: eight bad ones within a minute, per host process; what is used up is not counted; a new process
 * starts anew. */
static void test_violations(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        TicketScope other_host = base;
        char id[TICKET_ID_CHARS + 1];
        TicketAnswer answer;

        other_host.host_generation = 9;
        mint(table, &base, 1, 4, id);
        g_assert_cmpint(redeem(table, id, &base, SEC, &answer), ==, 0);
        for (unsigned i = 0; i < 20; i++) {
                g_assert_cmpint(redeem(table, id, &base, SEC, &answer), ==, -ENOBUFS);
                g_assert_false(answer.violation);
        }
        for (unsigned i = 1; i <= 8; i++) {
                (void) redeem(table, "x", &base, 2 * SEC + i, &answer);
                g_assert_true(answer.violation == (i == 8));
        }
        (void) redeem(table, "x", &other_host, 3 * SEC, &answer);
        g_assert_false(answer.violation);
        (void) ticket_table_remove_host(table, TICKET_TIER_PLUGIN, 3);
        (void) redeem(table, "x", &base, 4 * SEC, &answer);
        g_assert_false(answer.violation);
}

static void test_violation_window(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        TicketAnswer answer;

        /* One every nine seconds: never eight within sixty. */
        for (unsigned i = 0; i < 100; i++) {
                (void) redeem(table, "x", &base, i * 9 * SEC, &answer);
                g_assert_false(answer.violation);
        }
        /* Seven of those lie within a minute: the next one is the eighth. */
        (void) redeem(table, "x", &base, 99 * 9 * SEC + 1, &answer);
        g_assert_true(answer.violation);
}

/* X10: three texts, none of which quotes the ticket or says which field it was. */
static void test_texts(void) {
        static const char *const words[] = { "kind", "tier", "owner", "generation", "method", "target",
                "token", "host" };
        g_autoptr(TicketTable) table = ticket_table_new();
        g_autoptr(GHashTable) texts = g_hash_table_new(g_str_hash, g_str_equal);
        char id[TICKET_ID_CHARS + 1];

        mint(table, &base, 1, 5, id);
        for (unsigned i = 0; i < 6; i++) {
                TicketScope claim = base;
                TicketAnswer answer;

                if (i == 0)
                        claim.kind = TICKET_EXECUTION;
                if (i == 1)
                        claim.owner_token = "b";
                if (i == 2)
                        claim.method = "x";
                (void) redeem(table, i == 3 ? "made up" : id, &claim, i == 4 ? FAR : SEC, &answer);
                if (i == 5)
                        (void) redeem(table, id, &claim, SEC, &answer);
                g_assert_nonnull(answer.text);
                g_assert_null(strstr(answer.text, id));
                g_assert_null(strstr(answer.text, "cwt"));
                for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
                        g_assert_null(strstr(answer.text, words[k]));
                g_hash_table_add(texts, (void *) answer.text);
        }
        g_assert_cmpuint(g_hash_table_size(texts), ==, 3);
}

/* Kinds that are good for one use leave no row behind. */
static void test_single_use(void) {
        static const TicketKind kinds[] = { TICKET_MCP_LAUNCH, TICKET_MCP_OPERATION, TICKET_EXECUTION };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autoptr(TicketTable) table = ticket_table_new();
                TicketScope scope = base;
                char id[TICKET_ID_CHARS + 1];
                TicketAnswer answer;

                scope.kind = kinds[i];
                mint(table, &scope, 1, 6, id);
                g_assert_cmpint(redeem(table, id, &scope, SEC, &answer), ==, 0);
                g_assert_cmpstr(answer.invocation, ==, "c1");
                g_assert_cmpuint(ticket_table_length(table), ==, 0);
                g_assert_cmpint(redeem(table, id, &scope, SEC, &answer), ==, -EPERM);
                g_assert_cmpint(answer.refusal, ==, TICKET_UNKNOWN);
        }
}

/* X06: after each kind of end no row is left. */
static void test_revocation(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        TicketScope second = base, builtin = base;
        char id[TICKET_ID_CHARS + 1];

        second.owner = "greeting";
        builtin.tier = TICKET_TIER_BUILTIN;
        mint(table, &base, 1, 1, id);
        mint(table, &second, 1, 2, id);
        mint(table, &builtin, 1, 3, id);
        g_assert_cmpuint(ticket_table_remove_owner(table, "counter", 6), ==, 0);
        g_assert_cmpuint(ticket_table_remove_owner(table, "greeting", 7), ==, 1);
        g_assert_cmpuint(ticket_table_remove_host(table, TICKET_TIER_PLUGIN, 3), ==, 1);
        g_assert_cmpuint(ticket_table_remove_host(table, TICKET_TIER_PLUGIN, 3), ==, 0);
        g_assert_cmpuint(ticket_table_remove_invocation(table, "c1"), ==, 1);
        g_assert_cmpuint(ticket_table_length(table), ==, 0);
}

static void test_limits(void) {
        g_autoptr(TicketTable) table = ticket_table_new();
        uint8_t random[TICKET_RANDOM_BYTES] = {};
        char id[TICKET_ID_CHARS + 1] = "untouched";

        for (unsigned i = 0; i < 4096; i++) {
                random[0] = (uint8_t) i;
                random[1] = (uint8_t) (i >> 8);
                g_assert_cmpint(ticket_table_mint(table, &base, "c1", 1, FAR, random, id), ==, 0);
        }
        random[2] = 1;
        g_assert_cmpint(ticket_table_mint(table, &base, "c1", 1, FAR, random, id), ==, -ENOBUFS);
        g_assert_cmpuint(ticket_table_remove_invocation(table, "c1"), ==, 4096);
        g_assert_cmpint(ticket_table_mint(table, &base, "c1", 1, FAR, random, id), ==, 0);
        g_assert_cmpint(ticket_table_mint(table, &base, "c1", 1, FAR, random, id), ==, -EEXIST);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ticket/X07-uses", test_good);
        g_test_add_func("/ticket/X08-wrong-in-order", test_wrong);
        g_test_add_func("/ticket/X08-made-up", test_made_up);
        g_test_add_func("/ticket/X09-violations", test_violations);
        g_test_add_func("/ticket/X09-window", test_violation_window);
        g_test_add_func("/ticket/X10-texts", test_texts);
        g_test_add_func("/ticket/single-use", test_single_use);
        g_test_add_func("/ticket/X06-revocation", test_revocation);
        g_test_add_func("/ticket/limits", test_limits);
        return g_test_run();
}
