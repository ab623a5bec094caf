/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "sandbox/cgroup.h"

#define DEPTH_MAX 8u

static const char *root = "/sys/fs/cgroup";

void cgroup_set_root(const char *directory) {
        root = directory ? directory : "/sys/fs/cgroup";
}

static int read_small(char *buffer, size_t size, const char *format, ...)
                __attribute__((format(printf, 3, 4)));
static int read_small(char *buffer, size_t size, const char *format, ...) {
        g_autofree char *path = NULL;
        _cleanup_close_ int fd = -EBADF;
        va_list arguments;
        ssize_t n;

        va_start(arguments, format);
        path = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;
        n = read(fd, buffer, size - 1);
        if (n < 0)
                return -errno;

        buffer[n] = 0;
        g_strchomp(buffer);
        return 0;
}

static int read_number(const char *directory, const char *path, const char *file, uint64_t *ret) {
        char buffer[64];
        int r;

        r = read_small(buffer, sizeof(buffer), "%s%s/%s", directory, path, file);
        if (r < 0)
                return r;
        if (g_str_equal(buffer, "max") || buffer[0] == '-')
                *ret = CGROUP_UNLIMITED;
        else
                *ret = strtoull(buffer, NULL, 10);
        return 0;
}

static bool is_directory(const char *directory, const char *path) {
        g_autofree char *full = g_strconcat(directory, path, NULL);
        struct stat st;

        return stat(full, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_unified(void) {
        g_autofree char *file = g_strdup_printf("%s/cgroup.controllers", root);

        return access(file, F_OK) == 0;
}

static void not_enforced(CgroupValue *value, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void not_enforced(CgroupValue *value, const char *format, ...) {
        va_list arguments;

        value->enforced = false;
        value->limit = CGROUP_UNLIMITED;
        va_start(arguments, format);
        (void) vsnprintf(value->reason, sizeof(value->reason), format, arguments);
        va_end(arguments);
}

static void set_limit(CgroupValue *value, uint64_t limit, const char *what) {
        /* Version 1 writes "none" as the largest whole number of pages. */
        if (limit >= UINT64_C(1) << 62) {
                not_enforced(value, "no %s limit is set for this control group", what);
                return;
        }
        value->enforced = true;
        value->limit = limit;
}

/* A controller of version 1 that has no such group was not delegated to the manager that made the others. */
static bool has_controller_v1(
                const char *controller, const char *path, CgroupValue *value, char **ret_directory) {
        g_autofree char *directory = g_strdup_printf("%s/%s", root, controller);

        if (!is_directory(directory, "")) {
                not_enforced(value, "this kernel has no %s controller", controller);
                return false;
        }
        if (!is_directory(directory, path)) {
                not_enforced(value,
                                "the %s controller is not delegated to this manager (control groups version "
                                "1)",
                                controller);
                return false;
        }
        value->version = 1;
        *ret_directory = g_steal_pointer(&directory);
        return true;
}

static void read_limit_v1(const char *controller, const char *path, const char *limit_file,
                const char *usage_file, CgroupValue *value) {
        g_autofree char *directory = NULL;
        uint64_t limit = CGROUP_UNLIMITED;

        if (!has_controller_v1(controller, path, value, &directory))
                return;
        if (read_number(directory, path, limit_file, &limit) < 0) {
                not_enforced(value, "%s can't be read", limit_file);
                return;
        }
        set_limit(value, limit, controller);
        (void) read_number(directory, path, usage_file, &value->usage);
}

static void read_cpu_v1(const char *path, CgroupValue *value) {
        g_autofree char *directory = NULL, *accounting = NULL;
        uint64_t quota = CGROUP_UNLIMITED, period = 0, usage = 0;

        if (!has_controller_v1("cpu", path, value, &directory))
                return;
        (void) read_number(directory, path, "cpu.cfs_quota_us", &quota);
        (void) read_number(directory, path, "cpu.cfs_period_us", &period);
        set_limit(value,
                        quota == CGROUP_UNLIMITED || period == 0 ? CGROUP_UNLIMITED
                                                                 : quota * 1000000 / period,
                        "cpu");

        accounting = g_strdup_printf("%s/cpuacct", root);
        if (read_number(accounting, path, "cpuacct.usage", &usage) >= 0)
                value->usage = usage / 1000;
}

static void read_limit_v2(const char *controller, const char *path, const char *limit_file,
                const char *usage_file, CgroupValue *value) {
        uint64_t limit = CGROUP_UNLIMITED;
        int r;

        r = read_number(root, path, limit_file, &limit);
        if (r == -ENOENT) {
                not_enforced(value, "the %s controller is not delegated to this manager", controller);
                return;
        }
        if (r < 0) {
                not_enforced(value, "%s can't be read", limit_file);
                return;
        }
        value->version = 2;
        set_limit(value, limit, controller);
        (void) read_number(root, path, usage_file, &value->usage);
}

static void read_cpu_v2(const char *path, CgroupValue *value) {
        char buffer[128];
        uint64_t quota, period;

        if (read_small(buffer, sizeof(buffer), "%s%s/cpu.stat", root, path) >= 0)
                (void) sscanf(buffer, "usage_usec %" SCNu64, &value->usage);
        if (read_small(buffer, sizeof(buffer), "%s%s/cpu.max", root, path) < 0) {
                not_enforced(value, "the cpu controller is not delegated to this manager");
                return;
        }
        value->version = 2;
        if (sscanf(buffer, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 && period > 0)
                set_limit(value, quota * 1000000 / period, "cpu");
        else
                set_limit(value, CGROUP_UNLIMITED, "cpu");
}

/* The hierarchy in which systemd keeps track of processes. */
static char *tracking_directory(void) {
        g_autofree char *unified = g_strdup_printf("%s/unified", root);

        if (is_unified())
                return g_strdup(root);
        if (is_directory(unified, ""))
                return g_steal_pointer(&unified);

        return g_strdup_printf("%s/systemd", root);
}

int cgroup_read(const char *path, CgroupReading *ret) {
        g_autofree char *tracking = tracking_directory();
        CgroupReading reading = {};

        assert(path);
        assert(ret);

        if (!is_directory(tracking, path))
                return -ENOENT;

        if (is_unified()) {
                read_limit_v2("memory", path, "memory.max", "memory.current", &reading.memory);
                read_limit_v2("pids", path, "pids.max", "pids.current", &reading.tasks);
                read_cpu_v2(path, &reading.cpu);
        } else {
                read_limit_v1("memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                &reading.memory);
                read_limit_v1("pids", path, "pids.max", "pids.current", &reading.tasks);
                read_cpu_v1(path, &reading.cpu);
        }

        *ret = reading;
        return 0;
}

int cgroup_count_refused_tasks(const char *path, uint64_t *ret) {
        char buffer[128];
        uint64_t n;
        int r;

        assert(path);
        assert(ret);

        r = read_small(buffer, sizeof(buffer), "%s%s%s/pids.events", root, is_unified() ? "" : "/pids", path);
        if (r < 0)
                return r;
        if (sscanf(buffer, "max %" SCNu64, &n) != 1)
                return -EBADMSG;

        *ret = n;
        return 0;
}

static int count_lines(const char *file) {
        _cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char buffer[4096];
        int n_lines = 0;
        ssize_t n;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        while ((n = read(fd, buffer, sizeof(buffer))) > 0)
                for (ssize_t i = 0; i < n; i++)
                        n_lines += buffer[i] == '\n';

        return n < 0 && errno != ENODEV ? -errno : n_lines;
}

static int count_below(const char *directory, unsigned depth) {
        g_autofree char *file = g_strdup_printf("%s/cgroup.procs", directory);
        DIR *dir;
        int total;

        total = count_lines(file);
        if (total < 0 || depth == 0)
                return total;
        dir = opendir(directory);
        if (!dir)
                return total;

        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
                g_autofree char *below = NULL;
                int n;

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                below = g_strdup_printf("%s/%s", directory, entry->d_name);
                n = count_below(below, depth - 1);
                if (n > 0)
                        total += n;
        }
        closedir(dir);
        return total;
}

int cgroup_count_processes(const char *path) {
        g_autofree char *tracking = tracking_directory(), *directory = NULL;

        assert(path);

        directory = g_strconcat(tracking, path, NULL);
        return count_below(directory, DEPTH_MAX);
}

int cgroup_of_process(int pid, char **ret) {
        char buffer[4096];
        g_auto(GStrv) lines = NULL;
        int r;

        assert(ret);

        r = read_small(buffer, sizeof(buffer), "/proc/%d/cgroup", pid);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;

        lines = g_strsplit(buffer, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "0::")) {
                        *ret = g_strdup(*line + 3);
                        return 0;
                }
        for (char **line = lines; *line; line++) {
                const char *name = strstr(*line, ":name=systemd:");

                if (name) {
                        *ret = g_strdup(name + strlen(":name=systemd:"));
                        return 0;
                }
        }

        return -ENODATA;
}
