/* SPDX-License-Identifier: MIT */

/* The daemon: options, loop, signals, state, bus, name, ready, loop. The one file that knows the service and its bus face. */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/log.h"
#include "dbus/server.h"
#include "service/service.h"

#define BUS_NAME "org.codewhale.Extensions"

/* Exit statuses, see codewhale-extensionsd(8) */
enum {
        EXIT_USAGE = 2,
        EXIT_NAME_TAKEN = 3, /* another copy, or a stranger, owns the name */
        EXIT_NO_BUS = 4,
        EXIT_NO_STATE = 5,
};

static bool arg_system = false;
static const char *arg_address = NULL;
static UnitManagerKind arg_manager = _UNIT_MANAGER_INVALID;
static ServiceOptions arg_service = {};

static int help(void) {
        printf("codewhale-extensionsd [OPTION...]\n\n"
               "Serves reviewed, walled-in extensions of AI agents on the bus as " BUS_NAME ".\n\n"
               "  -h --help                 Show this help\n"
               "     --version              Show the version\n"
               "     --system               Serve the system bus, start hosts in the system manager\n"
               "     --address=ADDRESS      Serve the bus at this D-Bus address instead\n"
               "     --manager=KIND         Who starts the hosts: user (default), session-bus or system\n"
               "     --permissions=FILE     A further file of the administrator's rules, beside /etc/codewhale/permissions.toml\n"
               "     --home=DIRECTORY       State and configuration (default: $CODEWHALE_HOME or ~/.codewhale)\n"
               "     --host-bundle=FILE     The JavaScript host (default: as installed)\n"
               "     --launcher=FILE        The launcher of the sandbox (default: as installed)\n"
               "     --host-user=USER       With the system manager: whom hosts run as (default: " HOST_USER ")\n"
               "     --log-level=LEVEL      debug, info, notice, warning or err (default: info)\n"
               "     --log-target=TARGET    auto, journal, console or null (default: auto)\n\n"
               "Exit status: 0 stopped, 1 failure, 2 unusable options, 3 the name is taken, 4 no bus, 5 no usable state.\n"
               "See codewhale-extensionsd(8).\n");
        return 0;
}

static int refuse_option(const char *option, const char *value, const char *known) {
        fprintf(stderr, "codewhale-extensionsd: %s can't be '%s'; known are %s.\n", option, value, known);
        return -EINVAL;
}

enum {
        ARG_VERSION = 0x100, ARG_SYSTEM, ARG_ADDRESS, ARG_MANAGER, ARG_HOME, ARG_PERMISSIONS, ARG_BUNDLE, ARG_LAUNCHER, ARG_HOST_USER, ARG_LEVEL, ARG_TARGET,
};

static const struct option long_options[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ARG_VERSION },
        { "system", no_argument, NULL, ARG_SYSTEM },
        { "address", required_argument, NULL, ARG_ADDRESS },
        { "manager", required_argument, NULL, ARG_MANAGER },
        { "home", required_argument, NULL, ARG_HOME },
        { "permissions", required_argument, NULL, ARG_PERMISSIONS },
        { "host-bundle", required_argument, NULL, ARG_BUNDLE },
        { "launcher", required_argument, NULL, ARG_LAUNCHER },
        { "host-user", required_argument, NULL, ARG_HOST_USER },
        { "log-level", required_argument, NULL, ARG_LEVEL },
        { "log-target", required_argument, NULL, ARG_TARGET },
        {},
};

/* Returns 1 to go on, 0 when there is nothing more to do, -EINVAL for unusable options. */
static int parse_option(int option) {
        switch (option) {
        case 'h':
                return help();
        case ARG_VERSION:
                puts("codewhale-extensionsd " PROJECT_VERSION);
                return 0;
        case ARG_SYSTEM:
                arg_system = true;
                return 1;
        case ARG_ADDRESS:
                arg_address = optarg;
                return 1;
        case ARG_MANAGER:
                arg_manager = unit_manager_kind_from_string(optarg);
                return arg_manager < 0 || arg_manager == UNIT_MANAGER_ADDRESS
                                ? refuse_option("--manager", optarg, "user, session-bus and system") : 1;
        case ARG_HOME:
                arg_service.home = optarg;
                return 1;
        case ARG_PERMISSIONS:
                arg_service.permissions = optarg;
                return optarg[0] == '/' ? 1 : refuse_option("--permissions", optarg, "absolute paths");
        case ARG_BUNDLE:
                arg_service.bundle = optarg;
                return 1;
        case ARG_LAUNCHER:
                arg_service.launcher = optarg;
                return 1;
        case ARG_HOST_USER:
                arg_service.host_user = optarg;
                return g_str_equal(optarg, "root") || g_str_equal(optarg, "0") ? refuse_option("--host-user", optarg, "users without power") : 1;
        case ARG_LEVEL:
                if (log_level_from_string(optarg) < 0)
                        return refuse_option("--log-level", optarg, "emerg, alert, crit, err, warning, notice, info and debug");
                log_set_level(log_level_from_string(optarg));
                return 1;
        case ARG_TARGET:
                if (log_target_from_string(optarg) < 0)
                        return refuse_option("--log-target", optarg, "auto, journal, console and null");
                log_set_target(log_target_from_string(optarg));
                return 1;
        default:
                return -EINVAL;
        }
}

