/* SPDX-License-Identifier: MIT */

/* What the files of a workspace come to, on real folders with the real worker and the real watch. */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/overlay.h"

typedef struct Fixture {
        sd_event *event;
        char *directory, *folder, *law, *config;
        SessionTable *sessions;
        OverlayTable *table;
        unsigned changes;
} Fixture;

static void on_changed(void *userdata) {
        Fixture *fixture = userdata;

        fixture->changes++;
}

static void fixture_up(Fixture *fixture, const void *data) {
        g_autofree char *home = NULL;

        (void) data;
        fixture->directory = g_dir_make_tmp("overlay-XXXXXX", NULL);
        home = g_build_filename(fixture->directory, "home", NULL);
        fixture->folder = g_build_filename(fixture->directory, ".codewhale", NULL);
        fixture->law = g_build_filename(fixture->folder, "law.toml", NULL);
        fixture->config = g_build_filename(fixture->folder, "config.toml", NULL);
        g_assert_cmpint(g_mkdir(fixture->folder, 0700), ==, 0);
        g_assert_cmpint(sd_event_new(&fixture->event), >=, 0);
        fixture->sessions = session_table_new(POSTURE_ASK);
        fixture->table = overlay_table_new(fixture->event, home, on_changed, fixture);
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        fixture->table = overlay_table_free(fixture->table);
        fixture->sessions = session_table_free(fixture->sessions);
        fixture->event = sd_event_unref(fixture->event);
        (void) g_remove(fixture->law);
        (void) g_remove(fixture->config);
        (void) g_rmdir(fixture->folder);
        g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
        g_free(fixture->law);
        g_free(fixture->config);
        g_free(fixture->folder);
        g_free(fixture->directory);
}

static void put(const char *path, const char *text) {
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static Session *open_session(Fixture *fixture) {
        const SessionOptions options = { .workspace = fixture->directory };
        Session *session;

        g_assert_cmpint(session_table_open(fixture->sessions, ":1.1", &options, &session, NULL), ==, 0);
        overlay_table_open(fixture->table, session);
        return session;
}

static void on_ready(void *userdata) {
        *(bool *) userdata = true;
}

/* Until what is on the disk has been read. */
static void settle(Fixture *fixture, Overlay *overlay) {
        bool ready = false;
        OverlayWait *wait;

        overlay_wait(overlay, on_ready, &ready, &wait);
        if (!wait)
                return;
        while (!ready)
                g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >=, 0);
        (void) overlay_wait_free(wait);
}

