/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "sandbox/launcher/findings.h"
#include "sandbox/report.h"

/* All checks that must be there. */
static const char *const names[] = {
        "capabilities",
        "no-new-capabilities",
        "no-new-privileges",
        "seccomp",
        "personality",
        "namespace-user",
        "namespace-net",
        "namespace-mnt",
        "namespace-ipc",
        "user-map",
        "no-new-namespaces",
        "descriptors",
        "channel",
        "environment",
        "read-only",
        "writable",
        "no-execution",
        "no-set-user-id",
        "hidden",
        "network",
        "sockets",
        "abstract-sockets",
        "system-calls",
        "process-memory",
        "signals",
        "limits-of-others",
};

/* A report as the launcher writes it, but for one check that is left out or has failed. */
static char *make_report(const char *missing, const char *failed, const char *detail) {
        static Findings findings;
        FindingsLimits limits = {
                .data_bytes = UINT64_MAX, .files = 4096, .landlock = 3, .took_usec = 1500
        };

        findings_begin(&findings);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_strcmp0(names[i], missing) != 0)
                        findings_add(&findings, names[i], true, g_strcmp0(names[i], failed) != 0, "%s",
                                        g_strcmp0(names[i], failed) == 0 ? detail : "fine");
        findings_add(&findings, "process-list", false, false, "optional");
        findings_end(&findings, &limits);
        g_assert_false(findings.full);
        g_assert_cmpint(findings.refused, ==, failed != NULL);
        return g_strndup(findings.text, findings.size);
}

static SandboxReport *parse(const char *text) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        SandboxReport *report = NULL;

        if (sandbox_report_parse(text, strlen(text), &report, &error) < 0)
                g_error("%s", error.message);
        return report;
}

static void test_launcher_writes_what_we_read(void) {
        g_autofree char *text = make_report(NULL, NULL, NULL);
        g_autoptr(SandboxReport) report = parse(text);

        g_assert_cmpuint(report->version, ==, 1);
        g_assert_cmpuint(report->n_checks, ==, G_N_ELEMENTS(names) + 1);
        g_assert_cmpuint(report->data_bytes, ==, UINT64_MAX);
        g_assert_cmpuint(report->files, ==, 4096);
        g_assert_cmpuint(report->landlock, ==, 3);
        g_assert_cmpuint(report->took_usec, ==, 1500);
        g_assert_true(sandbox_report_find(report, "seccomp")->held);
        g_assert_cmpstr(sandbox_report_find(report, "seccomp")->detail, ==, "fine");
        g_assert_false(sandbox_report_find(report, "process-list")->held);
        g_assert_null(sandbox_report_find(report, "unheard-of"));
        g_assert_cmpint(sandbox_report_judge(report, NULL), ==, 0);
}

static void test_each_failure_refuses(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autofree char *text = make_report(NULL, names[i], "seen \"inside\" \\ \x1b[31m");
                g_autoptr(SandboxReport) report = parse(text);

                g_assert_cmpint(sandbox_report_judge(report, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_SANDBOX_REFUSED);
                g_assert_nonnull(strstr(error.message, names[i]));
                g_assert_nonnull(strstr(error.message, "seen \"inside\" \\ ?[31m"));
        }
}

static void test_each_omission_refuses(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autofree char *text = make_report(names[i], NULL, NULL);
                g_autoptr(SandboxReport) report = parse(text);

                g_assert_cmpint(sandbox_report_judge(report, &error), <, 0);
                g_assert_nonnull(strstr(error.message, "was not checked"));
                g_assert_nonnull(strstr(error.message, names[i]));
        }
}

/* A failed check is not made good by a second one of the same name. */
static void test_repeated(void) {
        static Findings findings;
        FindingsLimits limits = { .files = 1 };
        g_autofree char *good = make_report(NULL, NULL, NULL), *text = NULL;
        g_autoptr(SandboxReport) report = NULL;
        const char *list = strstr(good, "\"checks\":[") + strlen("\"checks\":[");

        findings_begin(&findings);
        findings_add(&findings, "seccomp", false, false, "off");
        findings_end(&findings, &limits);
        text = g_strdup_printf("%.*s%s,%s", (int) (list - good), good,
                        "{\"name\":\"seccomp\",\"held\":false,\"required\":false,\"detail\":\"off\"}", list);
        report = parse(text);
        g_assert_cmpint(sandbox_report_judge(report, NULL), <, 0);
}

