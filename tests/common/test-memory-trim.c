/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "common/memory-trim.h"

/* Written by the linker when the program starts, and read-only from then on */
static const char *const words[] = { "alpha", "beta", "gamma" };
static int changed = 1;

static long resident_kib(void) {
        g_autofree char *status = NULL;
        const char *line;

        g_assert_true(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
        line = strstr(status, "VmRSS:");
        g_assert_nonnull(line);
        return strtol(line + strlen("VmRSS:"), NULL, 10);
}

/* Everything is as it was: constants, relocated constants, variables, the heap, the stack, code. */
static void test_nothing_is_lost(void) {
        g_autofree char *kept = g_strnfill(100000, 'k');
        char here[] = "on the stack";

        changed = 42;
        for (int turn = 0; turn < 3; turn++) {
                memory_trim();
                g_assert_cmpstr(words[0], ==, "alpha");
                g_assert_cmpstr(words[2], ==, "gamma");
                g_assert_cmpint(changed, ==, 42);
                g_assert_cmpuint(strspn(kept, "k"), ==, 100000);
                g_assert_cmpstr(here, ==, "on the stack");
                g_assert_cmpint(g_ascii_strtoll("17", NULL, 10), ==, 17);
        }
}

static void test_free_memory_goes_back(void) {
        enum { BLOCKS = 4096, BLOCK_BYTES = 4000 };
        void **blocks = g_new(void *, BLOCKS);
        void *last;
        long full;

        for (size_t i = 0; i < BLOCKS; i++)
                blocks[i] = memset(g_malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
        last = g_malloc(16); /* above them all: the heap can't simply end earlier */
        full = resident_kib();
        for (size_t i = 0; i < BLOCKS; i++)
                g_free(blocks[i]);
        memory_trim();
        /* Sanitizers and valgrind bring an allocator of their own, which tells nothing and keeps everything. */
        if (mallinfo2().arena == 0)
                g_test_skip("the allocator is not that of the C library");
        else
                g_assert_cmpint(resident_kib(), <, full - BLOCKS * BLOCK_BYTES / 1024 / 2);
        g_free(last);
        g_free(blocks);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/memory-trim/nothing-is-lost", test_nothing_is_lost);
        g_test_add_func("/memory-trim/free-memory-goes-back", test_free_memory_goes_back);
        return g_test_run();
}
