/* SPDX-License-Identifier: MIT */

/* Clients that ask for too much, and those that come and go: the service answers with a typed error, keeps its place on the
 * bus and has nothing left of them afterwards. */

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../harness/checked.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "served.h"

static Served served;

static char *service_owner(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *owner;

        g_assert_cmpint(sd_bus_call_method(client, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                        "GetNameOwner", NULL, &reply, "s", SERVICE), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "s", &owner), >, 0);
        return g_strdup(owner);
}

static void assert_serves(sd_bus *client) {
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE, "Describe", NULL, NULL, NULL), >=, 0);
}

static void test_huge_string(void) {
        static const char *const members[] = { "Call", "Start" };
        const size_t size = test_is_checked() ? MIB(8) : MIB(127);
        g_autofree char *text = g_strnfill(size, ' ');
        size_t memory;

        for (int known = 0; known < 2; known++)
                for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
                        g_autoptr(sd_bus) client = private_bus_open(served.bus), other = private_bus_open(served.bus);
                        g_autofree char *before = service_owner(other), *after = NULL, *name = NULL;

                        g_test_message("%s, %s", members[i], known ? "known" : "unknown");
                        if (known)
                                assert_serves(client);
                        assert_serves(other);
                        memory = served_memory(&served);
                        name = call_error(client, SERVICE, ROOT, SERVICE ".Tools", members[i], "ssa{sv}", "none", text, 0);
                        g_assert_cmpstr(name, ==, ERROR_TOO_LARGE);
                        assert_serves(client);
                        after = service_owner(other);
                        g_assert_cmpstr(after, ==, before);
                        /* The base line again, but for what the allocator keeps. */
                        g_assert_cmpuint(served_memory(&served), <, memory + MIB(32));
                }
}

/* A variant in a variant, as deep as asked, as the value of an option. */
static int call_deep(sd_bus *client, unsigned depth, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(client, &m, SERVICE, ROOT, SERVICE ".Tools", "List"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, 'e', "sv"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "s", "session"), >=, 0);
        for (unsigned level = 1; level < depth; level++)
                g_assert_cmpint(sd_bus_message_open_container(m, 'v', "v"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "v", "s", "bottom"), >=, 0);
        for (unsigned level = 1; level < depth; level++)
                g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        return sd_bus_call(client, m, 0, reterr, NULL);
}

static void test_depth(void) {
        static const unsigned depths[] = { 2, 32, 33, 60, 65, 100 };
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        g_autofree char *before = service_owner(other), *after = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(depths); i++) {
                g_autoptr(sd_bus) client = private_bus_open(served.bus);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                g_test_message("depth %u", depths[i]);
                assert_serves(client);
                g_assert_cmpint(call_deep(client, depths[i], &error), <, 0);
                /* Either the bus throws its sender off, or we refuse it by name. */
                if (sd_bus_is_open(client) > 0)
                        g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
                assert_serves(other);
        }
        after = service_owner(other);
        g_assert_cmpstr(after, ==, before);
}

static void test_churn(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        const unsigned rounds = test_is_checked() ? 500 : 5000;
        ServedCounts before, after;

        assert_serves(other);
        before = served_count(other);
        for (unsigned i = 0; i < rounds; i++) {
                g_autoptr(sd_bus) client = private_bus_open(served.bus);

                /* Makes his implicit session. */
                g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Prompt", "Snapshot", NULL, NULL, "a{sv}", 0),
                                >=, 0);
        }
        after = served_wait_for_callers(other, before.callers);
        g_assert_cmpuint(after.sessions, ==, before.sessions);
        g_assert_cmpuint(after.calls, ==, 0);
        g_assert_cmpuint(after.requests, ==, 0);
        g_assert_cmpuint(after.acts, ==, 0);
        g_assert_cmpuint(after.fds, <=, before.fds + 4);
}

