/* SPDX-License-Identifier: MIT */
#include "private-bus.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/errors.h"

#define CALL_USEC (120u * 1000000u)

static const char bus_config[] =
                "<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'\n"
                " 'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'>\n"
                "<busconfig>\n"
                "  <type>session</type>\n"
                "  <listen>unix:path=%s/bus</listen>\n"
                "  <auth>EXTERNAL</auth>\n"
                "  <policy context='default'>\n"
                "    <allow send_destination='*' eavesdrop='true'/>\n"
                "    <allow eavesdrop='true'/>\n"
                "    <allow own='*'/>\n"
                "    <allow user='*'/>\n"
                "  </policy>\n"
                /* The limits of a session bus */
                "  <limit name='max_incoming_bytes'>1000000000</limit>\n"
                "  <limit name='max_incoming_unix_fds'>250000000</limit>\n"
                "  <limit name='max_outgoing_bytes'>1000000000</limit>\n"
                "  <limit name='max_outgoing_unix_fds'>250000000</limit>\n"
                "  <limit name='max_message_size'>1000000000</limit>\n"
                "  <limit name='service_start_timeout'>120000</limit>\n"
                "  <limit name='auth_timeout'>240000</limit>\n"
                "  <limit name='pending_fd_timeout'>150000</limit>\n"
                "  <limit name='max_completed_connections'>100000</limit>\n"
                "  <limit name='max_incomplete_connections'>10000</limit>\n"
                "  <limit name='max_connections_per_user'>100000</limit>\n"
                "  <limit name='max_pending_service_starts'>10000</limit>\n"
                "  <limit name='max_names_per_connection'>50000</limit>\n"
                "  <limit name='max_match_rules_per_connection'>50000</limit>\n"
                "  <limit name='max_replies_per_connection'>50000</limit>\n"
                "</busconfig>\n";

/* The child must not outlive the test, however that ends. */
static void die_with_parent(void) {
        g_assert_cmpint(prctl(PR_SET_PDEATHSIG, SIGKILL), ==, 0);
}

static void run_daemon(const char *config_path, int address_fd) {
        g_autofree char *config = g_strconcat("--config-file=", config_path, NULL);
        g_autofree char *print = g_strdup_printf("--print-address=%d", address_fd);

        die_with_parent();
        if (!freopen("/dev/null", "w", stderr))
                _exit(127);
        execlp("dbus-daemon", "dbus-daemon", config, "--nofork", "--nopidfile", print, NULL);
        _exit(127);
}

static char *read_line(int fd) {
        char text[512];
        size_t filled = 0;
        ssize_t n;

        while (filled < sizeof(text) - 1 && (n = read(fd, text + filled, sizeof(text) - 1 - filled)) > 0) {
                filled += (size_t) n;
                if (memchr(text, '\n', filled))
                        break;
        }
        text[filled] = '\0';
        g_assert_cmpuint(filled, >, 0);
        return g_strdup(g_strchomp(text));
}

PrivateBus *private_bus_start(void) {
        PrivateBus *bus = g_new0(PrivateBus, 1);
        g_autofree char *config = NULL, *path = NULL;
        int pipe_fds[2];

        bus->directory = g_dir_make_tmp("codewhale-bus-XXXXXX", NULL);
        g_assert_nonnull(bus->directory);
        config = g_strdup_printf(bus_config, bus->directory);
        path = g_build_filename(bus->directory, "bus.conf", NULL);
        g_assert_true(g_file_set_contents(path, config, -1, NULL));
        /* For a client of another user; the bus lets anybody in. */
        g_assert_cmpint(g_chmod(bus->directory, 0755), ==, 0);

        g_assert_cmpint(pipe(pipe_fds), ==, 0);
        bus->pid = fork();
        if (bus->pid == 0) {
                (void) close(pipe_fds[0]);
                run_daemon(path, pipe_fds[1]);
        }
        (void) close(pipe_fds[1]);
        bus->address = read_line(pipe_fds[0]);
        (void) close(pipe_fds[0]);
        return bus;
}

