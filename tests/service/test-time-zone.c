/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "service/time-zone.h"

static const struct {
        const char *name, *target, *zone;
} links[] = {
        { "absolute", "/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin" },
        { "relative", "../usr/share/zoneinfo/Etc/GMT+3", "Etc/GMT+3" },
        { "three-parts", "/usr/share/zoneinfo/America/Argentina/Ushuaia", "America/Argentina/Ushuaia" },
        { "elsewhere", "/srv/my-own-zone", NULL },
        { "no-name", "/usr/share/zoneinfo/", NULL },
        { "way-up", "/usr/share/zoneinfo/../../etc/shadow", NULL },
        { "colon", "/usr/share/zoneinfo/:Europe/Berlin", NULL },
        { "blank", "/usr/share/zoneinfo/Europe/Berlin X=1", NULL },
};

static void test_link(const void *data) {
        size_t i = GPOINTER_TO_SIZE(data);
        g_autofree char *folder = g_dir_make_tmp("time-zone-XXXXXX", NULL), *path = NULL, *zone = NULL;

        path = g_build_filename(folder, "localtime", NULL);
        g_assert_cmpint(symlink(links[i].target, path), ==, 0);
        zone = time_zone_name(path);
        g_assert_cmpstr(zone, ==, links[i].zone);
        g_assert_cmpint(g_unlink(path), ==, 0);
        g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void test_no_link(void) {
        g_autofree char *folder = g_dir_make_tmp("time-zone-XXXXXX", NULL), *path = NULL, *missing = NULL, *file = NULL;

        path = g_build_filename(folder, "localtime", NULL);
        missing = time_zone_name(path);
        g_assert_cmpstr(missing, ==, "UTC");

        g_assert_true(g_file_set_contents(path, "TZif2", -1, NULL));
        file = time_zone_name(path);
        g_assert_null(file);
        g_assert_cmpint(g_unlink(path), ==, 0);
        g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
                g_autofree char *name = g_strconcat("/time-zone/link/", links[i].name, NULL);

                g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_link);
        }
        g_test_add_func("/time-zone/no-link", test_no_link);
        return g_test_run();
}
