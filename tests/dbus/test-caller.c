/* SPDX-License-Identifier: MIT */

/* Who calls, and answers that come later, on a real bus: a process that has nothing but a table of callers and a few
 * methods, and clients of it. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "../harness/checked.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/caller-identity.h"
#include "dbus/caller-queue.h"
#include "dbus/caller.h"
#include "dbus/reply.h"
#include "private-bus.h"

#define NAME "org.codewhale.Test"
#define PATH "/org/codewhale/Test"

static PrivateBus *bus;

/* ---- the process that is called ---- */

typedef struct Test {
        CallerTable *callers;
        sd_bus_slot *slot;
        GArray *numbers;
        GPtrArray *held; /* Reply */
        unsigned n_gone;
} Test;

static Caller *caller_of(const Test *test, sd_bus_message *m) {
        return caller_table_find(test->callers, sd_bus_message_get_sender(m));
}

static int method_echo(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *text;
        int r;

        (void) reterr;
        g_assert_nonnull(caller_of(userdata, m));
        r = sd_bus_message_read(m, "s", &text);
        return r < 0 ? r : sd_bus_reply_method_return(m, "s", text);
}

static int method_number(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Test *test = userdata;
        uint32_t number;

        (void) reterr;
        g_assert_cmpint(sd_bus_message_read(m, "u", &number), >, 0);
        g_array_append_val(test->numbers, number);
        return sd_bus_reply_method_return(m, NULL);
}

static int method_numbers(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        Test *test = userdata;

        (void) reterr;
        g_assert_cmpint(sd_bus_message_new_method_return(m, &answer), >=, 0);
        g_assert_cmpint(sd_bus_message_append_array(answer, 'u', test->numbers->data, test->numbers->len * sizeof(uint32_t)),
                        >=, 0);
        g_array_set_size(test->numbers, 0);
        return sd_bus_send(NULL, answer, NULL);
}

static int method_counts(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const Test *test = userdata;

        (void) reterr;
        return sd_bus_reply_method_return(m, "utu", caller_table_count(test->callers),
                        caller_table_count_queries(test->callers), test->n_gone);
}

static int method_identity(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const CallerIdentity *identity = caller_get_identity(caller_of(userdata, m));

        (void) reterr;
        return sd_bus_reply_method_return(m, "uus", (uint32_t) identity->uid, (uint32_t) identity->pid, identity->exe ?: "");
}

static int method_hold(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Test *test = userdata;
        Reply *reply;
        int r;

        r = reply_new(caller_of(test, m), m, 1024, &reply, reterr);
        if (r < 0)
                return r;

        g_ptr_array_add(test->held, reply);
        return 1;
}

/* Answers everything that is held, or drops it unanswered, and says how much was still wanted. */
static int method_release(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        uint32_t wanted = 0, n;
        Test *test = userdata;
        int drop;

        (void) reterr;
        g_assert_cmpint(sd_bus_message_read(m, "b", &drop), >, 0);
        n = test->held->len;
        for (unsigned i = 0; i < n; i++) {
                Reply *reply = g_ptr_array_index(test->held, i);

                wanted += reply_is_wanted(reply);
                if (!drop)
                        reply_return(reply, "s", "released");
                reply_free(reply);
        }
        g_ptr_array_set_size(test->held, 0);
        return sd_bus_reply_method_return(m, "uu", n, wanted);
}

static const sd_bus_vtable test_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "s", "s", method_echo, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Number", "u", "", method_number, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Numbers", "", "au", method_numbers, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Counts", "", "utu", method_counts, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Identity", "", "uus", method_identity, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Hold", "", "s", method_hold, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Release", "b", "uu", method_release, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void on_gone(Caller *caller, void *userdata) {
        Test *test = userdata;

        g_assert_true(caller_is_gone(caller));
        g_assert_null(caller_table_find(test->callers, caller_get_name(caller)));
        test->n_gone++;
}

static const CallerEvents events = { .gone = on_gone };

