/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sandbox/launcher/checks.h"

#define TRIAL_NAME ".codewhale-trial"

/* Makes a file in a directory and leaves nothing behind. Return: a descriptor; -errno. */
static int make_file(const char *directory, char path[static 512]) {
        int fd;

        (void) snprintf(path, 512, "%s/" TRIAL_NAME "-%d", directory, (int) getpid());
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
        return fd < 0 ? -errno : fd;
}

static bool can_write(const char *directory) {
        char path[512];
        int fd = make_file(directory, path);

        if (fd < 0)
                return false;
        (void) close(fd);
        (void) unlink(path);
        return true;
}

static bool is_writable_on_purpose(const Options *options, const char *directory) {
        for (size_t i = 0; i < options->write.n; i++)
                if (strcmp(options->write.words[i], directory) == 0)
                        return true;

        return false;
}

static const char *find_writable(const Options *options, const Words *directories) {
        for (size_t i = 0; i < directories->n; i++)
                if (!is_writable_on_purpose(options, directories->words[i]) &&
                                can_write(directories->words[i]))
                        return directories->words[i];

        return NULL;
}

static void check_read_only(Findings *findings, const Options *options) {
        static const char *always[] = {
                "/",
                "/dev",
                "/dev/shm",
                "/dev/pts",
                "/dev/mqueue",
                "/etc",
                "/host",
                "/proc",
                "/run",
                "/sys",
                "/usr",
                "/var",
        };
        const Words fixed = { .words = always, .n = sizeof(always) / sizeof(always[0]) };
        const char *found = find_writable(options, &fixed);

        if (!found)
                found = find_writable(options, &options->read);
        if (!found)
                found = find_writable(options, &options->execute);
        findings_add(findings, "read-only", true, !found, "%s%s",
                        found ? found : "nothing else can be written", found ? " can be written" : "");
}

static void check_writable(Findings *findings, const Options *options) {
        for (size_t i = 0; i < options->write.n; i++)
                if (!can_write(options->write.words[i])) {
                        findings_add(findings, "writable", true, false, "%s can't be written: %s",
                                        options->write.words[i], strerror(errno));
                        return;
                }
        findings_add(findings, "writable", true, true, "%zu directories", options->write.n);
}

/* Executes a file that is no program: the kernel says EACCES when it may not be executed, ENOEXEC when it
 * may. */
static const char *try_execute(const char *path, int fd) {
        char *arguments[] = { (char *) path, NULL };
        char *environment[] = { NULL };
        void *map;

        map = mmap(NULL, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
                (void) munmap(map, 4);
                return "mapped as code";
        }

        (void) execve(path, arguments, environment);
        return errno == EACCES ? NULL : "executed";
}

/* For a folder in which nothing of ours has a place: what its mount says. */
static bool is_not_executable(const char *directory) {
        struct statvfs st;

        return statvfs(directory, &st) == 0 && (st.f_flag & ST_NOEXEC);
}

static void check_no_execution(Findings *findings, const Options *options) {
        const char *how = NULL;

        for (size_t i = 0; !how && i < options->write.n; i++) {
                char path[512];
                int fd = make_file(options->write.words[i], path);

                if (fd < 0)
                        continue; /* check_writable() has said so */
                how = write(fd, "none", 4) == 4 ? try_execute(path, fd) : "written to";
                (void) close(fd);
                /* a file that is open for writing can't be executed whatever its mount says, so once more */
                if (!how)
                        how = try_execute(path, -1);
                (void) unlink(path);
                if (how) {
                        findings_add(findings, "no-execution", true, false, "a file in %s could be %s",
                                        options->write.words[i], how);
                        return;
                }
        }
        for (size_t i = 0; i < options->work.n; i++)
                if (!is_not_executable(options->work.words[i])) {
                        findings_add(findings, "no-execution", true, false, "files in %s could be executed",
                                        options->work.words[i]);
                        return;
                }
        findings_add(findings, "no-execution", true, true, "what can be written can't be executed%s",
                        options->run.n > 0 ? ", but for the workspace of a shell" : "");
}

static void check_no_suid(Findings *findings, const Options *options) {
        char path[512];
        int fd, error = 0;

        if (options->write.n == 0)
                return;
        fd = make_file(options->write.words[0], path);
        if (fd < 0)
                return;
        if (fchmod(fd, 04700) < 0)
                error = errno;
        (void) close(fd);
        (void) unlink(path);
        findings_add(findings, "no-set-user-id", true, error != 0, "%s",
                        error != 0 ? strerror(error) : "a set-user-id file could be made");
}

/* A hidden path may still be there as an empty folder of the sandbox's own root, on the way to something
 * bound in. */
static bool is_hidden(const char *path) {
        struct stat root, st;

        if (stat(path, &st) < 0)
                return true;

        return stat("/", &root) == 0 && S_ISDIR(st.st_mode) && st.st_dev == root.st_dev;
}

static void check_hidden(Findings *findings, const Options *options) {
        for (size_t i = 0; i < options->hidden.n; i++)
                if (!is_hidden(options->hidden.words[i])) {
                        findings_add(findings, "hidden", true, false, "%s is visible",
                                        options->hidden.words[i]);
                        return;
                }
        findings_add(findings, "hidden", true, true, "%zu paths", options->hidden.n);
}

/* Not everywhere does systemd leave it out; then Landlock shuts it, of which the report tells. */
static void check_no_hardware(Findings *findings) {
        bool there = access("/sys/class", F_OK) == 0 || access("/sys/fs", F_OK) == 0;

        findings_add(findings, "no-hardware", false, !there, "/sys %s", there ? "is there" : "is not there");
}

void checks_files(Findings *findings, const Options *options) {
        check_read_only(findings, options);
        check_writable(findings, options);
        check_no_execution(findings, options);
        check_no_suid(findings, options);
        check_hidden(findings, options);
        check_no_hardware(findings);
}