static char *report(const Overlay *overlay) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        overlay_write(overlay, &writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

#define LAW    "[[protect]]\npath = \"deploy\"\noutcome = \"block\"\n"
#define CONFIG "[policy]\nposture = \"never\"\n[tools]\ndeny = [\"mail\"]\n"

static void test_nothing(Fixture *fixture, const void *data) {
        Overlay *overlay = overlay_table_find(fixture->table, open_session(fixture));
        DecisionInput input = {};

        (void) data;
        settle(fixture, overlay);
        g_assert_null(overlay_get_error(overlay));
        overlay_fill(overlay, &input);
        g_assert_null(input.law);
        g_assert_false(input.project_posture.set);
}

static void test_both_files(Fixture *fixture, const void *data) {
        DecisionInput input = {};
        g_autofree char *text = NULL, *at = g_strdup_printf("%s:2", fixture->config);
        Overlay *overlay;

        (void) data;
        put(fixture->law, LAW);
        put(fixture->config, CONFIG);
        overlay = overlay_table_find(fixture->table, open_session(fixture));
        settle(fixture, overlay);
        g_assert_null(overlay_get_error(overlay));
        overlay_fill(overlay, &input);
        g_assert_nonnull(input.law);
        g_assert_true(input.project_posture.set);
        g_assert_cmpint(input.project_posture.posture, ==, POSTURE_NEVER);
        g_assert_cmpstr(input.project_posture.at, ==, at);
        text = report(overlay);
        g_assert_nonnull(strstr(text, fixture->law));
        g_assert_nonnull(strstr(text, "deploy"));
}

static void make_broken(const Fixture *fixture, unsigned how) {
        g_autofree char *large = NULL;

        switch (how) {
        case 0:
                put(fixture->law, "[[protect\n");
                return;
        case 1:
                put(fixture->law, "[[protect]]\npath = \"x\"\noutcome = \"allow\"\n");
                return;
        case 2:
                put(fixture->config, "[policy]\nposture = \"loose\"\n");
                return;
        case 3:
                g_assert_cmpint(symlink("/etc/hostname", fixture->law), ==, 0);
                return;
        case 4:
                g_assert_cmpint(mkfifo(fixture->law, 0600), ==, 0);
                return;
        case 5:
                large = g_strnfill(OVERLAY_FILE_BYTES_MAX + 1, '#');
                put(fixture->config, large);
                return;
        default:
                g_assert_true(g_file_set_contents(fixture->law, "# \xff\n", -1, NULL));
                return;
        }
}

static const struct {
        const char *name, *words;
} broken[] = {
        { "grammar", "law.toml:1:10: this is not TOML" },
        { "loosens", "law.toml:3:11: protect 1: \"outcome\"" },
        { "posture", "config.toml:2:11: " },
        { "link", "it is a link" },
        { "pipe", "it is no regular file" },
        { "large", "it is too large" },
        { "no-utf8", "it is no UTF-8" },
};

/* A protection that can't be read is not one that is not there. */
static void test_broken(Fixture *fixture, const void *data) {
        unsigned how = GPOINTER_TO_UINT(data);
        DecisionInput input = {};
        Overlay *overlay;

        make_broken(fixture, how);
        overlay = overlay_table_find(fixture->table, open_session(fixture));
        settle(fixture, overlay);
        g_test_message("%s", overlay_get_error(overlay));
        g_assert_nonnull(strstr(overlay_get_error(overlay), broken[how].words));
        g_assert_cmpstr(overlay_table_get_error(fixture->table), ==, overlay_get_error(overlay));
        overlay_fill(overlay, &input);
        g_assert_nonnull(input.law);

        (void) g_remove(fixture->law);
        (void) g_remove(fixture->config);
        overlay_table_reload(fixture->table);
        settle(fixture, overlay);
        g_assert_null(overlay_table_get_error(fixture->table));
}

/* A change counts without anybody asking for a reload. */
static void test_change_is_seen(Fixture *fixture, const void *data) {
        Overlay *overlay = overlay_table_find(fixture->table, open_session(fixture));
        DecisionInput input = {};

        (void) data;
        settle(fixture, overlay);
        put(fixture->law, LAW);
        do {
                g_assert_cmpint(sd_event_run(fixture->event, UINT64_MAX), >=, 0);
                settle(fixture, overlay);
                overlay_fill(overlay, &input);
        } while (!input.law);
        g_assert_cmpuint(fixture->changes, >=, 1);
}

static void test_sessions_share_one(Fixture *fixture, const void *data) {
        Session *one = open_session(fixture), *two = open_session(fixture);
        bool ready = false;
        OverlayWait *wait;

        (void) data;
        g_assert_true(overlay_table_find(fixture->table, one) == overlay_table_find(fixture->table, two));
        overlay_table_close(fixture->table, one);
        g_assert_null(overlay_table_find(fixture->table, one));
        g_assert_nonnull(overlay_table_find(fixture->table, two));
        /* Who waits for one that goes is told, or stops waiting; neither touches what is gone. */
        overlay_wait(overlay_table_find(fixture->table, two), on_ready, &ready, &wait);
        g_assert_nonnull(wait);
        (void) overlay_wait_free(wait);
        overlay_table_close(fixture->table, two);
        g_assert_null(overlay_table_find(fixture->table, two));
        g_assert_null(overlay_table_get_error(fixture->table));
        g_assert_false(ready);
}

#define ADD(path, function, how) g_test_add(path, Fixture, GUINT_TO_POINTER(how), fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/overlay/nothing", test_nothing, 0);
        ADD("/overlay/both-files", test_both_files, 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(broken); i++) {
                g_autofree char *path = g_strdup_printf("/overlay/broken/%s", broken[i].name);

                ADD(path, test_broken, i);
        }
        ADD("/overlay/change-is-seen", test_change_is_seen, 0);
        ADD("/overlay/sessions-share-one", test_sessions_share_one, 0);
        return g_test_run();
}
