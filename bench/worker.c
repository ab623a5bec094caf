/* SPDX-License-Identifier: MIT */

/* Measures round trips when it is told to: each line of standard input is one measurement, each line of output its result
 * as JSON. Staying alive between measurements keeps everything warm, so that different paths can be timed in turns.
 *
 *   open BUNDLE_TOOL       begin a session of the service whose calls are timed by "call"
 *   bus  CALLS WINDOW SIZE an echo by another process over the bus
 *   host CALLS WINDOW SIZE an echo by the JavaScript runtime over a socket pair
 *   call CALLS WINDOW SIZE a tool call through the service
 *
 * Usage: bench-worker RUNTIME HOST.mjs */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define SERVICE "org.codewhale.Extensions"
#define SERVICE_PATH "/org/codewhale/Extensions"
#define ECHO "org.codewhale.Bench"
#define WINDOW_MAX 1024
#define CALL_USEC (60 * 1000000ULL)

typedef enum Path {
        PATH_BUS,
        PATH_CALL,
} Path;

typedef struct Worker {
        sd_bus *bus;
        const char *runtime, *host;
        int channel;
        FILE *replies;
        char tool[128];
        char *session;
        char *text;      /* the payload of the measurement */
        char *arguments; /* the same as the arguments of a tool */
        double *latencies;
        long done;
        int in_flight;
} Worker;

static double now(void) {
        struct timespec time;

        (void) clock_gettime(CLOCK_MONOTONIC, &time);
        return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void check(int r, const char *what) {
        if (r >= 0)
                return;
        (void) fprintf(stderr, "bench-worker: %s: %s\n", what, strerror(-r));
        exit(1);
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void report(Worker *worker, long calls, double seconds) {
        qsort(worker->latencies, (size_t) calls, sizeof *worker->latencies, compare);
        (void) printf("{\"p50_us\": %.2f, \"p99_us\": %.2f, \"per_s\": %.1f}\n", worker->latencies[calls / 2] * 1e6,
                        worker->latencies[calls * 99 / 100] * 1e6, (double) calls / seconds);
}

/* The echo over the bus: a process of its own, as the service is one. */

static int on_echo(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *text;
        int r = sd_bus_message_read(m, "s", &text);

        (void) userdata;
        (void) reterr;
        return r < 0 ? r : sd_bus_reply_method_return(m, "s", text);
}

static const sd_bus_vtable echo_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "s", "s", on_echo, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void serve_echo(void) {
        sd_bus *bus = NULL;

        check(prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0, "prctl");
        check(sd_bus_open_user(&bus), "bus");
        check(sd_bus_add_object_vtable(bus, NULL, "/", ECHO, echo_vtable, NULL), "vtable");
        check(sd_bus_request_name(bus, ECHO, 0), "name of the echo");
        for (;;) {
                int r = sd_bus_process(bus, NULL);

                check(r, "process");
                if (r == 0)
                        check(sd_bus_wait(bus, UINT64_MAX), "wait");
        }
}

static sd_bus_message *new_call(Worker *worker, Path path) {
        sd_bus_message *m = NULL;

        if (path == PATH_BUS) {
                check(sd_bus_message_new_method_call(worker->bus, &m, ECHO, "/", ECHO, "Echo"), "message");
                check(sd_bus_message_append(m, "s", worker->text), "message");
                return m;
        }
        check(sd_bus_message_new_method_call(worker->bus, &m, SERVICE, SERVICE_PATH, SERVICE ".Tools", "Call"), "message");
        check(sd_bus_message_append(
                              m, "ssa{sv}", worker->tool, worker->arguments, 1, "session", "o", worker->session), "message");
        return m;
}

static void check_reply(sd_bus_message *reply) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *text;

        if (error) {
                (void) fprintf(stderr, "bench-worker: %s: %s\n", error->name, error->message);
                exit(1);
        }
        check(sd_bus_message_read(reply, "s", &text), "reply");
}

static void run_in_turn(Worker *worker, Path path, long calls) {
        for (long i = 0; i < calls; i++) {
                sd_bus_error error = SD_BUS_ERROR_NULL;
                sd_bus_message *m, *reply = NULL;
                double began = now();

                m = new_call(worker, path);
                if (sd_bus_call(worker->bus, m, CALL_USEC, &error, &reply) < 0) {
                        (void) fprintf(stderr, "bench-worker: %s: %s\n", error.name, error.message);
                        exit(1);
                }
                check_reply(reply);
                sd_bus_message_unref(reply);
                sd_bus_message_unref(m);
                worker->latencies[i] = now() - began;
        }
}

typedef struct Slot {
        Worker *worker;
        double began; /* 0: free */
} Slot;

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        Slot *slot = userdata;

        (void) reterr;
        check_reply(reply);
        slot->worker->latencies[slot->worker->done++] = now() - slot->began;
        slot->worker->in_flight--;
        slot->began = 0;
        return 0;
}

