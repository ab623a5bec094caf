/* SPDX-License-Identifier: MIT */

/* The two matrices of contract 5.6, cell by cell. */

#include "call.h"

typedef enum Row {
        ROW_ASK,
        ROW_AUTO_REVIEW,
        ROW_FULL_ACCESS,
        ROW_NEVER,
        ROW_HEADLESS_ASK,
        ROW_HEADLESS_FULL_ACCESS,
        _ROW_MAX,
} Row;

static const struct {
        const char *name;
        Posture posture;
        bool headless;
} rows[_ROW_MAX] = {
        [ROW_ASK] = { "ask", POSTURE_ASK, false },
        [ROW_AUTO_REVIEW] = { "auto-review", POSTURE_AUTO_REVIEW, false },
        [ROW_FULL_ACCESS] = { "full-access", POSTURE_FULL_ACCESS, false },
        [ROW_NEVER] = { "never", POSTURE_NEVER, false },
        [ROW_HEADLESS_ASK] = { "headless-ask", POSTURE_ASK, true },
        [ROW_HEADLESS_FULL_ACCESS] = { "headless-full-access", POSTURE_FULL_ACCESS, true },
};

typedef enum Column { COLUMN_PLAIN, COLUMN_GRANT, COLUMN_DENIAL, _COLUMN_MAX } Column;
static const char *const column_names[_COLUMN_MAX] = { "no-grant", "grant", "denial" };

typedef struct Cell {
        Verdict verdict;
        CallOutcome outcome; /* of a deny */
        bool forced;
} Cell;

#define RUN                                                                                                 \
        { VERDICT_ALLOW, OUTCOME_ALLOWED, false }
#define CARD                                                                                                \
        { VERDICT_ASK, _OUTCOME_INVALID, false }
#define FORCED_CARD                                                                                         \
        { VERDICT_ASK, _OUTCOME_INVALID, true }
#define HELD                                                                                                \
        { VERDICT_DENY, OUTCOME_REFUSED_BY_POLICY, false }
#define NOBODY                                                                                              \
        { VERDICT_DENY, OUTCOME_NO_APPROVER, false }
#define SAID_NO                                                                                             \
        { VERDICT_DENY, OUTCOME_DENIED, false }

static void check_cell(Call *call, Row row, Column column, const Cell *expected) {
        g_auto(Decision) decision = {};

        call->input.posture = rows[row].posture;
        call->input.headless = rows[row].headless;
        if (column == COLUMN_GRANT)
                call_grant(call);
        if (column == COLUMN_DENIAL)
                call_deny(call);
        decision_make(&call->input, &decision);

        g_test_message("%s, %s, %s: %s", call->input.tool, rows[row].name, column_names[column],
                        verdict_to_string(decision.verdict));
        g_assert_cmpint(decision.verdict, ==, expected->verdict);
        g_assert_cmpint(decision.outcome, ==, expected->outcome);
        if (expected->verdict == VERDICT_ASK) {
                g_assert_true(decision.forced == expected->forced);
                g_assert_true((decision.offers == 0) == expected->forced);
        } else
                g_assert_cmpuint(decision.offers, ==, 0);
        g_assert_cmpuint(trace_length(decision.trace), >, 0);
}

static void test_outer_matrix(void) {
        static const Cell cells[_ROW_MAX][_COLUMN_MAX] = {
                [ROW_ASK] = { CARD, RUN, SAID_NO },
                [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                [ROW_NEVER] = { HELD, HELD, SAID_NO },
                [ROW_HEADLESS_ASK] = { NOBODY, RUN, SAID_NO },
                [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO },
        };

        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        Call call;

                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                        check_cell(&call, row, column, &cells[row][column]);
                        call_done(&call);
                }
}

/* Plan mode, any posture, any column: blocked by the mode. */
static void test_outer_plan(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        static const Cell blocked = HELD;
                        Call call;

                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                        call.input.mode = MODE_PLAN;
                        check_cell(&call, row, column, &blocked);
                        call_done(&call);
                }
}

typedef struct NestedKind {
        const char *name;
        const char *tools[8];
        Cell cells[_ROW_MAX][_COLUMN_MAX];
} NestedKind;

