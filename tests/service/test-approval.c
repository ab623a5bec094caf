/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/approval-table.h"

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
        g_assert_cmpint(approval_table_register(fixture->table, &(Actor) { .name = (char *) ":1.person" }, "desk", NULL), ==, 0);
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
        if (answer->scope && (answer->outcome == APPROVAL_ALLOWED || strcmp(answer->scope, APPROVAL_ONCE) != 0))
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

static uint64_t must_open_about(Fixture *fixture, const char *requester, const char *kind, const char *session, const char *plugin) {
        const ApprovalRequest request = {
                .requester = requester, .kind = kind, .call_id = "c-1", .session = session, .plugin = plugin, .title = "x",
                .card = "{\"title\":\"t\"}", .digest = "digest",
        };
        Approval *approval;

        g_assert_cmpint(approval_open(fixture->table, &request, on_decided, fixture, &approval, NULL), ==, 0);
        return approval_get_id(approval);
}

static uint64_t must_open(Fixture *fixture, const char *requester) {
        Approval *approval;

        g_assert_cmpint(open_card(fixture, requester, 0, &approval, NULL), ==, 0);
        return approval_get_id(approval);
}

static int answer(
                Fixture *fixture, uint64_t id, const char *client, const char *decision, const char *digest, const char *scope,
                sd_bus_error *reterr) {
        const Actor who = { .name = (char *) client };
        const ApprovalChoice choice = { .decision = decision, .digest = digest, .scope = scope };

        return approval_answer(fixture->table, id, &who, &choice, reterr);
}

#define assert_answer(fixture, id, client, decision, digest, scope, expected)                                                          \
        do {                                                                                                                       \
                g_auto(sd_bus_error) answer_error = SD_BUS_ERROR_NULL;                                                             \
                                                                                                                                   \
                (void) answer(fixture, id, client, decision, digest, scope, &answer_error);                                       \
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
        g_assert_cmpint(approval_table_register(fixture->table, &(Actor) { .name = (char *) ":1.phone" }, NULL, NULL), ==, 0);
        assert_answer(fixture, id, ":1.phone", "deny", "digest", NULL, NULL);
        assert_answer(fixture, id, ":1.person", "allow", "digest", NULL, ERROR_ALREADY_DECIDED);
        g_assert_cmpstr(fixture->log->str, ==, "1:denied ");
}

static void test_who_may_answer(Fixture *fixture, const void *data) {
        uint64_t id = must_open(fixture, ":1.agent");

        (void) data;
        assert_answer(fixture, id, ":1.stranger", "allow", "digest", NULL, ERROR_NOT_APPROVER);
        g_assert_cmpint(approval_table_register(fixture->table, &(Actor) { .name = (char *) ":1.agent" }, NULL, NULL), ==, 0);
        assert_answer(fixture, id, ":1.agent", "allow", "digest", NULL, ERROR_OWN_APPROVAL);
        assert_answer(fixture, id, ":1.person", "allow", "other", NULL, ERROR_DIGEST_MISMATCH);
        assert_answer(fixture, id, ":1.person", "perhaps", "digest", NULL, ERROR_INVALID_ARGUMENTS);
        assert_answer(fixture, id, ":1.person", "allow", "digest", "tool", ERROR_INVALID_ARGUMENTS);
        g_assert_cmpstr(fixture->log->str, ==, "");
        assert_answer(fixture, id, ":1.person", "allow", "digest", "arguments", NULL);
        g_assert_cmpstr(fixture->log->str, ==, "1:allowed/arguments ");
}

static void collect_approver(const Approver *approver, void *userdata) {
        g_string_append_printf(userdata, "%s=%s ", approver->who.name, approver->label);
}

