/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"

/* A folder of its own for each test: "inside" is what the functions get, "outside" what they must not reach. */
typedef struct Fixture {
        char *root;
        int inside;
        int outside;
} Fixture;

static void set_up(Fixture *fixture, const void *data) {
        _cleanup_close_ int root = -EBADF;

        (void) data;
        fixture->root = g_dir_make_tmp("test-safe-file-XXXXXX", NULL);
        g_assert_nonnull(fixture->root);
        root = safe_open_directory(fixture->root);
        g_assert_cmpint(root, >=, 0);
        fixture->inside = safe_make_directory_at(root, "inside", 0700);
        fixture->outside = safe_make_directory_at(root, "outside", 0700);
        g_assert_cmpint(fixture->inside, >=, 0);
        g_assert_cmpint(safe_replace_at(fixture->outside, "secret", "secret", 6, 0600), ==, 0);
}

static void tear_down(Fixture *fixture, const void *data) {
        _cleanup_close_ int parent = safe_open_directory(g_get_tmp_dir());
        g_autofree char *name = g_path_get_basename(fixture->root);

        (void) data;
        close_fd(&fixture->inside);
        close_fd(&fixture->outside);
        g_assert_cmpint(safe_remove_tree_at(parent, name), ==, 0);
        g_assert_false(g_file_test(fixture->root, G_FILE_TEST_EXISTS));
        g_free(fixture->root);
}

static void write_file(int directory, const char *name, const char *text) {
        g_assert_cmpint(safe_replace_at(directory, name, text, strlen(text), 0600), ==, 0);
}

static char *read_file(int directory, const char *path) {
        char *data = NULL;
        size_t size;

        if (safe_read_at(directory, path, 4096, &data, &size) < 0)
                return NULL;
        return data;
}

/* The paths of a stranger, and what opening them says. */
static void test_open(Fixture *fixture, const void *data) {
        static const struct {
                const char *path;
                int expected;
        } cases[] = {
                { "file", 0 },
                { "folder/file", 0 },
                { "./folder//file", 0 },
                { ".", 0 },
                { "..hidden", -ENOENT },
                { "folder/../file", -EXDEV },
                { "..", -EXDEV },
                { "folder/..", -EXDEV },
                { "missing", -ENOENT },
                { "", -ENOENT },
                { "../outside/secret", -EXDEV },
                { "folder/../../outside/secret", -EXDEV },
                { "/etc/passwd", -EXDEV },
                { "link-at-end", -ELOOP },
                { "link-in-middle/secret", -ELOOP },
                { "link-to-file", -ELOOP },
                { "file/below", -ENOTDIR },
        };

        (void) data;
        write_file(fixture->inside, "file", "x");
        close(safe_make_directory_at(fixture->inside, "folder", 0700));
        g_assert_cmpint(mkdirat(fixture->inside, "folder", 0700), ==, -1);
        g_assert_cmpint(linkat(fixture->inside, "file", fixture->inside, "folder/file", 0), ==, 0);
        g_assert_cmpint(symlinkat("../outside/secret", fixture->inside, "link-at-end"), ==, 0);
        g_assert_cmpint(symlinkat("../outside", fixture->inside, "link-in-middle"), ==, 0);
        g_assert_cmpint(symlinkat("file", fixture->inside, "link-to-file"), ==, 0);

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                _cleanup_close_ int fd = safe_open_at(fixture->inside, cases[i].path, O_RDONLY, 0);

                g_test_message("%s", cases[i].path);
                if (cases[i].expected == 0) {
                        g_assert_cmpint(fd, >=, 0);
                        g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
                } else
                        g_assert_cmpint(fd, ==, cases[i].expected);
        }
}

typedef struct Swapper {
        int inside;
        int stop; /* atomic */
} Swapper;

static void *swap_folder_and_link(void *userdata) {
        Swapper *swapper = userdata;

        while (!g_atomic_int_get(&swapper->stop)) {
                (void) renameat2(swapper->inside, "path", swapper->inside, "link", RENAME_EXCHANGE);
                g_thread_yield();
        }
        return NULL;
}

