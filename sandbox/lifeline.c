/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/launcher-exit.h"
#include "sandbox/lifeline.h"
#include "sandbox/unit-name.h"

struct Lifeline {
        UnitManager *manager;
        char *launcher;
        char *unit; /* NULL before the first one */
        int fd;     /* our end; closed with us by the kernel */
};

Lifeline *lifeline_new(UnitManager *manager, const char *launcher) {
        Lifeline *lifeline = g_new(Lifeline, 1);

        assert(manager);
        assert(launcher);
        *lifeline = (Lifeline){ .manager = unit_manager_ref(manager), .launcher = g_strdup(launcher), .fd = -EBADF };
        return lifeline;
}

Lifeline *lifeline_free(Lifeline *lifeline) {
        if (!lifeline)
                return NULL;

        close_fd(&lifeline->fd);
        unit_manager_unref(lifeline->manager);
        g_free(lifeline->launcher);
        g_free(lifeline->unit);
        g_free(lifeline);
        return NULL;
}

/* A pipe that nobody reads any more says so: its unit was ended, or never came to be. */
static bool lifeline_is_held(const Lifeline *lifeline) {
        struct pollfd look = { .fd = lifeline->fd };

        return lifeline->fd >= 0 && (poll(&look, 1, 0) == 0 || !(look.revents & (POLLERR | POLLNVAL)));
}

/* It runs a program of ours that reads and does nothing, so it needs no walls, only that it is small. */
static int append_properties(const Lifeline *lifeline, sd_bus_message *m, int fd) {
        g_autofree char *description = g_strdup_printf("What binds extension hosts to the service with the pid %d", (int) getpid());
        int r;

        r = sd_bus_message_append(m, "(sv)(sv)(sv)(sv)(sv)(sv)", "Description", "s", description, "Slice", "s", UNIT_SLICE,
                        "CollectMode", "s", "inactive-or-failed", "NoNewPrivileges", "b", 1, "MemoryMax", "t",
                        LIFELINE_MEMORY_BYTES, "TasksMax", "t", (uint64_t) 1);
        if (r < 0)
                return r;
        if (unit_manager_get_system(lifeline->manager)) {
                r = sd_bus_message_append(m, "(sv)", "DynamicUser", "b", 1);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_append(m, "(sv)(sv)(sv)(sv)", "StandardInputFileDescriptor", "h", fd, "StandardOutput", "s", "null",
                        "StandardError", "s", "null", "ExecStart", "a(sasb)", 1, lifeline->launcher, 2, lifeline->launcher,
                        LIFELINE_OPTION, 0);
}

static int lifeline_request(const Lifeline *lifeline, sd_bus *bus, const char *unit, int fd) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, unit_manager_destination(lifeline->manager), "/org/freedesktop/systemd1",
                        "org.freedesktop.systemd1.Manager", "StartTransientUnit");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", unit, "fail");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r >= 0)
                r = append_properties(lifeline, m, fd);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_message_append(m, "a(sa(sv))", 0);
        if (r < 0)
                return r;

        /* What becomes of it, the pipe tells, and a unit that can't be bound to it says so. */
        (void) sd_bus_message_set_expect_reply(m, false);
        return sd_bus_send(bus, m, NULL);
}

int lifeline_hold(Lifeline *lifeline, sd_bus *bus, const char **ret_unit) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        g_autofree char *unit = NULL;
        int fds[2], r;

        assert(lifeline);
        assert(ret_unit);

        if (!lifeline_is_held(lifeline)) {
                if (pipe2(fds, O_CLOEXEC) < 0)
                        return -errno;
                theirs = fds[0];
                ours = fds[1];
                unit = g_strdup_printf("codewhale-lifeline-%d-%" G_GINT64_FORMAT ".service", (int) getpid(), g_get_monotonic_time());
                r = lifeline_request(lifeline, bus, unit, theirs);
                if (r < 0)
                        return r;

                close_fd(&lifeline->fd);
                lifeline->fd = steal_fd(&ours);
                g_free(lifeline->unit);
                lifeline->unit = g_steal_pointer(&unit);
        }

        *ret_unit = lifeline->unit;
        return 0;
}
