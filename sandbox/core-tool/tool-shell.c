/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/core-tool/tool.h"

/* How often we look whether the command has ended while something that it left behind keeps its output open. */
#define LOOK_MSEC 50

static uint64_t now_msec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

/* In the child. What goes wrong here is the command's output. */
static void become(const char *command, int directory, int output) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void) setsid();
        if (null < 0 || fchdir(directory) < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
                        dup2(output, STDERR_FILENO) < 0)
                _exit(126);
        (void) execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
}

static pid_t start(const char *command, int directory, int *ret_output) {
        int pair[2];
        pid_t pid;

        if (pipe2(pair, O_CLOEXEC) < 0)
                return -errno;
        pid = fork();
        if (pid == 0)
                become(command, directory, pair[1]);
        (void) close(pair[1]);
        if (pid < 0) {
                (void) close(pair[0]);
                return -errno;
        }
        (void) fcntl(pair[0], F_SETFL, O_NONBLOCK);
        *ret_output = pair[0];
        return pid;
}

/* Takes what is there. Returns whether more may come. */
static bool drain(int output, Answer *answer) {
        char buffer[16384];

        for (;;) {
                ssize_t n = read(output, buffer, sizeof buffer);

                if (n > 0)
                        answer_add(answer, buffer, (size_t) n);
                else
                        return n < 0 && (errno == EAGAIN || errno == EINTR);
        }
}

typedef struct Ended {
        bool late;
        int status; /* of waitpid() */
} Ended;

/* Until the command itself has ended. What it left behind in the background dies with the unit, and is not waited for. */
static Ended follow(pid_t pid, int output, uint64_t msec, Answer *answer) {
        uint64_t due = now_msec() + msec, now;
        bool open = true;
        Ended ended = {};

        for (;;) {
                struct pollfd poll_fd = { .fd = open ? output : -1, .events = POLLIN };

                now = now_msec();
                if (now >= due) {
                        ended.late = true;
                        return ended;
                }
                (void) poll(&poll_fd, 1, (int) MIN(due - now, LOOK_MSEC));
                if (open && poll_fd.revents)
                        open = drain(output, answer);
                if (waitpid(pid, &ended.status, WNOHANG) == pid) {
                        if (open)
                                (void) drain(output, answer);
                        return ended;
                }
        }
}

static void tell(Answer *answer, const Ended *ended, uint64_t msec) {
        JWriter *facts = answer_facts(answer);

        if (ended->late) {
                answer->is_error = true;
                answer_printf(answer, "\n[ended after %" PRIu64 " ms, unfinished]\n", msec);
                jwriter_member_boolean(facts, "timed_out", true);
        } else if (WIFSIGNALED(ended->status)) {
                answer->is_error = true;
                answer_printf(answer, "\n[ended by signal %d]\n", WTERMSIG(ended->status));
                jwriter_member_int(facts, "signal", WTERMSIG(ended->status));
        } else {
                answer->is_error = WEXITSTATUS(ended->status) != 0;
                jwriter_member_int(facts, "exit_code", WEXITSTATUS(ended->status));
        }
        jwriter_member_uint(facts, "output_bytes", answer->said);
}

void tool_shell(const Workspace *workspace, Jval input, Answer *answer) {
        const char *cwd = jval_text(jval_member(input, "cwd")), *command = jval_text(jval_member(input, "command"));
        g_autofree char *relative = workspace_relative(workspace, cwd ? cwd : ".", answer);
        uint64_t msec = tool_number(input, "timeout_ms", CORE_SHELL_MSEC, CORE_SHELL_MSEC_MAX);
        _cleanup_close_ int directory = relative ? workspace_open_directory(workspace, relative, answer) : -ENOENT;
        _cleanup_close_ int output = -EBADF;
        Ended ended;
        pid_t pid;

        if (directory < 0)
                return;
        /* The command runs as the same user; it has no business in our memory. */
        (void) prctl(PR_SET_DUMPABLE, 0);
        pid = start(command, directory, &output);
        if (pid < 0) {
                answer_fail(answer, "No process can be started: %s.", g_strerror(-pid));
                return;
        }
        ended = follow(pid, output, msec, answer);
        tell(answer, &ended, msec);
}
