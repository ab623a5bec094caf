/* SPDX-License-Identifier: MIT */

/* Runs a program in the unit that a plugin gets, with nothing of the host around it: walled RUNTIME BUNDLE PLUGIN DATA.
 * The runtime executes BUNDLE without any flag or lock, so what fails in there fails because of the walls alone. It has
 * succeeded when the unit has ended, in whatever way; what came of it the program writes to its data folder.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "live.h"

#define WAIT_USEC (G_USEC_PER_SEC * (int64_t) 280)

/* The launcher tries the same as for a plugin. */
static void add_targets(Live *live) {
        static const char *sockets[3], *hidden[2];
        static char *bus, *manager;

        bus = g_build_filename(g_getenv("XDG_RUNTIME_DIR"), "bus", NULL);
        manager = g_build_filename(g_getenv("XDG_RUNTIME_DIR"), "systemd", "private", NULL);
        sockets[0] = bus;
        sockets[1] = manager;
        hidden[0] = g_get_home_dir();
        live->spec.sockets = sockets;
        live->spec.hidden = hidden;
}

int main(int argc, char **argv) {
        static const char *arguments[] = { "--no-warnings", "/host/codewhale-extension-host.mjs", NULL };
        g_auto(Live) live = { .frames = NULL };
        int64_t begin = g_get_monotonic_time();

        if (argc != 5) {
                (void) fprintf(stderr, "walled RUNTIME BUNDLE PLUGIN DATA\n");
                return 2;
        }
        g_test_init(&argc, &argv, NULL);
        live_init(&live, UNIT_MANAGER_USER);
        live.spec.runtime = argv[1];
        live.spec.arguments = arguments;
        live.spec.bundle = argv[2];
        live.spec.plugin_tree = argv[3];
        live.spec.data_directory = argv[4];
        add_targets(&live);
        live_start(&live);

        while (!live.stopped && !live.failed && g_get_monotonic_time() - begin < WAIT_USEC)
                if (sd_event_run(live.event, G_USEC_PER_SEC) < 0)
                        break;
        (void) printf("%s: %s\n", live.unit_name, live.cause ? live.cause : "it did not end");
        return live.stopped && !live.stop.stuck ? 0 : 1;
}