static int parse_arguments(int argc, char **argv) {
        int option, r;

        while ((option = getopt_long(argc, argv, "h", long_options, NULL)) >= 0) {
                r = parse_option(option);
                if (r <= 0)
                        return r;
        }
        if (optind < argc) {
                fprintf(stderr, "codewhale-extensionsd: there is no argument '%s'; see --help.\n", argv[optind]);
                return -EINVAL;
        }
        if (arg_manager < 0)
                arg_manager = arg_system ? UNIT_MANAGER_SYSTEM : UNIT_MANAGER_USER;
        arg_service.manager = arg_manager;
        return 1;
}

static int open_bus(sd_event *event, sd_bus **ret) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        if (arg_address) {
                r = sd_bus_new(&bus);
                if (r >= 0)
                        r = sd_bus_set_address(bus, arg_address);
                if (r >= 0)
                        r = sd_bus_set_bus_client(bus, true);
                if (r >= 0)
                        r = sd_bus_negotiate_creds(bus, false, 0);
                if (r >= 0)
                        r = sd_bus_negotiate_fds(bus, true);
                if (r >= 0)
                        r = sd_bus_start(bus);
        } else
                r = arg_system ? sd_bus_open_system(&bus) : sd_bus_open_user(&bus);
        if (r < 0)
                return r;

        /* Sessions, grants and cards belong to connections of this bus: without it they are gone, and so are we. Systemd
         * starts us anew, and hosts that are bound to our unit go down with it. */
        (void) sd_bus_set_exit_on_disconnect(bus, true);
        /* The end of the loop is not the end of the bus: who waits is told first. */
        (void) sd_bus_set_close_on_exit(bus, false);
        r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&bus);
        return 0;
}

static void on_reloaded(const char *error_name, const char *error_message, void *userdata) {
        (void) userdata;
        if (error_name)
                log_warning("Reload: %s", error_message);
        (void) sd_notify(false, "READY=1");
}

static int on_sighup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        (void) source;
        (void) info;
        (void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
        service_reload(userdata, on_reloaded, NULL);
        return 0;
}

static int make_event(sd_event **ret) {
        g_autoptr(sd_event) event = NULL;
        sigset_t signals;
        int r;

        /* SIGCHLD has to be blocked for sd_event_add_child(), the others for signalfd. */
        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, SIGCHLD);
        (void) sigaddset(&signals, SIGHUP);
        (void) sigaddset(&signals, SIGTERM);
        (void) sigaddset(&signals, SIGINT);
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;

        r = sd_event_default(&event);
        if (r >= 0)
                r = sd_event_set_watchdog(event, true);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&event);
        return 0;
}

/* Returns the exit status. */
static int take_name(sd_bus *bus) {
        int r = sd_bus_request_name(bus, BUS_NAME, 0);

        if (r >= 0)
                return EXIT_SUCCESS;
        if (r == -EEXIST || r == -EALREADY) {
                log_error("The name " BUS_NAME " is taken: another copy of this service runs. "
                          "'systemctl --user status codewhale-extensions' shows it.");
                return EXIT_NAME_TAKEN;
        }
        log_error("The name " BUS_NAME " can't be had: %s", g_strerror(-r));
        return EXIT_NO_BUS;
}

static int serve(sd_event *event, sd_bus *bus, Service *service) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(BusServer) server = NULL;
        int r, status;

        /* Everything is there before the name is: the first call may come together with it (DB-11). */
        r = bus_server_new(service, bus, &server);
        if (r < 0) {
                log_error("The objects can't be exported: %s", g_strerror(-r));
                return EXIT_FAILURE;
        }
        status = take_name(bus);
        if (status != EXIT_SUCCESS)
                return status;
        if (service_start(service, &error) < 0)
                log_error("Bundles can't be read: %s", error.message);

        (void) sd_notify(false, "READY=1");
        log_info("codewhale-extensionsd " PROJECT_VERSION " serves %s.", BUS_NAME);
        r = sd_event_loop(event);
        (void) sd_notify(false, "STOPPING=1");
        /* The end of the bus ends the loop with a status of its own (DB-09): only a failure is started anew. */
        return r != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_event) event = NULL;
        g_autoptr(Service) service = NULL;
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = make_event(&event);
        if (r < 0) {
                log_error("No event loop: %s", g_strerror(-r));
                return EXIT_FAILURE;
        }
        r = open_bus(event, &bus);
        if (r < 0) {
                log_error("The bus can't be reached: %s", g_strerror(-r));
                return EXIT_NO_BUS;
        }
        r = service_new(event, &arg_service, &service, &error);
        if (r < 0) {
                log_error("%s", error.message ?: g_strerror(-r));
                return EXIT_NO_STATE;
        }
        r = sd_event_add_signal(event, NULL, SIGHUP, on_sighup, service);
        if (r < 0)
                return EXIT_FAILURE;
        return serve(event, bus, service);
}

int main(int argc, char **argv) {
        int r = parse_arguments(argc, argv);

        if (r <= 0)
                return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;

        /* Tickets and owner tokens live in our memory: nobody else may look into it, and no core is written. */
        (void) prctl(PR_SET_DUMPABLE, 0);
        (void) umask(0077);
        (void) errors_register();
        return run();
}
