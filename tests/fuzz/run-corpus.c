/* SPDX-License-Identifier: MIT */

/* Shows every file of the given folders to a fuzz target, whole and cut at every power of two. */

#include <glib.h>
#include <stdio.h>

#include "fuzz.h"

static void show(const char *path) {
        g_autofree char *text = NULL;
        gsize size;

        if (!g_file_get_contents(path, &text, &size, NULL))
                g_error("%s: cannot be read", path);
        for (gsize cut = 1; cut < size; cut *= 2) {
                /* Of exactly this size, so that a read beyond the end shows. */
                g_autofree uint8_t *part = g_memdup2(text, cut);

                (void) LLVMFuzzerTestOneInput(part, cut);
        }
        (void) LLVMFuzzerTestOneInput((const uint8_t *) text, size);
}

int main(int argc, char *argv[]) {
        size_t n = 0;

        for (int i = 1; i < argc; i++) {
                g_autoptr(GDir) dir = g_dir_open(argv[i], 0, NULL);
                const char *name;

                while (dir && (name = g_dir_read_name(dir))) {
                        g_autofree char *path = g_build_filename(argv[i], name, NULL);

                        show(path);
                        n++;
                }
        }
        printf("%zu files\n", n);
        return n > 0 ? 0 : 1;
}