static void *begin(sd_event *event, sd_bus *connection) {
        Test *test = g_new0(Test, 1);

        (void) event;
        test->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        test->held = g_ptr_array_new();
        g_assert_cmpint(caller_table_new(connection, &events, test, &test->callers), >=, 0);
        g_assert_cmpint(sd_bus_add_object_vtable(connection, &test->slot, PATH, NAME, test_vtable, test), >=, 0);
        return test;
}

static void end(void *state) {
        Test *test = state;

        for (unsigned i = 0; i < test->held->len; i++)
                reply_free(g_ptr_array_index(test->held, i));
        g_ptr_array_unref(test->held);
        sd_bus_slot_unref(test->slot);
        caller_table_free(test->callers);
        g_array_unref(test->numbers);
        g_free(test);
}

static const Serving serving = { .begin = begin, .end = end, .name = NAME };

/* ---- clients ---- */

typedef struct Counts {
        uint32_t callers;
        uint64_t queries;
        uint32_t gone;
} Counts;

static Counts get_counts(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        Counts counts;

        g_assert_cmpint(sd_bus_call_method(client, NAME, PATH, NAME, "Counts", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "utu", &counts.callers, &counts.queries, &counts.gone), >, 0);
        return counts;
}

/* A client that has left is seen to have left a moment later; the wait has an end. */
static Counts wait_for_callers(sd_bus *client, uint32_t callers) {
        Counts counts = get_counts(client);

        for (unsigned i = 0; i < 500 && counts.callers != callers; i++) {
                g_usleep(10000);
                counts = get_counts(client);
        }
        return counts;
}

static void echo(sd_bus *client, const char *text) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *back;

        g_assert_cmpint(sd_bus_call_method(client, NAME, PATH, NAME, "Echo", NULL, &reply, "s", text), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "s", &back), >, 0);
        g_assert_cmpstr(back, ==, text);
}

static void test_identity(void) {
        g_autoptr(sd_bus) client = private_bus_open(bus);
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *exe = g_file_read_link("/proc/self/exe", NULL);
        uint32_t uid, pid;
        const char *told;

        g_assert_cmpint(sd_bus_call_method(client, NAME, PATH, NAME, "Identity", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "uus", &uid, &pid, &told), >, 0);
        g_assert_cmpuint(uid, ==, geteuid());
        g_assert_cmpuint(pid, ==, (uint32_t) getpid());
        /* Under valgrind the kernel sees valgrind, and we are told another truth. */
        if (checked_by_valgrind())
                g_test_skip("what runs here is valgrind");
        else
                g_assert_cmpstr(told, ==, exe);
}

/* Counted by somebody who listens in on the bus itself. */
static unsigned count_queries_seen(sd_bus *monitor) {
        unsigned n = 0;
        int r;

        for (;;) {
                g_autoptr(sd_bus_message) m = NULL;

                r = sd_bus_process(monitor, &m);
                if (r == 0)
                        r = sd_bus_wait(monitor, 100000);
                if (r <= 0)
                        return n;
                if (m && sd_bus_message_is_method_call(m, "org.freedesktop.DBus", NULL) &&
                    !sd_bus_message_is_method_call(m, NULL, "AddMatch"))
                        n++;
        }
}

static void test_no_query_per_call(void) {
        g_autoptr(sd_bus) client = private_bus_open(bus), monitor = private_bus_open(bus);
        Counts before, after;

        echo(client, "known from here on");
        before = get_counts(client);
        g_assert_cmpint(sd_bus_call_method(monitor, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                        "org.freedesktop.DBus.Monitoring", "BecomeMonitor", NULL, NULL, "asu", 0, 0u), >=, 0);

        for (unsigned i = 0; i < 200; i++)
                echo(client, "again");
        after = get_counts(client);
        g_assert_cmpuint(after.queries, ==, before.queries);
        g_assert_cmpuint(count_queries_seen(monitor), ==, 0);
}

