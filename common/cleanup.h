/* SPDX-License-Identifier: MIT */
#pragma once

/* The project's one cleanup dialect: GLib's g_auto family, taught about the types of libsystemd and about descriptors. */

#include <errno.h>
#include <glib.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_flush_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_slot, sd_bus_slot_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_track, sd_bus_track_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_creds, sd_bus_creds_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event_source, sd_event_source_disable_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sd_bus_error, sd_bus_error_free)

static inline void close_fd(int *fd) {
        int saved_errno = errno;

        if (*fd >= 0)
                (void) close(*fd);
        *fd = -EBADF;
        errno = saved_errno;
}
#define _cleanup_close_ __attribute__((cleanup(close_fd)))

/* Moves a descriptor out of a _cleanup_close_ variable. */
static inline int steal_fd(int *fd) {
        int taken = *fd;

        *fd = -EBADF;
        return taken;
}
