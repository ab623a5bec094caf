/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "cli/bundle-job.h"
#include "cli/memory-file.h"
#include "cli/message-json.h"
#include "cli/request.h"
#include "cli/session-word.h"
#include "cli/unit-pattern.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "common/cleanup.h"
#include "common/limits.h"

static void test_session_word(void) {
        static const struct {
                const char *word, *path, *id;
        } cases[] = {
                { "s3", "/org/codewhale/Extensions/session/3", "s3" },
                { "3", "/org/codewhale/Extensions/session/3", "s3" },
                { "/org/codewhale/Extensions/session/3", "/org/codewhale/Extensions/session/3", "s3" },
                { "", "/org/codewhale/Extensions/session/", "" },
                { "nonsense", "/org/codewhale/Extensions/session/nonsense", "nonsense" },
                { "/elsewhere", "/elsewhere", "/elsewhere" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = session_word_to_path(cases[i].word), *id = session_word_to_id(cases[i].word);

                g_assert_cmpstr(path, ==, cases[i].path);
                g_assert_cmpstr(id, ==, cases[i].id);
        }
}

static void test_when(void) {
        static const struct {
                const char *text;
                int r;
                uint64_t usec;
        } cases[] = {
                { "90s", 0, UINT64_C(999910000000) },
                { "10m", 0, UINT64_C(999400000000) },
                { "2h", 0, UINT64_C(992800000000) },
                { "3d", 0, UINT64_C(740800000000) },
                { "1970-01-01T00:00:01Z", 0, 1000000 },
                { "2026-01-31T12:00:00+01:00", 0, UINT64_C(1769857200000000) },
                { "99999999d", 0, 1 },
                { "", -EINVAL, 0 },
                { "10", -EINVAL, 0 },
                { "10 m", -EINVAL, 0 },
                { "-5m", -EINVAL, 0 },
                { "yesterday", -EINVAL, 0 },
                { "99999999999999999999d", -EINVAL, 0 },
                { "1960-01-01T00:00:00Z", -EINVAL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t usec = 0;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(when_parse(cases[i].text, UINT64_C(1000000000000), &usec), ==, cases[i].r);
                g_assert_cmpuint(usec, ==, cases[i].usec);
        }
}

static void test_bar(void) {
        static const struct {
                const char *stage;
                uint64_t done, total;
                unsigned columns;
                const char *line;
        } cases[] = {
                { "fetching", 0, 0, 80, "Fetching" },
                { "reading", 1500, 0, 80, "Reading 1.5 kB" },
                { "fetching", 0, 1000, 42, "Fetching [          ]   0 % 0 B" },
                { "fetching", 500, 1000, 42, "Fetching [#####     ]  50 % 500 B" },
                { "fetching", 1000, 1000, 42, "Fetching [##########] 100 % 1.0 kB" },
                { "fetching", 5000, 1000, 42, "Fetching [##########] 100 % 5.0 kB" },
                { "writing", 2000000, 2000000, 10, "Writing 100 % 2.0 MB" },
                { "x\033[2J", 0, 0, 80, "x\\x1b[2J" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *line = bundle_job_line(cases[i].stage, cases[i].done, cases[i].total, cases[i].columns);

                g_assert_cmpstr(line, ==, cases[i].line);
        }
}

static void test_unit_pattern(void) {
        static const struct {
                const char *id, *pattern;
        } cases[] = {
                { "user/0123456789ab/counter",
                                "codewhale-host-user:0123456789ab:counter-*.service" },
                { "a-b.c", "codewhale-host-a\\x2db.c-*.service" },
                { ".x", "codewhale-host-\\x2ex-*.service" },
                { "a*?[", "codewhale-host-a\\x2a\\x3f\\x5b-*.service" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *pattern = unit_pattern_for_plugin(cases[i].id);

                g_assert_cmpstr(pattern, ==, cases[i].pattern);
        }
}

static void test_request_path(void) {
        g_autofree char *path = request_path(":1.42", "cli0001");

        g_assert_cmpstr(path, ==, "/org/codewhale/Extensions/request/1_42/cli0001");
        g_assert_true(sd_bus_object_path_is_valid(path));
}

static void test_memory_file(void) {
        g_autofree char *text = NULL, *again = NULL;
        _cleanup_close_ int fd = -EBADF;

        g_assert_cmpint(memory_file_seal("{\"a\":1}", &fd), ==, 0);
        g_assert_cmpint(fcntl(fd, F_GET_SEALS), ==,
                        F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
        g_assert_cmpint(memory_file_read(fd, &text), ==, 0);
        g_assert_cmpstr(text, ==, "{\"a\":1}");
        g_assert_cmpint(write(fd, "x", 1), <, 0);

        /* Whoever wrote it may have left the offset at its end. */
        g_assert_cmpint(lseek(fd, 0, SEEK_END), ==, 7);
        g_assert_cmpint(memory_file_read(fd, &again), ==, 0);
        g_assert_cmpstr(again, ==, "{\"a\":1}");
}

static void test_memory_file_refused(void) {
        _cleanup_close_ int with_nul = memfd_create("test", MFD_CLOEXEC),
                            large = memfd_create("test", MFD_CLOEXEC);
        int ends[2];
        char *text = NULL;

        g_assert_cmpint(write(with_nul, "a\0b", 3), ==, 3);
        g_assert_cmpint(memory_file_read(with_nul, &text), ==, -EBADMSG);
        g_assert_cmpint(ftruncate(large, (off_t) BUS_MEMFD_BYTES_MAX + 1), ==, 0);
        g_assert_cmpint(memory_file_read(large, &text), ==, -EFBIG);
        g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
        g_assert_cmpint(memory_file_read(ends[0], &text), ==, -EBADFD);
        g_assert_null(text);
        (void) close(ends[0]);
        (void) close(ends[1]);
}

/* A message that was never sent can be read once it is sealed. */
static void test_message(void) {
        g_autoptr(sd_bus_message) m = NULL;
        g_autofree char *json = NULL;
        g_auto(JWriter) writer = {};
        g_autoptr(sd_bus) bus = NULL;
        int ends[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(bus, ends[0], ends[0]), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), >=, 0);
        g_assert_cmpint(sd_bus_message_new_signal(bus, &m, "/x", "x.y", "Z"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "sutbx(so)as", "a\n", 7u, UINT64_MAX, 1, INT64_MIN, "s",
                                        "/o", 2, "p", "q"),
                        >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "a{sv}vd", 2, "k", "s", "v", "n", "u", 3u, "i", -1, 1.5),
                        >=, 0);
        g_assert_cmpint(sd_bus_message_seal(m, 1, 0), >=, 0);

        jwriter_init(&writer);
        g_assert_cmpint(message_write(m, &writer), ==, 0);
        json = jwriter_steal(&writer, NULL);
        g_assert_cmpstr(json, ==,
                        "[\"a\\n\",7,18446744073709551615,true,-9223372036854775808,[\"s\",\"/"
                        "o\"],[\"p\",\"q\"],"
                        "{\"k\":\"v\",\"n\":3},-1,1.5]");
        (void) close(ends[1]);
}

static void test_verbs(void) {
        for (const Verb *verb = verbs_all(); verb->name; verb++) {
                g_test_message("%s", verb->name);
                g_assert_true(verb_find(verb->name) == verb); /* no name twice */
                g_assert_nonnull(verb->run);
                g_assert_nonnull(verb->help);
                g_assert_true(verb->words_max == VERB_WORDS_ANY || verb->words_max >= verb->words_min);
        }
        g_assert_null(verb_find("frobnicate"));
        g_assert_true(verb_is_literal("run"));
        g_assert_false(verb_is_literal("call"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/session-word", test_session_word);
        g_test_add_func("/cli/when/parse", test_when);
        g_test_add_func("/cli/bar/line", test_bar);
        g_test_add_func("/cli/unit-pattern", test_unit_pattern);
        g_test_add_func("/cli/request/path", test_request_path);
        g_test_add_func("/cli/memory-file/round-trip", test_memory_file);
        g_test_add_func("/cli/memory-file/refused", test_memory_file_refused);
        g_test_add_func("/cli/message-json/types", test_message);
        g_test_add_func("/cli/verbs/table", test_verbs);
        return g_test_run();
}