/* A component that is a folder now and a link the next moment: the read gets our file or nothing, never the secret. */
static void test_swapped_component(Fixture *fixture, const void *data) {
        _cleanup_close_ int folder = safe_make_directory_at(fixture->inside, "path", 0700);
        Swapper swapper = { .inside = fixture->inside };
        unsigned own = 0;
        GThread *thread;

        (void) data;
        write_file(folder, "secret", "own");
        g_assert_cmpint(symlinkat("../outside", fixture->inside, "link"), ==, 0);
        thread = g_thread_new("swapper", swap_folder_and_link, &swapper);
        for (int i = 0; i < 3000; i++) {
                g_autofree char *text = read_file(fixture->inside, "path/secret");

                if (text) {
                        g_assert_cmpstr(text, ==, "own");
                        own++;
                }
        }
        g_atomic_int_set(&swapper.stop, 1);
        (void) g_thread_join(thread);
        g_test_message("%u reads succeeded", own);
}

static void test_read(Fixture *fixture, const void *data) {
        static const char bytes[] = "a\0b";
        g_autofree char *text = NULL;
        size_t size = 0;

        (void) data;
        g_assert_cmpint(safe_replace_at(fixture->inside, "bytes", bytes, 3, 0600), ==, 0);
        g_assert_cmpint(safe_read_at(fixture->inside, "bytes", 3, &text, &size), ==, 0);
        g_assert_cmpmem(text, size, bytes, 3);
        g_assert_cmpint(text[size], ==, '\0');

        g_clear_pointer(&text, g_free);
        size = 77;
        g_assert_cmpint(safe_read_at(fixture->inside, "bytes", 2, &text, &size), ==, -EFBIG);
        g_assert_null(text);
        g_assert_cmpuint(size, ==, 77);

        g_assert_cmpint(mkfifoat(fixture->inside, "fifo", 0600), ==, 0);
        g_assert_cmpint(safe_read_at(fixture->inside, "fifo", 10, &text, &size), ==, -EBADFD);
        g_assert_cmpint(safe_read_at(fixture->inside, ".", 10, &text, &size), ==, -EBADFD);
}

static void test_replace(Fixture *fixture, const void *data) {
        mode_t umask_before = umask(0077);
        g_autofree char *text = NULL;
        struct stat status;

        (void) data;
        write_file(fixture->inside, "file", "old");
        g_assert_cmpint(safe_replace_at(fixture->inside, "file", "new!", 4, 0644), ==, 0);
        umask(umask_before);
        text = read_file(fixture->inside, "file");
        g_assert_cmpstr(text, ==, "new!");
        g_assert_cmpint(fstatat(fixture->inside, "file", &status, 0), ==, 0);
        g_assert_cmpint(status.st_mode & 07777, ==, 0644);
}

/* A link of the same name is replaced itself; where it led stays as it was. */
static void test_replace_link(Fixture *fixture, const void *data) {
        g_autofree char *text = NULL, *secret = NULL;

        (void) data;
        g_assert_cmpint(symlinkat("../outside/secret", fixture->inside, "file"), ==, 0);
        write_file(fixture->inside, "file", "ours");
        text = read_file(fixture->inside, "file");
        secret = read_file(fixture->outside, "secret");
        g_assert_cmpstr(text, ==, "ours");
        g_assert_cmpstr(secret, ==, "secret");
}

static unsigned count_entries(int directory, const char *prefix) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", directory);
        g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
        unsigned n = 0;

        for (const char *name; (name = g_dir_read_name(folder));)
                n += g_str_has_prefix(name, prefix) ? 1 : 0;
        return n;
}

static void test_failed_replace_leaves_nothing(Fixture *fixture, const void *data) {
        (void) data;
        close(safe_make_directory_at(fixture->inside, "taken/child", 0700));
        g_assert_cmpint(safe_replace_at(fixture->inside, "taken", "x", 1, 0600), <, 0);
        g_assert_cmpint(safe_replace_at(fixture->inside, "taken/file", "x", 1, 0600), ==, -EINVAL);
        g_assert_cmpint(safe_replace_at(fixture->inside, "../outside/secret", "x", 1, 0600), ==, -EINVAL);
        g_assert_cmpuint(count_entries(fixture->inside, ".pending-"), ==, 0);
}