static void run_at_once(Worker *worker, Path path, long calls, int window) {
        static Slot slots[WINDOW_MAX];
        long sent = 0;

        worker->done = 0;
        while (worker->done < calls) {
                int r;

                while (sent < calls && worker->in_flight < window) {
                        Slot *slot = slots;
                        sd_bus_message *m;

                        while (slot->began > 0)
                                slot++;
                        *slot = (Slot) { worker, now() };
                        m = new_call(worker, path);
                        check(sd_bus_call_async(worker->bus, NULL, m, on_reply, slot, CALL_USEC), "call");
                        sd_bus_message_unref(m);
                        worker->in_flight++;
                        sent++;
                }
                r = sd_bus_process(worker->bus, NULL);
                check(r, "process");
                if (r == 0)
                        check(sd_bus_wait(worker->bus, UINT64_MAX), "wait");
        }
}

/* The echo by the runtime: lines of JSON over a socket pair that is its standard input and output, as a host has it. */

static void start_host(Worker *worker) {
        int pair[2];

        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0, "socketpair");
        if (fork() == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) dup2(pair[1], STDIN_FILENO);
                (void) dup2(pair[1], STDOUT_FILENO);
                (void) execl(worker->runtime, worker->runtime, worker->host, NULL);
                _exit(127);
        }
        (void) close(pair[1]);
        worker->channel = pair[0];
        worker->replies = fdopen(dup(pair[0]), "r");
}

static void run_host(Worker *worker, long calls, int window) {
        static double began[WINDOW_MAX];
        char *line = NULL;
        size_t room = 0;
        long sent = 0;

        if (!worker->replies)
                start_host(worker);
        for (long got = 0; got < calls; got++) {
                for (; sent < calls && sent - got < window; sent++) {
                        began[sent % window] = now();
                        if (dprintf(worker->channel, "{\"id\":%ld,\"tool\":\"echo\",\"input\":%s}\n", sent,
                                            worker->arguments) < 0)
                                check(-errno, "host");
                }
                if (getline(&line, &room, worker->replies) < 0)
                        check(-EPIPE, "host");
                worker->latencies[got] = now() - began[got % window];
        }
        free(line);
}

static void open_session(Worker *worker, const char *tool) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        const char *path;

        (void) snprintf(worker->tool, sizeof worker->tool, "%s", tool);
        if (sd_bus_call_method(worker->bus, SERVICE, SERVICE_PATH, SERVICE ".Sessions", "Open", &error, &reply, "a{sv}", 0) < 0) {
                (void) fprintf(stderr, "bench-worker: %s: %s\n", error.name, error.message);
                exit(1);
        }
        check(sd_bus_message_read(reply, "o", &path), "session");
        free(worker->session);
        worker->session = strdup(path);
        sd_bus_message_unref(reply);
        (void) printf("{\"session\": \"%s\"}\n", worker->session);
}

static void set_payload(Worker *worker, size_t size) {
        free(worker->text);
        free(worker->arguments);
        worker->text = malloc(size + 1);
        worker->arguments = malloc(size + 32);
        if (!worker->text || !worker->arguments)
                check(-ENOMEM, "payload");
        memset(worker->text, 'x', size);
        worker->text[size] = '\0';
        (void) sprintf(worker->arguments, "{\"text\":\"%s\"}", worker->text);
}

static void measure(Worker *worker, const char *word, long calls, int window, size_t size) {
        Path path = strcmp(word, "bus") == 0 ? PATH_BUS : PATH_CALL;
        double began;

        if (calls < 1 || window < 1 || window > WINDOW_MAX)
                check(-EINVAL, "measurement");
        set_payload(worker, size);
        free(worker->latencies);
        worker->latencies = calloc((size_t) calls, sizeof *worker->latencies);
        if (!worker->latencies)
                check(-ENOMEM, "latencies");

        began = now();
        if (strcmp(word, "host") == 0)
                run_host(worker, calls, window);
        else if (window == 1)
                run_in_turn(worker, path, calls);
        else
                run_at_once(worker, path, calls, window);
        report(worker, calls, now() - began);
}

int main(int argc, char **argv) {
        Worker worker = { .runtime = argc > 2 ? argv[1] : NULL, .host = argc > 2 ? argv[2] : NULL };
        char line[512], word[16], tool[128];
        long calls;
        size_t size;
        int window;

        if (argc != 3) {
                (void) fprintf(stderr, "usage: bench-worker RUNTIME HOST\n");
                return 2;
        }
        if (fork() == 0)
                serve_echo();
        check(sd_bus_open_user(&worker.bus), "bus");
        (void) setvbuf(stdout, NULL, _IOLBF, 0);
        while (fgets(line, sizeof line, stdin)) {
                if (sscanf(line, "open %127s", tool) == 1)
                        open_session(&worker, tool);
                else if (sscanf(line, "%15s %ld %d %zu", word, &calls, &window, &size) == 4)
                        measure(&worker, word, calls, window, size);
        }
        return 0;
}
