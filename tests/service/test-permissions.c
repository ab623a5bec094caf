/* SPDX-License-Identifier: MIT */

/* The permission files of a user and a further one of the administrator. The one in /etc belongs to the machine that this runs
 * on: tests/administrator has that. */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/permissions.h"

typedef struct Fixture {
        char *directory, *user, *more;
        CodewhaleHome *home;
        Permissions *permissions;
} Fixture;

static void fixture_up(Fixture *fixture, const void *data) {
        g_autofree char *home = NULL;

        (void) data;
        fixture->directory = g_dir_make_tmp("permissions-XXXXXX", NULL);
        home = g_build_filename(fixture->directory, "home", NULL);
        g_assert_cmpint(g_mkdir(home, 0700), ==, 0);
        fixture->user = g_build_filename(home, "permissions.toml", NULL);
        fixture->more = g_build_filename(fixture->directory, "more.toml", NULL);
        g_assert_cmpint(codewhale_home_new(home, &fixture->home, NULL), ==, 0);
        fixture->permissions = permissions_new(fixture->home, fixture->more);
}

static void fixture_down(Fixture *fixture, const void *data) {
        g_autofree char *home = g_build_filename(fixture->directory, "home", NULL);

        (void) data;
        fixture->permissions = permissions_free(fixture->permissions);
        fixture->home = codewhale_home_unref(fixture->home);
        (void) g_remove(fixture->user);
        (void) g_remove(fixture->more);
        g_assert_cmpint(g_rmdir(home), ==, 0);
        g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
        g_free(fixture->user);
        g_free(fixture->more);
        g_free(fixture->directory);
}

