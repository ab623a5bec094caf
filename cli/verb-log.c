/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/unit-pattern.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "common/cleanup.h"

/* journalctl takes ages in words of its own, so that it gets seconds since 1970. */
static int add_time(GPtrArray *arguments, const char *option, const char *text) {
        uint64_t usec;

        if (!text)
                return 0;
        if (when_parse(text, (uint64_t) g_get_real_time(), &usec) < 0)
                return -EINVAL;

        g_ptr_array_add(arguments, g_strdup_printf("%s=@%" G_GUINT64_FORMAT, option, usec / 1000000));
        return 0;
}

static GPtrArray *log_arguments(const Cli *cli, const char *plugin_id) {
        GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);

        g_ptr_array_add(arguments, g_strdup("journalctl"));
        g_ptr_array_add(arguments, g_strdup(cli_has(cli, OPTION_SYSTEM) ? "--system" : "--user"));
        g_ptr_array_add(arguments, g_strdup("--unit"));
        g_ptr_array_add(arguments, unit_pattern_for_plugin(plugin_id));
        if (cli_has(cli, OPTION_JSON))
                g_ptr_array_add(arguments, g_strdup("--output=json"));
        if (cli_has(cli, OPTION_NO_PAGER))
                g_ptr_array_add(arguments, g_strdup("--no-pager"));
        if (cli_has(cli, OPTION_FOLLOW))
                g_ptr_array_add(arguments, g_strdup("--follow"));
        if (cli_has(cli, OPTION_LINES))
                g_ptr_array_add(arguments, g_strconcat("--lines=", cli->options[OPTION_LINES], NULL));
        return arguments;
}

int verb_log(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GPtrArray) arguments = NULL;
        g_autofree char *id = NULL;
        int r;

        (void) argc;

        r = client_find_plugin(cli, argv[1], &id, NULL, &error);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);

        arguments = log_arguments(cli, id);
        if (add_time(arguments, "--since", cli->options[OPTION_SINCE]) < 0 ||
                        add_time(arguments, "--until", cli->options[OPTION_UNTIL]) < 0)
                return failure_usage(
                                cli, "A time is an age such as 10m, 2h or 3d, or like 2026-01-31T12:00:00.");
        g_ptr_array_add(arguments, NULL);

        if (access("/run/systemd/journal/socket", F_OK) < 0)
                return failure_say("No journal runs here (systemd-journald), so what extensions write is kept nowhere. "
                                   "Warnings and errors of their loggers are also among the diagnostics of 'codewhalectl show %s'.",
                                   argv[1]);
        (void) execvp("journalctl", (char **) arguments->pdata);
        return failure_say("Cannot run journalctl: %s", g_strerror(errno));
}