static void test_sweep(Fixture *fixture, const void *data) {
        (void) data;
        write_file(fixture->inside, ".pending-0123456789abcdef", "half");
        write_file(fixture->inside, "state.json", "{}");
        g_assert_cmpint(safe_sweep_pending(fixture->inside), ==, 0);
        g_assert_cmpuint(count_entries(fixture->inside, ".pending-"), ==, 0);
        g_assert_cmpuint(count_entries(fixture->inside, "state.json"), ==, 1);
}

static void test_make_directory(Fixture *fixture, const void *data) {
        mode_t umask_before = umask(0077);
        _cleanup_close_ int fd = safe_make_directory_at(fixture->inside, "a//b/c", 0750);
        struct stat status;

        (void) data;
        umask(umask_before);
        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(fstat(fd, &status), ==, 0);
        g_assert_cmpint(status.st_mode & 07777, ==, 0750);

        g_assert_cmpint(symlinkat("../outside", fixture->inside, "link"), ==, 0);
        g_assert_cmpint(safe_make_directory_at(fixture->inside, "link/new", 0700), <, 0);
        g_assert_cmpint(safe_make_directory_at(fixture->inside, "../escaped", 0700), ==, -EXDEV);
        write_file(fixture->inside, "file", "x");
        g_assert_cmpint(safe_make_directory_at(fixture->inside, "file", 0700), ==, -ENOTDIR);
}

static void test_unlink(Fixture *fixture, const void *data) {
        (void) data;
        write_file(fixture->inside, "file", "x");
        g_assert_cmpint(safe_unlink_at(fixture->inside, "file"), ==, 0);
        g_assert_cmpint(safe_unlink_at(fixture->inside, "file"), ==, -ENOENT);
}

static void test_remove_tree(Fixture *fixture, const void *data) {
        _cleanup_close_ int deep = safe_make_directory_at(fixture->inside, "tree/sealed/deep", 0700), sealed = -EBADF;
        g_autofree char *secret = NULL;

        (void) data;
        write_file(deep, "file", "x");
        g_assert_cmpint(symlinkat("../../../../outside", deep, "link"), ==, 0);
        g_assert_cmpint(fchmod(deep, 0), ==, 0);
        sealed = safe_open_at(fixture->inside, "tree/sealed", O_RDONLY | O_DIRECTORY, 0);
        g_assert_cmpint(fchmod(sealed, 0500), ==, 0);

        g_assert_cmpint(safe_remove_tree_at(fixture->inside, "tree"), ==, 0);
        g_assert_cmpuint(count_entries(fixture->inside, "tree"), ==, 0);
        secret = read_file(fixture->outside, "secret");
        g_assert_cmpstr(secret, ==, "secret");

        g_assert_cmpint(safe_remove_tree_at(fixture->inside, "tree"), ==, -ENOENT);
        g_assert_cmpint(symlinkat("../outside", fixture->inside, "link"), ==, 0);
        g_assert_cmpint(safe_remove_tree_at(fixture->inside, "link"), ==, 0);
        g_assert_cmpuint(count_entries(fixture->outside, "secret"), ==, 1);
}

/* From here on openat2() is unknown in this process, as in some containers and under old valgrinds. */
static void test_forget_openat2(void) {
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = G_N_ELEMENTS(code), .filter = code };

        g_assert_cmpint(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ==, 0);
        g_assert_cmpint(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), ==, 0);
        g_assert_cmpint(syscall(SYS_openat2, -1, NULL, NULL, 0), ==, -1);
        g_assert_cmpint(errno, ==, ENOSYS);
}

#define ADD(path, function) g_test_add("/safe-file/" path, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        ADD("open", test_open);
        ADD("TR-05-swapped-component", test_swapped_component);
        ADD("read", test_read);
        ADD("replace", test_replace);
        ADD("replace-link", test_replace_link);
        ADD("failed-replace-leaves-nothing", test_failed_replace_leaves_nothing);
        ADD("sweep", test_sweep);
        ADD("make-directory", test_make_directory);
        ADD("unlink", test_unlink);
        ADD("remove-tree", test_remove_tree);

        /* The rest once more without openat2(); the order matters. */
        g_test_add_func("/safe-file/walk/forget-openat2", test_forget_openat2);
        ADD("walk/open", test_open);
        ADD("walk/TR-05-swapped-component", test_swapped_component);
        ADD("walk/make-directory", test_make_directory);
        ADD("walk/replace-link", test_replace_link);
        ADD("walk/remove-tree", test_remove_tree);
        return g_test_run();
}