static void put(const char *path, const char *text) {
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

#define DENY(tool) "[[rule]]\noutcome = \"deny\"\ntool = \"" tool "\"\n"

/* The rule that decides about a tool, or "" for none. */
static const char *decided_by(const Fixture *fixture, const char *tool) {
        const RuleSubject subject = { .name = tool, .policy_name = tool };
        RuleMatch match;

        rule_set_match(permissions_get(fixture->permissions)->rules, &subject, &match);
        return match.rule ? match.rule->at : "";
}

static char *report(const Fixture *fixture) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        permissions_write(fixture->permissions, &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static void test_nothing_there(Fixture *fixture, const void *data) {
        g_autofree char *text = NULL;

        (void) data;
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        g_assert_null(permissions_get_error(fixture->permissions));
        g_assert_null(permissions_get_unreadable(fixture->permissions));
        text = report(fixture);
        g_assert_nonnull(strstr(text, "\"in_force\":\"files\""));
        g_assert_nonnull(strstr(text, "\"state\":\"absent\""));
}

static void test_both_count(Fixture *fixture, const void *data) {
        g_autofree char *mine = g_strdup_printf("%s:1", fixture->user), *theirs = g_strdup_printf("%s:1", fixture->more);

        (void) data;
        put(fixture->user, DENY("mail"));
        put(fixture->more, DENY("wipe"));
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        g_assert_cmpstr(decided_by(fixture, "mail"), ==, mine);
        g_assert_cmpstr(decided_by(fixture, "wipe"), ==, theirs);
        g_assert_cmpstr(decided_by(fixture, "other"), ==, "");
}

/* What a file can be that is no file of rules; the words tell it. */
static void make_broken(const char *path, unsigned how) {
        g_autofree char *large = NULL;

        (void) g_remove(path);
        switch (how) {
        case 0:
                put(path, "[[rule\n");
                return;
        case 1:
                put(path, DENY("x") "[[rule]]\noutcom = \"deny\"\n");
                return;
        case 2:
                g_assert_cmpint(symlink("/etc/hostname", path), ==, 0);
                return;
        case 3:
                g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
                return;
        case 4:
                g_assert_cmpint(mkfifo(path, 0600), ==, 0);
                return;
        case 5:
                large = g_strnfill(PERMISSIONS_FILE_BYTES_MAX + 1, '#');
                put(path, large);
                return;
        default:
                g_assert_true(g_file_set_contents(path, "a = '\xff'\n", -1, NULL));
                return;
        }
}

static const struct {
        const char *name, *words;
} broken[] = {
        { "grammar", ":1:7: this is not TOML" },
        { "value", "unknown member \"outcom\"" },
        { "link", "it is a link" },
        { "directory", "it is no regular file" },
        { "pipe", "it is no regular file" },
        { "large", "it is too large" },
        { "no-utf8", ":1:" },
};

/* The rule that denies may be in what can't be read. */
static void test_broken_at_the_start(Fixture *fixture, const void *data) {
        unsigned how = GPOINTER_TO_UINT(data);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = NULL;

        put(fixture->more, DENY("wipe"));
        make_broken(fixture->user, how);
        g_assert_cmpint(permissions_load(fixture->permissions, &error), ==, -EINVAL);
        g_test_message("%s", error.message);
        g_assert_nonnull(strstr(error.message, fixture->user));
        g_assert_nonnull(strstr(error.message, broken[how].words));
        g_assert_cmpstr(permissions_get_error(fixture->permissions), ==, error.message);
        g_assert_nonnull(strstr(permissions_get_unreadable(fixture->permissions), error.message));
        text = report(fixture);
        g_assert_nonnull(strstr(text, "\"in_force\":\"nothing\""));
        g_assert_nonnull(strstr(text, "\"state\":\"broken\""));

        (void) g_remove(fixture->user);
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        g_assert_null(permissions_get_unreadable(fixture->permissions));
        g_assert_cmpstr(decided_by(fixture, "wipe"), !=, "");
}

/* All files or none: the good one among them waits, too. */
static void test_broken_later(Fixture *fixture, const void *data) {
        unsigned how = GPOINTER_TO_UINT(data);
        g_autofree char *text = NULL;

        put(fixture->user, DENY("mail"));
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        put(fixture->user, DENY("post"));
        make_broken(fixture->more, how);
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, -EINVAL);
        g_assert_nonnull(strstr(permissions_get_error(fixture->permissions), broken[how].words));
        g_assert_null(permissions_get_unreadable(fixture->permissions));
        g_assert_cmpstr(decided_by(fixture, "mail"), !=, "");
        g_assert_cmpstr(decided_by(fixture, "post"), ==, "");
        text = report(fixture);
        g_assert_nonnull(strstr(text, "\"in_force\":\"last-good\""));

        (void) g_remove(fixture->more);
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        g_assert_null(permissions_get_error(fixture->permissions));
        g_assert_cmpstr(decided_by(fixture, "mail"), ==, "");
        g_assert_cmpstr(decided_by(fixture, "post"), !=, "");
}

static void test_warnings_are_no_mistakes(Fixture *fixture, const void *data) {
        (void) data;
        put(fixture->user, "[[rule]]\noutcome = \"allow\"\ntool = \"*\"\n" DENY("mail"));
        g_assert_cmpint(permissions_load(fixture->permissions, NULL), ==, 0);
        g_assert_cmpuint(permissions_count_warnings(fixture->permissions), ==, 1);
        g_assert_cmpstr(decided_by(fixture, "mail"), !=, "");
}

#define ADD(path, function, how) g_test_add(path, Fixture, GUINT_TO_POINTER(how), fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/permissions/nothing-there", test_nothing_there, 0);
        ADD("/permissions/both-count", test_both_count, 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(broken); i++) {
                g_autofree char *first = g_strdup_printf("/permissions/broken-at-the-start/%s", broken[i].name);
                g_autofree char *later = g_strdup_printf("/permissions/broken-later/%s", broken[i].name);

                ADD(first, test_broken_at_the_start, i);
                ADD(later, test_broken_later, i);
        }
        ADD("/permissions/warnings-are-no-mistakes", test_warnings_are_no_mistakes, 0);
        return g_test_run();
}
