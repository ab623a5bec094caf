/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/session.h"

static void test_options(void) {
        static const struct {
                SessionOptions options;
                const char *error;
        } cases[] = {
                { { .label = "editor", .workspace = "/usr", .mode = "plan", .posture = "never", .model = "m" }, NULL },
                { { .mode = "dance" }, ERROR_INVALID_OPTION },
                { { .posture = "relaxed" }, ERROR_INVALID_OPTION },
                { { .posture = "full-access" }, ERROR_NOT_AUTHORIZED },
                { { .workspace = "relative" }, ERROR_INVALID_OPTION },
                { { .workspace = "/nowhere/at/all" }, ERROR_INVALID_OPTION },
                { { .workspace = "/etc/passwd" }, ERROR_INVALID_OPTION },
                { { .label = "a\nb" }, ERROR_INVALID_OPTION },
                { { .label = "\xe2\x80\xae" "gpj" }, ERROR_INVALID_OPTION },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                Session *session;

                g_test_message("case %zu", i);
                (void) session_table_open(table, ":1.1", &cases[i].options, &session, &error);
                g_assert_cmpstr(error.name, ==, cases[i].error);
        }
}

static void on_opened(Session *session, void *userdata) {
        g_string_append_printf(userdata, "+%s ", session->id);
}

static void on_changed(Session *session, void *userdata) {
        g_string_append_printf(userdata, "~%s ", session->id);
}

static void on_closed(Session *session, void *userdata) {
        g_string_append_printf(userdata, "-%s ", session->id);
}

static const SessionEvents events = { .opened = on_opened, .changed = on_changed, .closed = on_closed };

static void test_life(void) {
        g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
        g_autoptr(GString) log = g_string_new(NULL);
        Session *implicit, *again, *own, *other;
        const SessionOptions none = {};

        session_table_set_events(table, &events, log);
        g_assert_cmpint(session_table_implicit(table, ":1.1", &implicit, NULL), ==, 0);
        g_assert_cmpint(session_table_implicit(table, ":1.1", &again, NULL), ==, 0);
        g_assert_true(implicit == again);
        g_assert_cmpint(session_table_open(table, ":1.1", &none, &own, NULL), ==, 0);
        g_assert_cmpint(session_table_open(table, ":1.2", &none, &other, NULL), ==, 0);
        g_assert_cmpint(session_set_posture(own, "never", NULL), ==, 0);
        g_assert_cmpint(session_set_mode(own, "plan", NULL), ==, 0);

        session_table_client_gone(table, ":1.1");
        g_assert_null(session_table_find(table, 1));
        g_assert_null(session_table_find(table, 2));
        g_assert_true(session_table_find(table, 3) == other);
        g_assert_cmpstr(log->str, ==, "+s1 +s2 +s3 ~s2 ~s2 -s2 -s1 ");

        /* Numbers are never used again. */
        g_assert_cmpint(session_table_implicit(table, ":1.1", &implicit, NULL), ==, 0);
        g_assert_cmpuint(implicit->number, ==, 4);
}

static void test_raise(void) {
        g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Session *session;

        g_assert_cmpint(session_table_implicit(table, ":1.1", &session, NULL), ==, 0);
        g_assert_cmpint(session_set_posture(session, "full-access", &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_NOT_AUTHORIZED);
        g_assert_cmpint(session->posture, ==, POSTURE_ASK);
}

static void test_limits(void) {
        g_autoptr(SessionTable) table = session_table_new(POSTURE_ASK);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const SessionOptions none = {};
        Session *session;

        for (unsigned i = 0; i < CLIENT_SESSIONS_MAX; i++)
                g_assert_cmpint(session_table_open(table, ":1.1", &none, &session, NULL), ==, 0);
        g_assert_cmpint(session_table_open(table, ":1.1", &none, &session, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        g_assert_cmpint(session_table_open(table, ":1.2", &none, &session, NULL), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/session/options", test_options);
        g_test_add_func("/session/life", test_life);
        g_test_add_func("/session/raising-is-a-personal-act", test_raise);
        g_test_add_func("/session/limits", test_limits);
        return g_test_run();
}