/* Calls that arrive before we know who sends them, many at once, are handled in their order. */
static void test_order(void) {
        enum { N = CLIENT_CALLS_PENDING_MAX - 1 };
        g_autoptr(sd_bus) client = private_bus_open(bus);
        g_autoptr(sd_bus_message) reply = NULL;
        const uint32_t *numbers;
        size_t size;

        for (uint32_t i = 0; i < N; i++) {
                g_autoptr(sd_bus_message) m = NULL;

                g_assert_cmpint(sd_bus_message_new_method_call(client, &m, NAME, PATH, NAME, "Number"), >=, 0);
                g_assert_cmpint(sd_bus_message_append(m, "u", i), >=, 0);
                g_assert_cmpint(sd_bus_message_set_expect_reply(m, false), >=, 0);
                g_assert_cmpint(sd_bus_send(client, m, NULL), >=, 0);
        }
        g_assert_cmpint(sd_bus_call_method(client, NAME, PATH, NAME, "Numbers", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read_array(reply, 'u', (const void **) &numbers, &size), >=, 0);
        g_assert_cmpuint(size / sizeof(uint32_t), ==, N);
        for (uint32_t i = 0; i < N; i++)
                g_assert_cmpuint(numbers[i], ==, i);
}

/* An answer to a call of ours, and none of the bus daemon. */
static bool is_from_server(sd_bus_message *m) {
        uint8_t type;

        g_assert_cmpint(sd_bus_message_get_type(m, &type), >=, 0);
        return type == SD_BUS_MESSAGE_METHOD_RETURN && g_str_has_prefix(sd_bus_message_get_sender(m), ":");
}

static void test_too_many_unknown(void) {
        enum { N = 3 * CLIENT_CALLS_PENDING_MAX };
        g_autoptr(sd_bus) client = private_bus_open(bus);
        unsigned answered = 0, busy = 0;

        /* All of them are in the socket before the bus could answer who this is. */
        for (unsigned i = 0; i < N; i++) {
                g_autoptr(sd_bus_message) m = NULL;
                uint64_t cookie;

                g_assert_cmpint(sd_bus_message_new_method_call(client, &m, NAME, PATH, NAME, "Echo"), >=, 0);
                g_assert_cmpint(sd_bus_message_append(m, "s", "flood"), >=, 0);
                g_assert_cmpint(sd_bus_send(client, m, &cookie), >=, 0); /* whoever takes it wants an answer */
        }
        while (answered + busy < N) {
                g_autoptr(sd_bus_message) m = NULL;
                int r = sd_bus_process(client, &m);

                g_assert_cmpint(r, >=, 0);
                if (r == 0)
                        g_assert_cmpint(sd_bus_wait(client, 60000000), >, 0);
                else if (m && sd_bus_message_is_method_error(m, ERROR_BUSY))
                        busy++;
                else if (m && is_from_server(m))
                        answered++;
        }
        g_assert_cmpuint(answered, >=, CLIENT_CALLS_PENDING_MAX);
        /* Every call was answered exactly once, and the client is served as before. */
        echo(client, "after the flood");
}

static void test_large_unknown(void) {
        g_autoptr(sd_bus) client = private_bus_open(bus);
        g_autofree char *text = g_strnfill(BUS_MESSAGE_BYTES_MAX + KIB(128), 'x');
        g_autofree char *name = call_error(client, NAME, PATH, NAME, "Echo", "s", text);

        g_assert_cmpstr(name, ==, ERROR_TOO_LARGE);
        echo(client, "small");
}

static int on_held(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        char **answer = userdata;
        const char *text;

        (void) reterr;
        g_assert_null(*answer);
        if (sd_bus_message_is_method_error(m, NULL))
                *answer = g_strdup(sd_bus_message_get_error(m)->name);
        else {
                g_assert_cmpint(sd_bus_message_read(m, "s", &text), >, 0);
                *answer = g_strdup(text);
        }
        return 0;
}

static void process_until(sd_bus *client, char **answer) {
        while (!*answer) {
                int r = sd_bus_process(client, NULL);

                g_assert_cmpint(r, >=, 0);
                if (r == 0)
                        g_assert_cmpint(sd_bus_wait(client, 60000000), >, 0);
        }
}

static void release(sd_bus *client, bool drop, uint32_t *ret_n, uint32_t *ret_wanted) {
        g_autoptr(sd_bus_message) reply = NULL;

        g_assert_cmpint(sd_bus_call_method(client, NAME, PATH, NAME, "Release", NULL, &reply, "b", (int) drop), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "uu", ret_n, ret_wanted), >, 0);
}