/* What an approver calls itself is read beside what it is: it may not turn or hide that. */
static void test_labels(Fixture *fixture, const void *data) {
        g_autofree char *longest = g_strnfill(SESSION_LABEL_BYTES_MAX, 'x');
        g_autofree char *too_long = g_strnfill(SESSION_LABEL_BYTES_MAX + 1, 'x');
        const char *const refused[] = {
                "two\nlines", "back\bspace", "\033[2Jscreen", "\302\205next", "\342\200\256turned", "zero\342\200\213width", too_long,
        };
        const Actor phone = { .name = (char *) ":1.phone", .exe = (char *) "/usr/bin/phone" };
        g_autoptr(GString) found = g_string_new(NULL);

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                g_assert_cmpint(approval_table_register(fixture->table, &phone, refused[i], &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
                g_assert_false(approval_table_is_approver(fixture->table, ":1.phone"));
        }
        g_assert_cmpint(approval_table_register(fixture->table, &phone, longest, NULL), ==, 0);
        approval_table_unregister(fixture->table, ":1.person");
        approval_table_foreach_approver(fixture->table, collect_approver, found);
        g_assert_true(g_str_has_suffix(found->str, "xx "));

        /* Another label takes the place of the first; one that is refused leaves it. */
        g_assert_cmpint(approval_table_register(fixture->table, &phone, "phone", NULL), ==, 0);
        g_assert_cmpint(approval_table_register(fixture->table, &phone, too_long, NULL), <, 0);
        g_string_truncate(found, 0);
        approval_table_foreach_approver(fixture->table, collect_approver, found);
        g_assert_cmpstr(found->str, ==, ":1.phone=phone ");
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
        g_assert_cmpint(approval_table_register(fixture->table, &(Actor) { .name = (char *) ":1.agent" }, NULL, NULL), ==, 0);
        g_assert_cmpint(open_card(fixture, ":1.agent", 0, &approval, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_NO_APPROVER);
}

static void test_approver_vanishes(Fixture *fixture, const void *data) {
        (void) data;
        (void) must_open(fixture, ":1.agent");
        (void) must_open(fixture, ":1.agent");
        g_assert_cmpint(approval_table_register(fixture->table, &(Actor) { .name = (char *) ":1.phone" }, NULL, NULL), ==, 0);
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

/* Nobody can fill the table alone: neither a client nor whoever calls one plugin. A thousand open cards are no trouble. */
static void test_flood(Fixture *fixture, const void *data) {
        const ApprovalRequest request = {
                .requester = ":1.last", .kind = "tool-call", .plugin = "p", .title = "x", .card = "{}", .digest = "digest",
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Approval *approval;

        (void) data;
        for (unsigned i = 0; i < APPROVALS_PER_PLUGIN_MAX; i++) {
                g_autofree char *client = g_strdup_printf(":2.%u", i / APPROVALS_PER_CLIENT_MAX);

                g_assert_cmpuint(must_open_about(fixture, client, "tool-call", "s1", "p"), ==, i + 1);
        }
        g_assert_cmpint(approval_open(fixture->table, &request, on_decided, fixture, &approval, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        (void) must_open_about(fixture, ":1.last", "tool-call", "s1", "another");

        /* Any of them can be answered, and then there is room for one more. */
        assert_answer(fixture, 700, ":1.person", "deny", "digest", NULL, NULL);
        g_assert_null(approval_table_find(fixture->table, 700));
        g_assert_nonnull(approval_table_find(fixture->table, 699));
        g_assert_nonnull(approval_table_find(fixture->table, 701));
        (void) must_open_about(fixture, ":1.last", "tool-call", "s1", "p");
        approval_table_withdraw_requester(fixture->table, ":2.0");
        g_assert_cmpuint(approval_table_count(fixture->table), ==, APPROVALS_PER_PLUGIN_MAX + 1 - APPROVALS_PER_CLIENT_MAX);
        assert_answer(fixture, 1, ":1.person", "allow", "digest", NULL, ERROR_WITHDRAWN);
        assert_answer(fixture, 700, ":1.person", "allow", "digest", NULL, ERROR_ALREADY_DECIDED);
}

static void test_withdrawn_with_what_it_is_about(Fixture *fixture, const void *data) {
        (void) data;
        (void) must_open_about(fixture, ":1.agent", "tool-call", "s1", "p");
        (void) must_open_about(fixture, ":1.agent", APPROVAL_PERSONAL_ACT, "s2", NULL);
        (void) must_open_about(fixture, ":1.agent", APPROVAL_PERSONAL_ACT, NULL, "p");
        approval_table_withdraw_acts(fixture->table, "other");
        approval_table_withdraw_acts(fixture->table, "p");
        approval_table_withdraw_session(fixture->table, "s2");
        g_assert_cmpstr(fixture->log->str, ==, "3:withdrawn 2:withdrawn ");
}

static void test_scopes_of_a_no(Fixture *fixture, const void *data) {
        uint64_t call = must_open(fixture, ":1.agent"), act = must_open_about(fixture, ":1.agent", APPROVAL_PERSONAL_ACT, "s", NULL);

        (void) data;
        assert_answer(fixture, call, ":1.person", "deny", "digest", "arguments", ERROR_INVALID_ARGUMENTS);
        assert_answer(fixture, act, ":1.person", "deny", "digest", "session", ERROR_INVALID_ARGUMENTS);
        assert_answer(fixture, call, ":1.person", "allow", "digest", "session", ERROR_INVALID_ARGUMENTS);
        assert_answer(fixture, call, ":1.person", "deny", "digest", "session", NULL);
        assert_answer(fixture, act, ":1.person", "deny", "digest", "once", NULL);
        g_assert_cmpstr(fixture->log->str, ==, "1:denied/session 2:denied ");
}

static void test_time_of_a_grant(Fixture *fixture, const void *data) {
        static const struct {
                const char *decision, *scope;
                uint64_t seconds;
                int expected;
        } cases[] = {
                { "allow", NULL, 60, -EINVAL },
                { "allow", "once", 60, -EINVAL },
                { "deny", "session", 60, -EINVAL },
                { "allow", "arguments", GRANT_SECONDS_MAX + UINT64_C(1), -EINVAL },
                { "allow", "arguments", GRANT_SECONDS_MAX, 0 },
        };
        const Actor who = { .name = (char *) ":1.person" };
        uint64_t id = must_open(fixture, ":1.agent");

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const ApprovalChoice choice = {
                        .decision = cases[i].decision, .digest = "digest", .scope = cases[i].scope, .seconds = cases[i].seconds,
                };

                g_test_message("case %zu", i);
                g_assert_cmpint(approval_answer(fixture->table, id, &who, &choice, NULL), ==, cases[i].expected);
        }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/approval/AP-03-exact-card", test_exact_card);
        ADD("/approval/AP-04-stale-answers", test_stale);
        ADD("/approval/AP-17-first-answer-wins", test_two_approvers);
        ADD("/approval/who-may-answer", test_who_may_answer);
        ADD("/approval/AP-07-labels-of-approvers", test_labels);
        ADD("/approval/AP-14-no-approver", test_no_approver);
        ADD("/approval/approver-vanishes", test_approver_vanishes);
        ADD("/approval/AP-15-timed-out", test_timeout);
        ADD("/approval/AP-05-many-cards", test_many);
        ADD("/approval/flood-of-one-client-or-about-one-plugin", test_flood);
        ADD("/approval/withdrawn-with-what-it-is-about", test_withdrawn_with_what_it_is_about);
        ADD("/approval/scopes-of-a-no", test_scopes_of_a_no);
        ADD("/approval/C5-time-of-a-grant", test_time_of_a_grant);
        return g_test_run();
}
