/* SPDX-License-Identifier: MIT */
#include "cli/dev-child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"

#define LINE_BYTES_MAX 16384u
#define STOP_MSEC      10000
#define STEP_USEC      20000

/* In the child. Only what may be called between fork() and exec(), but for the environment, which is ours
 * alone. */
static void become(const char *const *arguments, const char *const *environment, pid_t parent, int out,
                int report) {
        sigset_t none;
        int null = open("/dev/null", O_RDONLY), error;

        (void) setpgid(0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
                _exit(1);
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) dup2(null, STDIN_FILENO);
        (void) dup2(out, STDOUT_FILENO);
        (void) dup2(out, STDERR_FILENO);
        for (; environment && *environment; environment++)
                (void) putenv((char *) *environment);

        (void) execvp(arguments[0], (char **) arguments);
        error = errno;
        (void) !write(report, &error, sizeof(error));
        _exit(127);
}

int dev_child_start(DevChild *child, const char *const *arguments, const char *const *environment) {
        _cleanup_close_ int read_end = -EBADF, report_end = -EBADF;
        int out[2], report[2], error = 0;
        pid_t parent = getpid(), pid;

        if (pipe2(out, O_CLOEXEC) < 0)
                return -errno;
        read_end = out[0];
        if (pipe2(report, O_CLOEXEC) < 0) {
                (void) close(out[1]);
                return -errno;
        }
        report_end = report[0];

        pid = fork();
        if (pid == 0)
                become(arguments, environment, parent, out[1], report[1]);
        (void) close(out[1]);
        (void) close(report[1]);
        if (pid < 0)
                return -errno;

        /* Closed by a successful exec(), so this tells both. */
        if (read(report_end, &error, sizeof(error)) == (ssize_t) sizeof(error)) {
                (void) waitpid(pid, NULL, 0);
                return -error;
        }
        if (fcntl(read_end, F_SETFL, O_NONBLOCK) < 0)
                return -errno;

        *child = (DevChild){ .pid = pid, .fd = steal_fd(&read_end), .text = g_string_new(NULL) };
        return 0;
}

static void tell_lines(DevChild *child) {
        char *end;

        while ((end = memchr(child->text->str, '\n', child->text->len)) ||
                        child->text->len > LINE_BYTES_MAX) {
                gsize size = end ? (gsize) (end - child->text->str) : LINE_BYTES_MAX;
                g_autofree char *line = g_strndup(child->text->str, size);

                (void) g_string_erase(child->text, 0, (gssize) (size + (end != NULL)));
                if (child->line)
                        child->line(line, child->userdata);
        }
}

/* Return: whether more may come. */
static bool read_some(DevChild *child) {
        char bytes[4096];
        ssize_t n;

        while ((n = read(child->fd, bytes, sizeof(bytes))) > 0) {
                g_string_append_len(child->text, bytes, n);
                tell_lines(child);
        }
        return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static int on_output(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        (void) fd;
        (void) events;

        if (!read_some(userdata))
                (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

int dev_child_read(DevChild *child, sd_event *event, DevChildLine line, void *userdata) {
        child->line = line;
        child->userdata = userdata;
        return sd_event_add_io(event, &child->io, child->fd, EPOLLIN, on_output, child);
}

void dev_child_drain(DevChild *child) {
        if (child->text)
                (void) read_some(child);
}

bool dev_child_is_running(DevChild *child) {
        if (child->pid > 0 && waitpid(child->pid, NULL, WNOHANG) != 0)
                child->pid = 0;
        return child->pid > 0;
}

void dev_child_stop(DevChild *child) {
        if (dev_child_is_running(child))
                (void) kill(child->pid, SIGTERM);
        for (int i = 0; dev_child_is_running(child) && i < STOP_MSEC * 1000 / STEP_USEC; i++) {
                dev_child_drain(child);
                g_usleep(STEP_USEC);
        }
        if (dev_child_is_running(child)) {
                (void) kill(child->pid, SIGKILL);
                (void) waitpid(child->pid, NULL, 0);
        }

        child->pid = 0;
        if (!child->text)
                return;
        dev_child_drain(child);
        child->io = sd_event_source_disable_unref(child->io);
        close_fd(&child->fd);
        (void) g_string_free(g_steal_pointer(&child->text), TRUE);
}