static void test_reply_later(void) {
        static const struct {
                bool drop;
                const char *answer;
        } cases[] = { { false, "released" }, { true, ERROR_CANCELLED } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(sd_bus) client = private_bus_open(bus), other = private_bus_open(bus);
                g_autofree char *answer = NULL;
                uint32_t n, wanted;

                g_assert_cmpint(sd_bus_call_method_async(client, NULL, NAME, PATH, NAME, "Hold", on_held, &answer, NULL), >=, 0);
                echo(client, "is handled meanwhile");
                g_assert_null(answer);
                release(other, cases[i].drop, &n, &wanted);
                g_assert_cmpuint(n, ==, 1);
                g_assert_cmpuint(wanted, ==, 1);
                process_until(client, &answer);
                g_assert_cmpstr(answer, ==, cases[i].answer);
        }
}

static void test_pending_limit(void) {
        g_autoptr(sd_bus) client = private_bus_open(bus), other = private_bus_open(bus);
        char *answers[CLIENT_CALLS_PENDING_MAX] = {};
        g_autofree char *name = NULL, *again = NULL;
        uint32_t n, wanted;

        echo(client, "known");
        for (size_t i = 0; i < G_N_ELEMENTS(answers); i++)
                g_assert_cmpint(sd_bus_call_method_async(client, NULL, NAME, PATH, NAME, "Hold", on_held, &answers[i], NULL), >=, 0);
        name = call_error(client, NAME, PATH, NAME, "Hold", NULL);
        g_assert_cmpstr(name, ==, ERROR_BUSY);
        echo(other, "others are served");

        release(other, false, &n, &wanted);
        g_assert_cmpuint(n, ==, CLIENT_CALLS_PENDING_MAX);
        for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
                process_until(client, &answers[i]);
                g_assert_cmpstr(answers[i], ==, "released");
                g_free(answers[i]);
        }

        /* What was given back can be had again. */
        g_assert_cmpint(sd_bus_call_method_async(client, NULL, NAME, PATH, NAME, "Hold", on_held, &again, NULL), >=, 0);
        echo(client, "not refused");
        release(other, false, &n, &wanted);
        g_assert_cmpuint(n, ==, 1);
        process_until(client, &again);
}

/* Whoever leaves with calls pending is noticed, and his answers are nobody's. */
static void test_leave_pending(void) {
        g_autoptr(sd_bus) other = private_bus_open(bus);
        g_autofree char *unused = NULL;
        uint32_t n, wanted;
        Counts before;

        before = get_counts(other);
        for (unsigned i = 0; i < 3; i++) {
                g_autoptr(sd_bus) client = private_bus_open(bus);

                g_assert_cmpint(sd_bus_call_method_async(client, NULL, NAME, PATH, NAME, "Hold", on_held, &unused, NULL), >=, 0);
                echo(client, "known");
        }
        g_assert_cmpuint(wait_for_callers(other, before.callers).gone, ==, before.gone + 3);
        release(other, true, &n, &wanted);
        g_assert_cmpuint(n, ==, 3);
        g_assert_cmpuint(wanted, ==, 0);
}

/* Sent and gone before anybody could look. */
static void test_left_before_looked(void) {
        g_autoptr(sd_bus) other = private_bus_open(bus);
        Counts before = get_counts(other);

        for (unsigned i = 0; i < 100; i++) {
                g_autoptr(sd_bus) client = private_bus_open(bus);

                g_assert_cmpint(sd_bus_call_method_async(client, NULL, NAME, PATH, NAME, "Hold", NULL, NULL, NULL), >=, 0);
                g_assert_cmpint(sd_bus_flush(client), >=, 0);
        }
        /* A first client that is not there yet would be counted as one less. */
        g_assert_cmpuint(wait_for_callers(other, before.callers).callers, ==, before.callers);
        release(other, true, &(uint32_t) { 0 }, &(uint32_t) { 0 });
}

