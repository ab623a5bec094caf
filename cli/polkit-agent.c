/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "cli/polkit-agent.h"
#include "common/cleanup.h"

#define REGISTER_MSEC 5000

static const char *find_agent(void) {
        static const char *const places[] = { "/usr/bin/pkttyagent", "/bin/pkttyagent" };

        for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
                if (access(places[i], X_OK) == 0)
                        return places[i];
        return NULL;
}

/* An agent of the desktop belongs to a session. polkit does not even look at agents that are only a fallback where it finds no
 * session (tried with 122): there ours is the only one that can be. */
static bool has_session(void) {
        return sd_pid_get_session(0, NULL) >= 0 || sd_uid_get_display(getuid(), NULL) >= 0;
}

_Noreturn static void be_agent(const char *program, int notify, pid_t parent) {
        g_autofree char *fd = g_strdup_printf("%d", notify);
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        sigset_t none;

        /* Signals that we only read as events would never reach it, and so never end it. */
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        /* It ends with us, however we end, and it keeps the descriptor to say that it is there. */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent || fcntl(notify, F_SETFD, 0) < 0)
                _exit(EXIT_FAILURE);
        /* It asks on the terminal itself. What else it has to say is that there is no polkit, which is no news to the service. */
        if (nothing >= 0)
                (void) dup2(nothing, STDERR_FILENO);
        (void) execl(program, program, "--notify-fd", fd, has_session() ? "--fallback" : NULL, (char *) NULL);
        _exit(EXIT_FAILURE);
}

/* It closes its end when it is registered, or when it could not be. */
static void wait_registered(int fd) {
        struct pollfd end = { .fd = fd, .events = POLLIN };
        int r;

        do
                r = poll(&end, 1, REGISTER_MSEC);
        while (r < 0 && errno == EINTR);
}

void polkit_agent_open(PolkitAgent *ret) {
        const char *program = find_agent();
        pid_t parent = getpid();
        int ends[2];

        *ret = (PolkitAgent) {};
        if (geteuid() == 0 || !isatty(STDIN_FILENO) || !program || pipe2(ends, O_CLOEXEC) < 0)
                return;

        ret->pid = fork();
        if (ret->pid == 0) {
                (void) close(ends[0]);
                be_agent(program, ends[1], parent);
        }
        (void) close(ends[1]);
        if (ret->pid > 0)
                wait_registered(ends[0]);
        else
                ret->pid = 0;
        (void) close(ends[0]);
}

void polkit_agent_close(PolkitAgent *agent) {
        if (agent->pid <= 0)
                return;

        /* It may sit in a question; it gives the terminal back when it is told to go. */
        (void) kill(agent->pid, SIGTERM);
        (void) kill(agent->pid, SIGCONT);
        while (waitpid(agent->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        agent->pid = 0;
}
