/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/approval.h"

typedef struct Fixture {
        sd_event *event;
        ApprovalTable *table;
        GString *log; /* one word an outcome, in order */
} Fixture;

static void fixture_up(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(sd_event_new(&fixture->event), ==, 0);
        fixture->table = approval_table_new(fixture->event);
        fixture->log = g_string_new(NULL);
        g_assert_cmpint(approval_table_register(fixture->table, ":1.person", "desk", NULL), ==, 0);
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        fixture->table = approval_table_free(fixture->table);
        fixture->event = sd_event_unref(fixture->event);
        g_string_free(fixture->log, TRUE);
}

static void on_decided(Approval *approval, const ApprovalAnswer *answer, void *userdata) {
        Fixture *fixture = userdata;

        g_string_append_printf(fixture->log, "%" G_GUINT64_FORMAT ":%s", approval_get_id(approval),
                               approval_outcome_to_string(answer->outcome));
        if (answer->scope)
                g_string_append_printf(fixture->log, "/%s", answer->scope);
        g_string_append_c(fixture->log, ' ');
}

static const char *const scopes[] = { "arguments", NULL };

static int open_card(Fixture *fixture, const char *requester, uint64_t timeout_msec, Approval **ret, sd_bus_error *reterr) {
        const ApprovalRequest request = {
                .requester = requester, .kind = "tool-call", .title = "x wants to run y", .card = "{\"title\":\"t\"}",
                .digest = "digest", .scopes = scopes, .arguments = "{}", .arguments_size = 2, .timeout_msec = timeout_msec,
        };

        return approval_open(fixture->table, &request, on_decided, fixture, ret, reterr);
}

static uint64_t must_open(Fixture *fixture, const char *requester) {
        Approval *approval;

        g_assert_cmpint(open_card(fixture, requester, 0, &approval, NULL), ==, 0);
        return approval_get_id(approval);
}

#define assert_answer(fixture, id, client, decision, digest, scope, expected)                                                          \
        do {                                                                                                                       \
                g_auto(sd_bus_error) answer_error = SD_BUS_ERROR_NULL;                                                             \
                                                                                                                                   \
                (void) approval_answer((fixture)->table, id, client, decision, digest, scope, &answer_error);                     \
                g_assert_cmpstr(answer_error.name, ==, expected);                                                                    \
        } while (0)

static void test_exact_card(Fixture *fixture, const void *data) {
        uint64_t first = must_open(fixture, ":1.agent"), second = must_open(fixture, ":1.agent");

        (void) data;
        assert_answer(fixture, second, ":1.person", "allow", "digest", NULL, NULL);
        g_assert_nonnull(approval_table_find(fixture->table, first));
        g_assert_null(approval_table_find(fixture->table, second));
        g_assert_cmpuint(approval_table_count(fixture->table), ==, 1);
        g_assert_cmpstr(fixture->log->str, ==, "2:allowed/once ");
}

static void test_stale(Fixture *fixture, const void *data) {
        uint64_t id = must_open(fixture, ":1.agent"), withdrawn = must_open(fixture, ":1.agent");

        (void) data;
        assert_answer(fixture, 77, ":1.person", "allow", "digest", NULL, ERROR_NO_SUCH_APPROVAL);
        assert_answer(fixture, 0, ":1.person", "allow", "digest", NULL, ERROR_NO_SUCH_APPROVAL);
        assert_answer(fixture, id, ":1.person", "deny", "digest", NULL, NULL);
        assert_answer(fixture, id, ":1.person", "allow", "digest", NULL, ERROR_ALREADY_DECIDED);
        approval_withdraw(approval_table_find(fixture->table, withdrawn), "gone");
        assert_answer(fixture, withdrawn, ":1.person", "allow", "digest", NULL, ERROR_WITHDRAWN);
        g_assert_cmpstr(fixture->log->str, ==, "1:denied 2:withdrawn ");
}

static void test_two_approvers(Fixture *fixture, const void *data) {
        uint64_t id = must_open(fixture, ":1.agent");

        (void) data;
        g_assert_cmpint(approval_table_register(fixture->table, ":1.phone", NULL, NULL), ==, 0);
        assert_answer(fixture, id, ":1.phone", "deny", "digest", NULL, NULL);
        assert_answer(fixture, id, ":1.person", "allow", "digest", NULL, ERROR_ALREADY_DECIDED);
        g_assert_cmpstr(fixture->log->str, ==, "1:denied ");
}

