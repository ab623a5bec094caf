/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/message-json.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

typedef struct Monitor {
        const Cli *cli;
        sd_event *event;
        int status;
} Monitor;

static int print_json(sd_bus_message *m, uint64_t now) {
        g_auto(JWriter) writer = {};
        g_autofree char *text = NULL;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "time_usec", now);
        jwriter_member_string(&writer, "path", sd_bus_message_get_path(m));
        jwriter_member_string(&writer, "interface", sd_bus_message_get_interface(m));
        jwriter_member_string(&writer, "signal", sd_bus_message_get_member(m));
        jwriter_key(&writer, "arguments");
        if (message_write(m, &writer) < 0)
                return EXIT_STATUS_OK;
        jwriter_end_object(&writer);

        text = jwriter_steal(&writer, NULL);
        return output_json(text);
}

static int print_line(const Cli *cli, sd_bus_message *m, uint64_t now) {
        const char *interface = sd_bus_message_get_interface(m), *path = sd_bus_message_get_path(m);
        g_autofree char *time = when_format(now), *arguments = NULL, *safe = NULL;
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        if (message_write(m, &writer) < 0)
                return EXIT_STATUS_OK;

        arguments = jwriter_steal(&writer, NULL);
        safe = sanitize_line(arguments, OUTPUT_TEXT_BYTES_MAX, NULL);
        interface = g_str_has_prefix(interface, CLIENT_SERVICE ".") ? interface + strlen(CLIENT_SERVICE ".")
                                                                    : interface;
        path = g_str_has_prefix(path, CLIENT_ROOT "/") ? path + strlen(CLIENT_ROOT "/") : "";

        (void) printf("%s%s%s %s%s.%s%s %s%s%s\n", style_on(cli, STYLE_DIM), time,
                        style_on(cli, STYLE_PLAIN), style_on(cli, STYLE_BOLD), interface,
                        sd_bus_message_get_member(m), style_on(cli, STYLE_PLAIN), path, *path ? " " : "",
                        safe);
        return output_text("");
}

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        uint64_t now = (uint64_t) g_get_real_time();
        Monitor *monitor = userdata;

        (void) reterr;

        monitor->status = cli_has(monitor->cli, OPTION_JSON) ? print_json(m, now)
                                                             : print_line(monitor->cli, m, now);
        if (monitor->status != EXIT_STATUS_OK) /* nobody reads us any more */
                (void) sd_event_exit(monitor->event, 0);
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        Monitor *monitor = userdata;

        (void) m;
        (void) reterr;

        (void) failure_say("The connection to the bus was lost.");
        monitor->status = EXIT_STATUS_UNREACHABLE;
        return sd_event_exit(monitor->event, 0);
}

static int monitor_arm(Cli *cli, Monitor *monitor, sd_bus_error *reterr) {
        int r;

        r = client_connect(cli, reterr);
        if (r >= 0)
                r = sd_event_default(&monitor->event);
        if (r >= 0)
                r = sd_bus_attach_event(cli->bus, monitor->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_add_match(cli->bus, NULL,
                                "type='signal',sender='" CLIENT_SERVICE "',path_namespace='" CLIENT_ROOT "'",
                                on_signal, monitor);
        if (r >= 0)
                r = sd_bus_match_signal_async(cli->bus, NULL, "org.freedesktop.DBus.Local",
                                "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected",
                                on_disconnected, NULL, monitor);
        return r < 0 ? r : sd_event_set_signal_exit(monitor->event, true);
}

int verb_monitor(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Monitor monitor = { .cli = cli };
        int r;

        (void) argc;
        (void) argv;

        r = monitor_arm(cli, &monitor, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        r = sd_event_loop(monitor.event);
        (void) sd_bus_detach_event(cli->bus);
        (void) sd_event_unref(monitor.event);
        return r < 0 ? failure_say("%s", g_strerror(-r)) : monitor.status;
}