static void test_churn(void) {
        g_autoptr(sd_bus) other = private_bus_open(bus);
        const unsigned rounds = test_is_checked() ? 500 : 5000;
        Counts before = get_counts(other), after;

        for (unsigned i = 0; i < rounds; i++) {
                g_autoptr(sd_bus) client = private_bus_open(bus);

                echo(client, "hello");
        }
        after = wait_for_callers(other, before.callers);
        g_assert_cmpuint(after.callers, ==, before.callers);
        g_assert_cmpuint(after.gone, ==, before.gone + rounds);
        g_assert_cmpuint(after.queries, ==, before.queries + rounds);
}

/* ---- without a bus ---- */

static void test_cgroup(void) {
        static const struct {
                const char *text;
                bool of_host;
        } cases[] = {
                { "0::/user.slice/user-1000.slice/user@1000.service/codewhale.slice/codewhale-host-counter-3.service\n", true },
                { "0::/user.slice/user-1000.slice/user@1000.service/codewhale.slice/codewhale-host-a-1.service/sub\n", true },
                { "1:name=systemd:/system.slice/codewhale-host-x.service\n0::/\n", true },
                { "0::/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service\n", false },
                { "0::/user.slice/session-2.scope\n", false },
                { "0::/user.slice/my-codewhale-host-x.service\n", false },
                { "0::/\n", false },
                { "", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                g_assert_cmpint(cgroup_is_of_host(cases[i].text), ==, cases[i].of_host);
        }
}

static void test_check(void) {
        const CallerIdentity self = { .uid = geteuid(), .pid = getpid(), .pidfd = -EBADF };
        const CallerIdentity root = { .uid = 0, .pid = getpid(), .pidfd = -EBADF };
        const CallerIdentity other = { .uid = geteuid() + 1, .pid = getpid(), .pidfd = -EBADF };
        const CallerIdentity nobody = { .uid = geteuid(), .pid = 0, .pidfd = -EBADF };
        const CallerIdentity ended = { .uid = geteuid(), .pid = INT_MAX, .pidfd = -EBADF };
        const struct {
                const CallerIdentity *identity;
                bool served;
        } cases[] = { { &self, true }, { &root, true }, { &other, false }, { &nobody, false }, { &ended, false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                int r = caller_identity_check(cases[i].identity, &error);

                g_test_message("case %zu", i);
                if (cases[i].served)
                        g_assert_cmpint(r, ==, 0);
                else
                        g_assert_cmpstr(error.name, ==, ERROR_ACCESS_DENIED);
        }
}

int main(int argc, char **argv) {
        Server server;
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        bus = private_bus_start();
        server = server_start(bus, &serving);

        g_test_add_func("/dbus/caller/cgroup", test_cgroup);
        g_test_add_func("/dbus/caller/check", test_check);
        g_test_add_func("/dbus/caller/identity", test_identity);
        g_test_add_func("/dbus/caller/no-query-per-call", test_no_query_per_call);
        g_test_add_func("/dbus/caller/order", test_order);
        g_test_add_func("/dbus/caller/too-many-unknown", test_too_many_unknown);
        g_test_add_func("/dbus/caller/DB-05-large-unknown", test_large_unknown);
        g_test_add_func("/dbus/caller/H16-left-before-looked", test_left_before_looked);
        g_test_add_func("/dbus/caller/H16-leave-pending", test_leave_pending);
        g_test_add_func("/dbus/caller/DB-12-churn", test_churn);
        g_test_add_func("/dbus/reply/later", test_reply_later);
        g_test_add_func("/dbus/reply/H14-pending-limit", test_pending_limit);
        r = g_test_run();

        server_stop(&server);
        private_bus_stop(bus);
        return r;
}