void private_bus_stop(PrivateBus *bus) {
        g_autofree char *socket = g_build_filename(bus->directory, "bus", NULL);
        g_autofree char *config = g_build_filename(bus->directory, "bus.conf", NULL);

        (void) kill(bus->pid, SIGTERM);
        g_assert_cmpint(waitpid(bus->pid, NULL, 0), ==, bus->pid);
        (void) g_unlink(socket);
        (void) g_unlink(config);
        (void) g_rmdir(bus->directory);
        g_free(bus->directory);
        g_free(bus->address);
        g_free(bus);
}

sd_bus *private_bus_open(const PrivateBus *bus) {
        sd_bus *connection = NULL;

        g_assert_cmpint(sd_bus_new(&connection), >=, 0);
        g_assert_cmpint(sd_bus_set_address(connection, bus->address), >=, 0);
        g_assert_cmpint(sd_bus_set_bus_client(connection, true), >=, 0);
        g_assert_cmpint(sd_bus_negotiate_fds(connection, true), >=, 0);
        g_assert_cmpint(sd_bus_set_method_call_timeout(connection, CALL_USEC), >=, 0);
        g_assert_cmpint(sd_bus_start(connection), >=, 0);
        return connection;
}

/* ---- the other process ---- */

static void serve(const PrivateBus *bus, const Serving *serving, int ready_fd) {
        sd_event *event = NULL;
        sd_bus *connection;
        sigset_t signals;
        void *state;

        die_with_parent();
        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, SIGTERM);
        (void) sigaddset(&signals, SIGCHLD);
        g_assert_cmpint(sigprocmask(SIG_BLOCK, &signals, NULL), ==, 0);
        g_assert_cmpint(errors_register(), >=, 0);

        g_assert_cmpint(sd_event_default(&event), >=, 0);
        g_assert_cmpint(sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL), >=, 0);
        connection = private_bus_open(bus);
        g_assert_cmpint(sd_bus_attach_event(connection, event, SD_EVENT_PRIORITY_NORMAL), >=, 0);
        state = serving->begin(event, connection);
        g_assert_cmpint(sd_bus_request_name(connection, serving->name, 0), >=, 0);
        g_assert_cmpint(write(ready_fd, "r\n", 2), ==, 2);
        (void) close(ready_fd);

        g_assert_cmpint(sd_event_loop(event), >=, 0);
        serving->end(state);
        sd_bus_flush_close_unref(connection);
        sd_event_unref(event);
}

Server server_start(const PrivateBus *bus, const Serving *serving) {
        g_autofree char *line = NULL;
        Server server;
        int ready[2];

        g_assert_cmpint(pipe(ready), ==, 0);
        (void) fflush(NULL);
        server.pid = fork();
        if (server.pid == 0) {
                (void) close(ready[0]);
                serve(bus, serving, ready[1]);
                exit(EXIT_SUCCESS);
        }
        (void) close(ready[1]);
        line = read_line(ready[0]);
        (void) close(ready[0]);
        return server;
}

void server_stop(Server *server) {
        int status;

        g_assert_cmpint(kill(server->pid, SIGTERM), ==, 0);
        g_assert_cmpint(waitpid(server->pid, &status, 0), ==, server->pid);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, EXIT_SUCCESS);
}

char *call_error(sd_bus *bus, const char *service, const char *path, const char *interface, const char *member,
                const char *types, ...) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) m = NULL;
        va_list arguments;
        int r;

        g_assert_cmpint(sd_bus_message_new_method_call(bus, &m, service, path, interface, member), >=, 0);
        va_start(arguments, types);
        if (types)
                g_assert_cmpint(sd_bus_message_appendv(m, types, arguments), >=, 0);
        va_end(arguments);

        r = sd_bus_call(bus, m, 0, &error, NULL);
        g_assert_cmpint(r, <, 0);
        g_assert_true(sd_bus_error_is_set(&error));
        return g_strdup(error.name);
}
