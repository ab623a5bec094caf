/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "service/worker.h"

/* What the process writes first; name, message and text follow, each ended by NUL. */
typedef struct Header {
        int32_t r;
        uint32_t name_size, message_size, text_size; /* with their NUL */
} Header;

struct Worker {
        sd_event_source *input;
        pid_t pid;
        int fd, pidfd; /* pidfd is invalid where the kernel (or valgrind) has none */
        GByteArray *answer;
        WorkerDone done;
        void *userdata;
};

static void write_all(int fd, const void *data, size_t size) {
        const uint8_t *at = data;

        while (size > 0) {
                ssize_t n = write(fd, at, size);

                if (n < 0 && errno != EINTR)
                        _exit(EXIT_FAILURE);
                if (n > 0) {
                        at += n;
                        size -= (size_t) n;
                }
        }
}

static void close_between(int from, int to) {
        if (from < to)
                (void) close_range((unsigned) from, (unsigned) to - 1, 0);
}

/* Both are 3 or more, or @other is none. */
static void close_others(int keep, int other) {
        int low = other < 0 ? keep : MIN(keep, other), high = MAX(keep, other);

        close_between(3, low);
        close_between(low + 1, high);
        (void) close_range((unsigned) high + 1, ~0u, 0);
}

static void restore_signals(void) {
        sigset_t none;

        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        for (int number = 1; number < NSIG; number++)
                (void) signal(number, SIG_DFL);
        (void) signal(SIGPIPE, SIG_IGN);
}

_Noreturn static void be_worker(int fd, int keep, pid_t parent, WorkerRun run, void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        Header header;

        /* Had the daemon died before the prctl(), nobody would tell us. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                _exit(EXIT_FAILURE);
        (void) prctl(PR_SET_NAME, "extensions-work");
        restore_signals();
        close_others(fd, keep);

        header.r = run(data, text, &error);
        if (header.r < 0)
                g_string_truncate(text, 0);
        header.name_size = error.name ? (uint32_t) strlen(error.name) + 1 : 1;
        header.message_size = error.message ? (uint32_t) strlen(error.message) + 1 : 1;
        header.text_size = (uint32_t) text->len + 1;
        write_all(fd, &header, sizeof header);
        write_all(fd, error.name ? error.name : "", header.name_size);
        write_all(fd, error.message ? error.message : "", header.message_size);
        write_all(fd, text->str, header.text_size);
        _exit(EXIT_SUCCESS);
}

/* The whole answer is there, or what came is none. */
static void finish(Worker *worker) {
        g_autoptr(GByteArray) answer = g_steal_pointer(&worker->answer);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *name, *message, *text;
        Header header = {};
        uint64_t total = sizeof header;

        worker->input = sd_event_source_disable_unref(worker->input);
        if (answer->len >= sizeof header) {
                memcpy(&header, answer->data, sizeof header);
                total += (uint64_t) header.name_size + header.message_size + header.text_size;
        }
        if (answer->len < sizeof header || answer->len != total) {
                (void) errors_set(&error, ERROR_IO, "The process that did the work ended before it was done.");
                worker->done(-EPIPE, "", 0, &error, worker->userdata);
                return;
        }

        name = (const char *) answer->data + sizeof header;
        message = name + header.name_size;
        text = message + header.message_size;
        if (header.r < 0 && *name != '\0')
                (void) sd_bus_error_set(&error, name, message);
        else if (header.r < 0)
                (void) errors_set(&error, ERROR_IO, "%s", g_strerror(-header.r));
        worker->done(header.r, text, header.text_size - 1, &error, worker->userdata);
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Worker *worker = userdata;
        uint8_t buffer[64 * 1024];
        ssize_t n = read(fd, buffer, sizeof buffer);

        (void) source;
        (void) revents;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0 && worker->answer->len + (size_t) n <= WORKER_TEXT_BYTES_MAX + sizeof buffer) {
                g_byte_array_append(worker->answer, buffer, (guint) n);
                return 0;
        }
        finish(worker); /* may free it */
        return 0;
}

/* Collects the process when it has ended, whether or not somebody still waits for its answer. */
static int on_ended(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        siginfo_t info;

        (void) revents;
        (void) userdata;
        if (waitid(P_PIDFD, (id_t) fd, &info, WEXITED | WNOHANG) < 0 && errno == EINTR)
                return 0;
        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        (void) sd_event_source_set_floating(source, false); /* the loop lets it go, and its descriptor with it */
        return 0;
}

/* A plain descriptor in the loop, not sd_event_add_child(): that one wants SIGCHLD blocked in the whole process. */
static int watch(Worker *worker, sd_event *event) {
        _cleanup_close_ int pidfd = (int) syscall(SYS_pidfd_open, worker->pid, 0);
        sd_event_source *ended = NULL;
        int r;

        if (pidfd < 0 && errno != ENOSYS)
                return -errno;
        if (pidfd < 0)
                return sd_event_add_io(event, &worker->input, worker->fd, EPOLLIN, on_input, worker);
        worker->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 3);
        if (worker->pidfd < 0)
                return -errno;
        r = sd_event_add_io(event, &ended, pidfd, EPOLLIN, on_ended, NULL);
        if (r < 0)
                return r;
        (void) sd_event_source_set_io_fd_own(ended, true);
        (void) steal_fd(&pidfd);
        (void) sd_event_source_set_floating(ended, true);
        sd_event_source_unref(ended);
        return sd_event_add_io(event, &worker->input, worker->fd, EPOLLIN, on_input, worker);
}

int worker_start(sd_event *event, WorkerRun run, void *data, WorkerDone done, void *userdata, Worker **ret) {
        return worker_start_keeping(event, run, data, -EBADF, done, userdata, ret);
}

int worker_start_keeping(
                sd_event *event, WorkerRun run, void *data, int keep, WorkerDone done, void *userdata, Worker **ret) {
        g_autoptr(Worker) worker = g_new0(Worker, 1);
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        pid_t parent = getpid(), pid;
        int ends[2], r;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        ours = ends[0];
        theirs = ends[1];
        if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
                return -errno;

        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0)
                be_worker(theirs, keep, parent, run, data);

        worker->pid = pid;
        worker->fd = steal_fd(&ours);
        worker->pidfd = -EBADF;
        worker->answer = g_byte_array_new();
        worker->done = done;
        worker->userdata = userdata;
        r = watch(worker, event);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                return r;
        }

        *ret = g_steal_pointer(&worker);
        return 0;
}

Worker *worker_free(Worker *worker) {
        if (!worker)
                return NULL;

        sd_event_source_disable_unref(worker->input);
        if (worker->pidfd >= 0) /* on_ended() collects it */
                (void) syscall(SYS_pidfd_send_signal, worker->pidfd, SIGKILL, NULL, 0);
        else if (worker->pid > 0) {
                siginfo_t info;

                /* Nobody else collects it, so the number is still its own. */
                (void) kill(worker->pid, SIGKILL);
                (void) waitid(P_PID, (id_t) worker->pid, &info, WEXITED | WNOHANG);
        }
        close_fd(&worker->pidfd);
        close_fd(&worker->fd);
        g_clear_pointer(&worker->answer, g_byte_array_unref);
        g_free(worker);
        return NULL;
}
