/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "dbus/caller-identity.h"

#define CGROUP_FILE_BYTES_MAX KIB(64)
#define HOST_UNIT_PREFIX "codewhale-host-"

void caller_identity_done(CallerIdentity *identity) {
        close_fd(&identity->pidfd);
        g_clear_pointer(&identity->exe, g_free);
        g_clear_pointer(&identity->unit, g_free);
}

static int read_credential(sd_bus_message *reply, CallerIdentity *ret) {
        const char *name;
        uint32_t number;
        int r, fd;

        r = sd_bus_message_read_basic(reply, 's', &name);
        if (r < 0)
                return r;
        if (strcmp(name, "UnixUserID") == 0) {
                r = sd_bus_message_read(reply, "v", "u", &number);
                if (r >= 0)
                        ret->uid = number;
        } else if (strcmp(name, "ProcessID") == 0) {
                r = sd_bus_message_read(reply, "v", "u", &number);
                if (r >= 0)
                        ret->pid = (pid_t) number;
        } else if (strcmp(name, "ProcessFD") == 0) {
                r = sd_bus_message_read(reply, "v", "h", &fd);
                if (r >= 0 && ret->pidfd < 0)
                        ret->pidfd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        } else
                r = sd_bus_message_skip(reply, "v");

        return r;
}

int caller_identity_read(sd_bus_message *reply, CallerIdentity *ret) {
        int r;

        if (sd_bus_message_enter_container(reply, 'a', "{sv}") <= 0)
                return -EBADMSG;

        while ((r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0)
                if (read_credential(reply, ret) < 0 || sd_bus_message_exit_container(reply) < 0)
                        return -EBADMSG;
        if (r < 0)
                return -EBADMSG;

        return ret->uid == (uid_t) -1 ? -ENODATA : 0;
}

/* When the process began, in clock ticks; 0 when that can't be told. */
static uint64_t read_start(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int) pid), *text = NULL;
        const char *at;
        unsigned long long start;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        /* The name in parentheses may hold anything; fields are counted behind it. */
        at = strrchr(text, ')');
        if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start) != 1)
                return 0;

        return start;
}

/* The name that a process gives itself, where the program that it runs is none of our business: the walls of our unit hide that. */
static char *read_name(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int) pid), *name = NULL, *clean = NULL;

        if (!g_file_get_contents(path, &name, NULL, NULL))
                return NULL;
        clean = sanitize_line(g_strchomp(name), BUNDLE_PATH_BYTES_MAX, NULL);
        return g_strdup_printf("(%s)", clean);
}

void caller_identity_look_up(CallerIdentity *identity) {
        g_autofree char *link = g_strdup_printf("/proc/%d/exe", (int) identity->pid);
        char target[PATH_MAX];
        ssize_t size;

        if (identity->pid <= 0)
                return;

        identity->start = read_start(identity->pid);
        size = readlink(link, target, sizeof(target) - 1);
        if (size > 0) {
                target[size] = '\0';
                identity->exe = sanitize_line(target, BUNDLE_PATH_BYTES_MAX, NULL);
        } else
                identity->exe = read_name(identity->pid);
        if (sd_pid_get_user_unit(identity->pid, &identity->unit) < 0 &&
            sd_pid_get_unit(identity->pid, &identity->unit) < 0)
                identity->unit = NULL;
}

bool cgroup_is_of_host(const char *text) {
        return strstr(text, "/" HOST_UNIT_PREFIX) != NULL;
}

/* 1: inside, 0: outside, or -errno when it can't be told. */
static int process_is_in_host(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/cgroup", (int) pid);
        g_autofree char *text = g_malloc(CGROUP_FILE_BYTES_MAX + 1);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        size_t filled = 0;
        ssize_t n;

        if (fd < 0)
                return -errno;

        while ((n = read(fd, text + filled, CGROUP_FILE_BYTES_MAX - filled)) > 0)
                filled += (size_t) n;
        if (n < 0)
                return -errno;
        if (filled == CGROUP_FILE_BYTES_MAX)
                return -EFBIG;

        text[filled] = '\0';
        return cgroup_is_of_host(text);
}

int caller_identity_check(const CallerIdentity *identity, sd_bus_error *reterr) {
        int r;

        if (identity->uid != geteuid() && identity->uid != 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "This service belongs to another user.");
        if (identity->pid <= 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "The bus does not say which process calls.");

        r = process_is_in_host(identity->pid);
        if (r < 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED,
                                "The process that opened this connection can't be looked at: %s", g_strerror(-r));
        if (r > 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "A plugin's host is not served.");

        return 0;
}
