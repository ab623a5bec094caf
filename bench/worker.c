/* SPDX-License-Identifier: MIT */

/* Measures round trips when it is told to: each line of standard input is one measurement, each line of output its result
 * as JSON. Staying alive between measurements keeps everything warm, so that different paths can be timed in turns.
 *
 *   open BUNDLE_TOOL       begin a session of the service whose calls are timed by "call"
 *   bus  CALLS WINDOW SIZE an echo by another process over the bus
 *   host CALLS WINDOW SIZE an echo by the JavaScript runtime over a socket pair
 *   call CALLS WINDOW SIZE a tool call through the service
 *   list WAY CALLS ROWS    the list of all tools, read to its end; ROWS: how many there must be; WAY: "bus", "channel" (the
 *                          service's direct channel), or "floor", as many rows made up by the echo over the bus
 *
 * Usage: bench-worker RUNTIME HOST.mjs */

#include <errno.h>
#include <fcntl.h>
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
        sd_bus *bus, *direct;
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

/* As many rows as the service lists tools in bench/host, and about as long. */
static int on_rows(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        sd_bus_message *answer = NULL;
        int rows, r;

        (void) userdata;
        (void) reterr;
        check(sd_bus_message_read(m, "i", &rows), "rows");
        check(sd_bus_message_new_method_return(m, &answer), "rows");
        check(sd_bus_message_open_container(answer, 'a', "(sss)"), "rows");
        for (int i = 0; i < rows; i++) {
                char name[32];

                (void) snprintf(name, sizeof name, "bench_%d_%d", i / 16, i % 16);
                check(sd_bus_message_append(answer, "(sss)", name, "user/0123456789ab/bench-many-12",
                                            "Answers with the text that it is given."), "rows");
        }
        check(sd_bus_message_close_container(answer), "rows");
        r = sd_bus_send(NULL, answer, NULL);
        sd_bus_message_unref(answer);
        return r < 0 ? r : 1;
}

static const sd_bus_vtable echo_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Rows", "i", "a(sss)", on_rows, SD_BUS_VTABLE_UNPRIVILEGED),
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

/* The list of all tools, from the call to the last text of the reply. */

static long read_rows(sd_bus_message *reply) {
        const char *name, *plugin, *description;
        long rows = 0;
        int r;

        check(sd_bus_message_enter_container(reply, 'a', "(sss)"), "list");
        while ((r = sd_bus_message_read(reply, "(sss)", &name, &plugin, &description)) > 0)
                rows++;
        check(r, "list");
        return rows;
}

static void open_channel(Worker *worker) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        int fd;

        if (sd_bus_call_method(worker->bus, SERVICE, SERVICE_PATH, SERVICE, "OpenChannel", &error, &reply, "") < 0) {
                (void) fprintf(stderr, "bench-worker: %s: %s\n", error.name, error.message);
                exit(1);
        }
        check(sd_bus_message_read(reply, "h", &fd), "channel");
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        check(sd_bus_new(&worker->direct), "channel");
        check(sd_bus_set_fd(worker->direct, fd, fd), "channel");
        check(sd_bus_start(worker->direct), "channel");
        sd_bus_message_unref(reply);
}

static int ask_for_list(Worker *worker, const char *way, long rows, sd_bus_error *reterr, sd_bus_message **ret) {
        if (strcmp(way, "floor") == 0)
                return sd_bus_call_method(worker->bus, ECHO, "/", ECHO, "Rows", reterr, ret, "i", (int) rows);
        if (strcmp(way, "channel") == 0 && !worker->direct)
                open_channel(worker);
        return sd_bus_call_method(strcmp(way, "channel") == 0 ? worker->direct : worker->bus, SERVICE, SERVICE_PATH,
                                  SERVICE ".Tools", "List", reterr, ret, "a{sv}", 0);
}

static void measure_lists(Worker *worker, const char *way, long calls, long rows) {
        double began_all = now();

        free(worker->latencies);
        worker->latencies = calloc((size_t) calls, sizeof *worker->latencies);
        if (!worker->latencies)
                check(-ENOMEM, "latencies");
        for (long i = 0; i < calls; i++) {
                sd_bus_error error = SD_BUS_ERROR_NULL;
                sd_bus_message *reply = NULL;
                double began = now();

                if (ask_for_list(worker, way, rows, &error, &reply) < 0) {
                        (void) fprintf(stderr, "bench-worker: %s: %s\n", error.name, error.message);
                        exit(1);
                }
                if (read_rows(reply) != rows)
                        check(-EBADMSG, "list");
                sd_bus_message_unref(reply);
                worker->latencies[i] = now() - began;
        }
        report(worker, calls, now() - began_all);
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
        long calls, rows;
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
                else if (sscanf(line, "list %15s %ld %ld", word, &calls, &rows) == 3 && calls > 0)
                        measure_lists(&worker, word, calls, rows);
                else if (sscanf(line, "%15s %ld %d %zu", word, &calls, &window, &size) == 4)
                        measure(&worker, word, calls, window, size);
        }
        return 0;
}
