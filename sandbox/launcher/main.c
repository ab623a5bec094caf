/* SPDX-License-Identifier: MIT */

/* codewhale-host-launcher: the first program inside a sandbox. It shuts what systemd left open, tries what
 * must fail, reports on its channel (standard input and output), waits for the service's word, and becomes
 * the runtime. Without that word, or when a required wall does not hold, nothing of a plugin is ever
 * executed. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/whole-io.h"
#include "sandbox/frame.h"
#include "sandbox/launcher-exit.h"
#include "sandbox/launcher/checks.h"
#include "sandbox/launcher/findings.h"
#include "sandbox/launcher/lockdown.h"
#include "sandbox/launcher/options.h"

static Findings findings;

static uint64_t now_usec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000u + (uint64_t) ts.tv_nsec / 1000u;
}

static uint64_t get_limit(int resource) {
        struct rlimit limit;

        if (getrlimit(resource, &limit) < 0 || limit.rlim_max == RLIM_INFINITY)
                return UINT64_MAX;
        return limit.rlim_max;
}

static int explain(const char *what, int r) {
        (void) fprintf(stderr, "codewhale-host-launcher: %s: %s\n", what, strerror(-r));
        return r;
}

/* Shuts and tries. Return: 0; -errno when something could not even be set up. */
static int inspect(const Options *options) {
        FindingsLimits limits = { .data_bytes = get_limit(RLIMIT_DATA), .files = get_limit(RLIMIT_NOFILE) };
        uint64_t begin = now_usec();
        int landlock, r;

        r = lockdown_capabilities();
        if (r < 0)
                return explain("capabilities", r);

        findings_begin(&findings);
        checks_descriptors(&findings);
        checks_environment(&findings, options);
        checks_privileges(&findings);
        checks_files(&findings, options);
        checks_sockets(&findings, options);
        checks_calls(&findings);

        landlock = lockdown_landlock(options);
        if (landlock < 0)
                return explain("Landlock", landlock);
        r = lockdown_filter(!lockdown_scopes_signals(landlock));
        if (r < 0)
                return explain("system call filter", r);
        checks_namespaces(&findings, options);
        checks_processes(&findings, options);

        limits.landlock = (unsigned) landlock;
        limits.took_usec = now_usec() - begin;
        findings_end(&findings, &limits);
        return 0;
}

static int send_report(void) {
        static uint8_t frame[FRAME_HEADER_BYTES + FINDINGS_BYTES_MAX];

        frame_write_header(frame, (uint32_t) findings.size);
        memcpy(frame + FRAME_HEADER_BYTES, findings.text, findings.size);
        return whole_write(STDOUT_FILENO, frame, FRAME_HEADER_BYTES + findings.size);
}

/* The service's word is one frame of fixed text; nobody else can write here. What comes after it belongs to the runtime. */
static int await_go(void) {
        static const char go[] = LAUNCHER_GO_PAYLOAD;
        uint8_t header[FRAME_HEADER_BYTES];
        char payload[sizeof(go)];
        uint32_t size;
        int r;

        r = whole_read(STDIN_FILENO, header, sizeof(header));
        if (r < 0)
                return r;
        if (frame_read_header(header, &size) < 0 || size != sizeof(go) - 1)
                return -EBADMSG;
        r = whole_read(STDIN_FILENO, payload, size);
        if (r < 0)
                return r;

        return memcmp(payload, go, size) == 0 ? 0 : -EBADMSG;
}

static char **make_environment(const Words *keep) {
        char **environment = calloc(keep->n + 1, sizeof(char *));
        size_t n = 0;

        for (size_t i = 0; environment && i < keep->n; i++) {
                const char *value = getenv(keep->words[i]);

                if (value && asprintf(&environment[n], "%s=%s", keep->words[i], value) >= 0)
                        n++;
        }
        return environment;
}

static int become(const Options *options) {
        char **environment = make_environment(&options->keep);

        if (!environment)
                return LAUNCHER_EXIT_SETUP;
        (void) signal(SIGPIPE, SIG_DFL);
        (void) execve(options->command[0], options->command, environment);
        (void) fprintf(stderr, "codewhale-host-launcher: %s: %s\n", options->command[0], strerror(errno));
        return LAUNCHER_EXIT_EXEC;
}

/* Not in a sandbox: see sandbox/lifeline.h. Nothing is ever written to this input; what counts is its end. */
static int hold_lifeline(void) {
        char ignored[64];
        ssize_t n;

        do
                n = read(STDIN_FILENO, ignored, sizeof(ignored));
        while (n > 0 || (n < 0 && errno == EINTR));
        return 0;
}

int main(int argc, char **argv) {
        const char *wrong = "";
        Options options;
        int r;

        if (argc == 2 && strcmp(argv[1], LIFELINE_OPTION) == 0)
                return hold_lifeline();
        if (options_parse(argc, argv, &options, &wrong) < 0) {
                (void) fprintf(stderr, "codewhale-host-launcher: unusable argument: %s\n", wrong);
                return LAUNCHER_EXIT_USAGE;
        }
        (void) signal(SIGPIPE, SIG_IGN);

        r = inspect(&options);
        if (r < 0)
                return LAUNCHER_EXIT_SETUP;
        if (send_report() < 0)
                return LAUNCHER_EXIT_CHANNEL;
        if (findings.refused || findings.full)
                return LAUNCHER_EXIT_REFUSED;

        r = await_go();
        if (r < 0)
                return r == -EBADMSG ? LAUNCHER_EXIT_FRAME : LAUNCHER_EXIT_CHANNEL;
        if (options.probe)
                return 0;

        return become(&options);
}
