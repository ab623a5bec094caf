/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/core-receipt.h"
#include "test-json.h"

static char *written(const CoreReceipts *receipts) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        core_receipts_write(receipts, &writer);
        return jwriter_steal(&writer, NULL);
}

static void test_story(void) {
        g_autoptr(CoreReceipts) receipts = core_receipts_new();
        g_autofree char *json = NULL;

        g_assert_cmpuint(core_receipts_total(receipts), ==, 0);
        g_assert_cmpuint(core_receipts_begin(receipts, "read_file"), ==, 1);
        g_assert_cmpuint(core_receipts_begin(receipts, "bash"), ==, 2);
        g_assert_cmpuint(core_receipts_begin(receipts, "agent\n\x1b[2J"), ==, 3);
        core_receipts_decide(receipts, 1, CORE_DECISION_AUTO);
        core_receipts_finish(receipts, 1, CORE_STATUS_OK, 12, NULL);
        core_receipts_decide(receipts, 2, CORE_DECISION_APPROVED);
        core_receipts_decide(receipts, 3, CORE_DECISION_REFUSED);
        core_receipts_finish(receipts, 3, CORE_STATUS_REFUSED, 0, "on the list");
        g_assert_cmpuint(core_receipts_begin(receipts, "waits"), ==, 4);
        json = written(receipts);
        g_assert_cmpstr(json, ==,
                        "{\"total\":4,\"calls\":["
                        "{\"seq\":1,\"tool\":\"read_file\",\"decision\":\"auto\",\"status\":\"ok\","
                        "\"bytes\":12},"
                        "{\"seq\":2,\"tool\":\"bash\",\"decision\":\"approved\",\"status\":\"in_flight\","
                        "\"bytes\":0},"
                        "{\"seq\":3,\"tool\":\"agent\\\\x0a\\\\x1b[2J\",\"decision\":\"refused\",\"status\":"
                        "\"refused\","
                        "\"bytes\":0,\"note\":\"on the list\"},"
                        /* Nothing was decided, and with the end of the outer call nothing will be. */
                        "{\"seq\":4,\"tool\":\"waits\",\"decision\":\"cancelled\",\"status\":\"in_flight\",\"bytes\":0}]}");
        g_assert_null(core_receipts_free(NULL));
}

/* All are counted, fifty are kept, a note has 256 bytes; numbers that are not kept are harmless. */
static void test_limits(void) {
        g_autoptr(CoreReceipts) receipts = core_receipts_new();
        g_autofree char *note = g_strnfill(1000, 'n'), *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval calls;
        size_t size;

        for (unsigned i = 1; i <= 52; i++) {
                uint64_t number = core_receipts_begin(receipts, "read_file");

                g_assert_cmpuint(number, ==, i);
                core_receipts_decide(receipts, number, CORE_DECISION_AUTO);
                core_receipts_finish(receipts, number, CORE_STATUS_OK, 1, note);
        }
        core_receipts_finish(receipts, 0, CORE_STATUS_OK, 1, NULL);
        core_receipts_finish(receipts, 999, CORE_STATUS_OK, 1, NULL);
        json = written(receipts);
        doc = parse_json(json);
        calls = jval_member(jdoc_root(doc), "calls");
        g_assert_cmpuint(core_receipts_total(receipts), ==, 52);
        g_assert_cmpuint(jval_length(calls), ==, 50);
        g_assert_nonnull(jval_string(jval_member(jval_element(calls, 0), "note"), &size));
        g_assert_cmpuint(size, <=, 256);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/core-receipt/story", test_story);
        g_test_add_func("/core-receipt/X07-limits", test_limits);
        return g_test_run();
}