static void test_who_may_answer(Fixture *fixture, const void *data) {
        uint64_t id = must_open(fixture, ":1.agent");

        (void) data;
        assert_answer(fixture, id, ":1.stranger", "allow", "digest", NULL, ERROR_NOT_APPROVER);
        g_assert_cmpint(approval_table_register(fixture->table, ":1.agent", NULL, NULL), ==, 0);
        assert_answer(fixture, id, ":1.agent", "allow", "digest", NULL, ERROR_OWN_APPROVAL);
        assert_answer(fixture, id, ":1.person", "allow", "other", NULL, ERROR_DIGEST_MISMATCH);
        assert_answer(fixture, id, ":1.person", "perhaps", "digest", NULL, ERROR_INVALID_ARGUMENTS);
        assert_answer(fixture, id, ":1.person", "allow", "digest", "tool", ERROR_INVALID_ARGUMENTS);
        g_assert_cmpstr(fixture->log->str, ==, "");
        assert_answer(fixture, id, ":1.person", "allow", "digest", "arguments", NULL);
        g_assert_cmpstr(fixture->log->str, ==, "1:allowed/arguments ");
}

static void test_no_approver(Fixture *fixture, const void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Approval *approval;

        (void) data;
        approval_table_unregister(fixture->table, ":1.person");
        g_assert_cmpint(open_card(fixture, ":1.agent", 0, &approval, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_NO_APPROVER);
        /* The requester alone is nobody to ask. */
        sd_bus_error_free(&error);
        g_assert_cmpint(approval_table_register(fixture->table, ":1.agent", NULL, NULL), ==, 0);
        g_assert_cmpint(open_card(fixture, ":1.agent", 0, &approval, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_NO_APPROVER);
}

static void test_approver_vanishes(Fixture *fixture, const void *data) {
        (void) data;
        (void) must_open(fixture, ":1.agent");
        (void) must_open(fixture, ":1.agent");
        g_assert_cmpint(approval_table_register(fixture->table, ":1.phone", NULL, NULL), ==, 0);
        approval_table_unregister(fixture->table, ":1.person");
        g_assert_cmpuint(approval_table_count(fixture->table), ==, 2);
        approval_table_unregister(fixture->table, ":1.phone");
        g_assert_cmpuint(approval_table_count(fixture->table), ==, 0);
        g_assert_cmpstr(fixture->log->str, ==, "2:no-approver 1:no-approver ");
}

static void test_timeout(Fixture *fixture, const void *data) {
        Approval *approval;

        (void) data;
        g_assert_cmpint(open_card(fixture, ":1.agent", 20, &approval, NULL), ==, 0);
        while (approval_table_count(fixture->table) > 0)
                g_assert_cmpint(sd_event_run(fixture->event, 20 * G_USEC_PER_SEC), >, 0);
        g_assert_cmpstr(fixture->log->str, ==, "1:timed-out ");
        assert_answer(fixture, 1, ":1.person", "allow", "digest", NULL, ERROR_TIMED_OUT);
}

static void test_many(Fixture *fixture, const void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Approval *approval;

        (void) data;
        for (uint64_t i = 1; i <= 20; i++)
                g_assert_cmpuint(must_open(fixture, ":1.agent"), ==, i);
        g_assert_cmpuint(approval_table_count(fixture->table), ==, 20);
        for (unsigned i = 20; i < APPROVALS_PER_CLIENT_MAX; i++)
                (void) must_open(fixture, ":1.agent");
        g_assert_cmpint(open_card(fixture, ":1.agent", 0, &approval, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        (void) must_open(fixture, ":1.other");
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/approval/AP-03-exact-card", test_exact_card);
        ADD("/approval/AP-04-stale-answers", test_stale);
        ADD("/approval/AP-17-first-answer-wins", test_two_approvers);
        ADD("/approval/who-may-answer", test_who_may_answer);
        ADD("/approval/AP-14-no-approver", test_no_approver);
        ADD("/approval/approver-vanishes", test_approver_vanishes);
        ADD("/approval/AP-15-timed-out", test_timeout);
        ADD("/approval/AP-05-many-cards", test_many);
        return g_test_run();
}