static void test_launcher_may_require_more(void) {
        g_autofree char *good = make_report(NULL, NULL, NULL);
        g_autofree char *text = NULL;
        g_auto(GStrv) parts = g_strsplit(good, "\"held\":false,\"required\":false", 2);
        g_autoptr(SandboxReport) report = NULL;

        text = g_strjoinv("\"held\":false,\"required\":true", parts);
        report = parse(text);
        g_assert_cmpint(sandbox_report_judge(report, NULL), <, 0);
}

static void test_unusable(void) {
        static const char *const cases[] = {
                "",
                "{}",
                "[]",
                "{\"method\":\"host/hello\",\"params\":{}}",
                "{\"method\":\"launcher/report\"}",
                "{\"method\":\"launcher/report\",\"params\":[]}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":2,\"checks\":[],\"limits\":{\"data\":null,"
                "\"files\":1},\"landlock\":0,\"took_usec\":1}}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":1,\"checks\":{},\"limits\":{\"data\":null,"
                "\"files\":1},\"landlock\":0,\"took_usec\":1}}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":1,\"checks\":[{\"name\":\"x\"}],\"limits\":{"
                "\"data\":null,\"files\":1},\"landlock\":0,\"took_usec\":1}}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":1,\"checks\":[{\"name\":\"x\",\"held\":1,"
                "\"required\":true,\"detail\":\"\"}],\"limits\":{\"data\":null,\"files\":1},\"landlock\":0,"
                "\"took_"
                "usec\":1}}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":1,\"checks\":[],\"limits\":{\"data\":-1,"
                "\"files\":1},\"landlock\":0,\"took_usec\":1}}",
                "{\"method\":\"launcher/"
                "report\",\"params\":{\"version\":1,\"checks\":[],\"landlock\":0,\"took_usec\":"
                "1}}",
                "\xff\xfe",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                SandboxReport *report = (SandboxReport *) 1;

                g_assert_cmpint(sandbox_report_parse(cases[i], strlen(cases[i]), &report, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_SANDBOX_REFUSED);
                g_assert_true(report == (SandboxReport *) 1);
        }
}

static void test_too_many(void) {
        g_autoptr(GString) text = g_string_new(
                        "{\"method\":\"launcher/report\",\"params\":{\"version\":1,\"checks\":[");
        SandboxReport *report = NULL;

        for (unsigned i = 0; i <= SANDBOX_CHECKS_MAX; i++)
                g_string_append_printf(text,
                                "%s{\"name\":\"n%u\",\"held\":true,\"required\":false,\"detail\":\"\"}",
                                i > 0 ? "," : "", i);
        g_string_append(text, "],\"limits\":{\"data\":null,\"files\":1},\"landlock\":0,\"took_usec\":1}}");
        g_assert_cmpint(sandbox_report_parse(text->str, text->len, &report, NULL), <, 0);
        g_assert_null(report);
}

/* More than fits is noticed and never a cut text. */
static void test_findings_full(void) {
        static Findings findings;

        findings_begin(&findings);
        for (unsigned i = 0; i < 1000; i++)
                findings_add(&findings, "long", false, true, "%0300d", 0);
        g_assert_true(findings.full);
        g_assert_cmpuint(findings.size, <=, FINDINGS_BYTES_MAX);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        errors_register();
        g_test_add_func("/report/launcher-writes-what-we-read", test_launcher_writes_what_we_read);
        g_test_add_func("/report/B02-each-failure-refuses", test_each_failure_refuses);
        g_test_add_func("/report/B02-each-omission-refuses", test_each_omission_refuses);
        g_test_add_func("/report/repeated", test_repeated);
        g_test_add_func("/report/launcher-may-require-more", test_launcher_may_require_more);
        g_test_add_func("/report/unusable", test_unusable);
        g_test_add_func("/report/too-many", test_too_many);
        g_test_add_func("/report/findings-full", test_findings_full);
        return g_test_run();
}
