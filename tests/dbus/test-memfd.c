/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/memfd.h"

static int make(const char *text, int seals) {
        int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, text, strlen(text)), ==, (ssize_t) strlen(text));
        g_assert_cmpint(fcntl(fd, F_ADD_SEALS, seals), ==, 0);
        return fd;
}

static void test_sealed(void) {
        _cleanup_close_ int fd = memfd_seal("test", "{\"a\":1}", 7);
        g_auto(MemfdView) view = {};

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(fcntl(fd, F_GET_SEALS), ==, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
        g_assert_cmpint(lseek(fd, 0, SEEK_CUR), ==, 0); /* whoever reads begins at the beginning */
        g_assert_cmpint(write(fd, "x", 1), <, 0);
        g_assert_cmpint(ftruncate(fd, 0), <, 0);

        g_assert_cmpint(memfd_map(fd, &view, NULL), ==, 0);
        g_assert_cmpmem(view.data, view.size, "{\"a\":1}", 7);
}

static void test_missing_seals(void) {
        static const int seals[] = {
                0,
                F_SEAL_WRITE,
                F_SEAL_SHRINK | F_SEAL_GROW,
                F_SEAL_SHRINK | F_SEAL_WRITE,
                F_SEAL_GROW | F_SEAL_WRITE,
                F_SEAL_SEAL,
                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(seals); i++) {
                _cleanup_close_ int fd = make("{}", seals[i]);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                MemfdView view = {};

                g_test_message("seals %x", (unsigned) seals[i]);
                g_assert_cmpint(memfd_map(fd, &view, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_ARGUMENTS);
                g_assert_null(view.data);
        }
}

static void test_other_files(void) {
        static const char *const paths[] = { "/dev/null", "/proc/self/status", "/", "/dev/zero" };
        int pipe_fds[2];

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                _cleanup_close_ int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                MemfdView view = {};

                g_assert_cmpint(fd, >=, 0);
                g_assert_cmpint(memfd_map(fd, &view, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_ARGUMENTS);
        }

        g_assert_cmpint(pipe(pipe_fds), ==, 0);
        g_assert_cmpint(memfd_map(pipe_fds[0], &(MemfdView) {}, NULL), <, 0);
        (void) close(pipe_fds[0]);
        (void) close(pipe_fds[1]);
}

static void test_size(void) {
        static const struct {
                size_t size;
                bool fits;
        } cases[] = { { 0, true }, { BUS_MEMFD_BYTES_MAX, true }, { BUS_MEMFD_BYTES_MAX + 1, false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                _cleanup_close_ int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_auto(MemfdView) view = {};
                int r;

                g_assert_cmpint(ftruncate(fd, (off_t) cases[i].size), ==, 0);
                g_assert_cmpint(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), ==, 0);
                r = memfd_map(fd, &view, &error);
                if (cases[i].fits) {
                        g_assert_cmpint(r, ==, 0);
                        g_assert_cmpuint(view.size, ==, cases[i].size);
                } else
                        g_assert_cmpstr(error.name, ==, ERROR_TOO_LARGE);
        }
}

static void test_room(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        struct rlimit limit, few;
        int fds[64];
        unsigned n = 0;

        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
        few = (struct rlimit) { .rlim_cur = 64, .rlim_max = limit.rlim_max };
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
        g_assert_cmpint(memfd_check_room(&error), ==, 0);
        while (n < G_N_ELEMENTS(fds) && (fds[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0 && fds[n] < 50)
                n++;
        if (n < G_N_ELEMENTS(fds) && fds[n] >= 0)
                n++;

        g_assert_cmpint(memfd_check_room(&error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_BUSY);
        while (n > 0)
                (void) close(fds[--n]);
        g_assert_cmpint(memfd_check_room(NULL), ==, 0);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/dbus/memfd/sealed", test_sealed);
        g_test_add_func("/dbus/memfd/missing-seals", test_missing_seals);
        g_test_add_func("/dbus/memfd/other-files", test_other_files);
        g_test_add_func("/dbus/memfd/size", test_size);
        g_test_add_func("/dbus/memfd/DB-07-room", test_room);
        return g_test_run();
}