static const NestedKind nested_kinds[] = {
        { "auto-eligible",
                        { "read", "read_file", "list_dir", "file_search", "grep_files", "File",
                                        "READ_FILE" },
                        { [ROW_ASK] = { RUN, RUN, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { RUN, RUN, SAID_NO },
                                        [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                                        [ROW_NEVER] = { RUN, RUN, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { RUN, RUN, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO } } },
        { "ordinary", { "write_file", "edit_file", "apply_patch", "todo_write", "notify", "write", "edit" },
                        { [ROW_ASK] = { CARD, RUN, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                                        [ROW_FULL_ACCESS] = { RUN, RUN, SAID_NO },
                                        [ROW_NEVER] = { HELD, HELD, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { NOBODY, RUN, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { RUN, RUN, SAID_NO } } },
        { "forced", { "bash", "exec_shell", "shell", "fetch_url", "web_fetch", "web_search", "Run" },
                        { [ROW_ASK] = { FORCED_CARD, FORCED_CARD, SAID_NO },
                                        [ROW_AUTO_REVIEW] = { HELD, HELD, SAID_NO },
                                        [ROW_FULL_ACCESS] = { FORCED_CARD, FORCED_CARD, SAID_NO },
                                        [ROW_NEVER] = { HELD, HELD, SAID_NO },
                                        [ROW_HEADLESS_ASK] = { NOBODY, NOBODY, SAID_NO },
                                        [ROW_HEADLESS_FULL_ACCESS] = { NOBODY, NOBODY, SAID_NO } } },
};

static void test_nested_matrix(const void *data) {
        const NestedKind *kind = data;

        for (size_t i = 0; i < G_N_ELEMENTS(kind->tools) && kind->tools[i]; i++)
                for (Row row = 0; row < _ROW_MAX; row++)
                        for (Column column = 0; column < _COLUMN_MAX; column++) {
                                Call call;

                                call_init(&call, TOOL_CORE, kind->tools[i], true, "{\"command\":\"make\"}");
                                check_cell(&call, row, column, &kind->cells[row][column]);
                                call_done(&call);
                        }
}

static void test_nested_refused_column(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++) {
                        static const Cell refused = HELD;
                        Call call;

                        call_init(&call, TOOL_CORE, "request_user_input", true, "{}");
                        check_cell(&call, row, column, &refused);
                        call_done(&call);
                }
}

/* C9, AP-24: what a tool says about itself changes no cell of the matrix. */
static void test_claims(void) {
        for (Row row = 0; row < _ROW_MAX; row++)
                for (Column column = 0; column < _COLUMN_MAX; column++)
                        for (unsigned nested = 0; nested < 2; nested++) {
                                g_auto(Decision) plain = {}, claimed = {};
                                Call call;

                                if (nested)
                                        call_init(&call, TOOL_CORE, "write_file", true, "{}");
                                else
                                        call_init(&call, TOOL_EXTENSION, "mod_counter", false, "{}");
                                call.input.posture = rows[row].posture;
                                call.input.headless = rows[row].headless;
                                if (column == COLUMN_GRANT)
                                        call_grant(&call);
                                if (column == COLUMN_DENIAL)
                                        call_deny(&call);
                                decision_make(&call.input, &plain);
                                call.input.claims_read_only = true;
                                if (!nested) {
                                        call.input.requirement = REQUIREMENT_AUTO;
                                        call.input.capabilities = 0;
                                }
                                decision_make(&call.input, &claimed);
                                g_assert_cmpint(plain.verdict, ==, claimed.verdict);
                                g_assert_cmpint(plain.outcome, ==, claimed.outcome);
                                g_assert_cmpuint(plain.offers, ==, claimed.offers);
                                call_done(&call);
                        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/matrix/5.6.1-outer-all-cells", test_outer_matrix);
        g_test_add_func("/matrix/5.6.1-outer-plan", test_outer_plan);
        g_test_add_func("/matrix/X11-nested-refused-all-cells", test_nested_refused_column);
        g_test_add_func("/matrix/C9-AP-24-claims", test_claims);
        for (size_t i = 0; i < G_N_ELEMENTS(nested_kinds); i++) {
                g_autofree char *path =
                                g_strdup_printf("/matrix/X11-nested-%s-all-cells", nested_kinds[i].name);

                g_test_add_data_func(path, &nested_kinds[i], test_nested_matrix);
        }
        return g_test_run();
}