/* A client that holds a grant leaves, again and again: the grant goes each time, and nothing grows. */
static void test_grant_churn(void) {
        const unsigned rounds = test_is_checked() ? 500 : 10000, settled = rounds / 10;
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        ServedCounts before = served_count(other), after;
        size_t memory = 0;

        for (unsigned i = 0; i < rounds; i++) {
                sd_bus *client = private_bus_open(served.bus);
                unsigned waits = 0;

                if (i == settled)
                        memory = served_memory(&served);
                served_give(client);
                g_assert_cmpuint(served_count_grants(client), ==, 1);
                client = sd_bus_flush_close_unref(client);
                while (served_count_grants(other) > 0 && waits++ < 50000)
                        g_usleep(200);
                g_assert_cmpuint(served_count_grants(other), ==, 0);
        }
        after = served_wait_for_callers(other, before.callers);
        g_assert_cmpuint(after.sessions, ==, before.sessions);
        g_assert_cmpuint(after.fds, <=, before.fds + 4);
        g_assert_cmpuint(served_memory(&served), <=, memory + MIB(2));
}

static int make_arguments(bool sealed) {
        int fd = memfd_create("arguments", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, "{}", 2), ==, 2);
        if (sealed)
                g_assert_cmpint(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), ==, 0);
        return fd;
}

static void test_memory_files(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        _cleanup_close_ int sealed = make_arguments(true), open_one = make_arguments(false);
        _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        const struct {
                int fd;
                const char *error;
        } cases[] = {
                { sealed, ERROR_NO_SUCH_TOOL }, { open_one, ERROR_INVALID_ARGUMENTS }, { null, ERROR_INVALID_ARGUMENTS },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = call_error(client, SERVICE, ROOT, SERVICE ".Tools", "CallFd", "sha{sv}", "none",
                                cases[i].fd, 0);

                g_assert_cmpstr(name, ==, cases[i].error);
        }
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        unsigned *n = userdata;

        (void) reterr;
        g_assert_true(sd_bus_message_is_method_error(m, NULL));
        g_assert_true(g_str_has_prefix(sd_bus_message_get_error(m)->name, ERROR_));
        (*n)++;
        return 0;
}

/* With hardly any descriptor left to us, calls that carry some are answered and leave none behind. */
static void test_descriptors(void) {
        enum { N = 200 };
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        _cleanup_close_ int fd = make_arguments(true);
        struct rlimit limit, few;
        ServedCounts before;
        unsigned n = 0;

        assert_serves(client);
        before = served_count(client);
        g_assert_cmpint(prlimit(served.server.pid, RLIMIT_NOFILE, NULL, &limit), ==, 0);
        few = (struct rlimit) { .rlim_cur = 64, .rlim_max = limit.rlim_max };
        g_assert_cmpint(prlimit(served.server.pid, RLIMIT_NOFILE, &few, NULL), ==, 0);
        for (unsigned i = 0; i < N; i++)
                g_assert_cmpint(sd_bus_call_method_async(client, NULL, SERVICE, ROOT, SERVICE ".Tools", "CallFd", on_answer, &n,
                                                "sha{sv}", "none", fd, 0), >=, 0);
        while (n < N) {
                int r = sd_bus_process(client, NULL);

                g_assert_cmpint(r, >=, 0);
                if (r == 0)
                        g_assert_cmpint(sd_bus_wait(client, 60000000), >, 0);
        }
        /* A timer or a try to reach the manager may have one meanwhile; the calls had two hundred. */
        g_assert_cmpuint(served_count(client).fds, <=, before.fds + 4);
        g_assert_cmpint(prlimit(served.server.pid, RLIMIT_NOFILE, &limit, NULL), ==, 0);
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        served = served_start();
        g_test_add_func("/dbus/limits/DB-05-huge-string", test_huge_string);
        g_test_add_func("/dbus/limits/DB-01-depth", test_depth);
        g_test_add_func("/dbus/limits/memory-files", test_memory_files);
        g_test_add_func("/dbus/limits/DB-12-churn", test_churn);
        g_test_add_func("/dbus/limits/DB-14-grant-churn", test_grant_churn);
        g_test_add_func("/dbus/limits/DB-07-descriptors", test_descriptors);
        r = g_test_run();
        served_stop(&served);
        return r;
}
