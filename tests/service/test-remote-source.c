/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/remote-source.h"

static void test_good(void) {
        static const struct {
                const char *text, *url, *shown;
                bool plain;
        } cases[] = {
                { "https://example.org/a.tar.gz", "https://example.org/a.tar.gz", "https://example.org/a.tar.gz", false },
                { "HTTPS://example.org:8443/a?token=x", "HTTPS://example.org:8443/a?token=x", "HTTPS://example.org:8443/a", false },
                { "https://[2001:db8::1]/a", "https://[2001:db8::1]/a", "https://[2001:db8::1]/a", false },
                { "http://localhost/a", "http://localhost/a", "http://localhost/a", true },
                { "http://LocalHost:80/a", "http://LocalHost:80/a", "http://LocalHost:80/a", true },
                { "http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a", true },
                { "http://127.255.0.9/", "http://127.255.0.9/", "http://127.255.0.9/", true },
                { "http://[::1]:8000/a", "http://[::1]:8000/a", "http://[::1]:8000/a", true },
                { "github:owner/repo", "https://codeload.github.com/owner/repo/tar.gz/HEAD", "github:owner/repo", false },
                { "github:owner/repo.js@v1.2", "https://codeload.github.com/owner/repo.js/tar.gz/v1.2", "github:owner/repo.js@v1.2", false },
                { "github:o/r@refs/tags/x", "https://codeload.github.com/o/r/tar.gz/refs/tags/x", "github:o/r@refs/tags/x", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(RemoteSource) source = NULL, again = NULL;
                g_autofree char *shown = NULL;

                g_test_message("%s", cases[i].text);
                g_assert_true(remote_source_is_one(cases[i].text));
                g_assert_cmpint(remote_source_parse(cases[i].text, &source, NULL), ==, 0);
                g_assert_cmpstr(source->url, ==, cases[i].url);
                g_assert_cmpstr(source->shown, ==, cases[i].shown);
                g_assert_cmpint(source->plain, ==, cases[i].plain);
                shown = remote_source_show(source->text);
                g_assert_cmpstr(shown, ==, cases[i].shown);
                /* The marker keeps the text: it parses back to the same source (2.9). */
                g_assert_cmpint(remote_source_parse(source->text, &again, NULL), ==, 0);
                g_assert_cmpstr(again->url, ==, source->url);
        }
}

static void test_bad(void) {
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "ftp://example.org/a", ERROR_NOT_SUPPORTED },
                { "file:///etc/passwd", ERROR_NOT_SUPPORTED },
                { "git+https://example.org/a", ERROR_NOT_SUPPORTED },
                { "https://", ERROR_INVALID_ARGUMENTS },
                { "https:///a", ERROR_INVALID_ARGUMENTS },
                { "https://:80/a", ERROR_INVALID_ARGUMENTS },
                { "https://example.org:99999/a", ERROR_INVALID_ARGUMENTS },
                { "https://example.org:x/a", ERROR_INVALID_ARGUMENTS },
                { "https://user@example.org/a", ERROR_INVALID_ARGUMENTS },
                { "https://user:secret@example.org/a", ERROR_INVALID_ARGUMENTS },
                { "https://example.org/a#b", ERROR_INVALID_ARGUMENTS },
                { "https://exa mple.org/a", ERROR_INVALID_ARGUMENTS },
                { "https://example.org/a\\b", ERROR_INVALID_ARGUMENTS },
                { "https://example.org/\x1b[2J", ERROR_INVALID_ARGUMENTS },
                { "https://ex\xc3\xa4mple.org/", ERROR_INVALID_ARGUMENTS },
                { "http://example.org/a", ERROR_INVALID_ARGUMENTS },
                { "http://10.0.0.1/a", ERROR_INVALID_ARGUMENTS },
                { "http://127.0.0.1.example.org/a", ERROR_INVALID_ARGUMENTS },
                { "http://127.0.0/a", ERROR_INVALID_ARGUMENTS },
                { "http://127.0.0.256/a", ERROR_INVALID_ARGUMENTS },
                { "http://127.0.0.1@example.org/a", ERROR_INVALID_ARGUMENTS },
                { "http://[::2]/a", ERROR_INVALID_ARGUMENTS },
                { "http://localhost.example.org/a", ERROR_INVALID_ARGUMENTS },
                { "github:owner", ERROR_INVALID_ARGUMENTS },
                { "github:owner/", ERROR_INVALID_ARGUMENTS },
                { "github:owner/..", ERROR_INVALID_ARGUMENTS },
                { "github:owner/repo/more", ERROR_INVALID_ARGUMENTS },
                { "github:owner/repo@", ERROR_INVALID_ARGUMENTS },
                { "github:owner/repo@../../x", ERROR_INVALID_ARGUMENTS },
                { "github:owner/repo?x", ERROR_INVALID_ARGUMENTS },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                RemoteSource *source = NULL;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(remote_source_parse(cases[i].text, &source, &error), <, 0);
                g_assert_null(source);
                g_assert_cmpstr(error.name, ==, cases[i].error);
                g_assert_null(strstr(error.message, "secret"));
        }
}

static void test_length(void) {
        g_autofree char *fill = g_strnfill(DOWNLOAD_URL_BYTES_MAX, 'x'), *text = g_strdup_printf("https://example.org/%s", fill);
        g_autoptr(RemoteSource) source = NULL;
        RemoteSource *refused = NULL;

        g_assert_cmpint(remote_source_parse(text, &refused, NULL), <, 0);
        text[DOWNLOAD_URL_BYTES_MAX] = '\0';
        g_assert_cmpint(remote_source_parse(text, &source, NULL), ==, 0);
}

static void test_show(void) {
        g_autofree char *path = remote_source_show("path:/home/x?y"), *secret = remote_source_show("https://u:p@host/a?b=c");

        g_assert_cmpstr(path, ==, "path:/home/x?y");
        g_assert_cmpstr(secret, ==, "https://host/a");
        g_assert_false(remote_source_is_one("/absolute/path"));
        g_assert_false(remote_source_is_one("path:/absolute/path"));
}

static void test_policy(void) {
        static const struct {
                NetworkPolicy policy;
                bool approved;
                const char *error;
        } cases[] = {
                { NETWORK_ASK, false, ERROR_NETWORK_APPROVAL }, { NETWORK_ASK, true, NULL },
                { NETWORK_DENY, false, ERROR_NETWORK_DENIED },  { NETWORK_DENY, true, ERROR_NETWORK_DENIED },
                { NETWORK_ALLOW, false, NULL },                 { NETWORK_ALLOW, true, NULL },
        };
        g_autoptr(RemoteSource) source = NULL;

        g_assert_cmpint(remote_source_parse("https://example.org/a?token=secret", &source, NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                int r = remote_source_check_policy(source, cases[i].policy, cases[i].approved, &error);

                g_assert_cmpint(r < 0, ==, cases[i].error != NULL);
                g_assert_cmpstr(error.name, ==, cases[i].error);
                g_assert_true(r >= 0 || !strstr(error.message, "secret"));
        }
        g_assert_cmpint(network_policy_from_string("deny"), ==, NETWORK_DENY);
        g_assert_cmpint(network_policy_from_string("maybe"), <, 0);
        g_assert_cmpint(network_policy_from_string(NULL), <, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/remote-source/good", test_good);
        g_test_add_func("/service/remote-source/bad", test_bad);
        g_test_add_func("/service/remote-source/length", test_length);
        g_test_add_func("/service/remote-source/show", test_show);
        g_test_add_func("/service/remote-source/policy", test_policy);
        return g_test_run();
}
