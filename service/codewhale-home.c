/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "service/codewhale-home.h"

struct CodewhaleHome {
        unsigned n_ref;
        char *paths[_HOME_FOLDER_MAX];
};

static const char *const folder_table[_HOME_FOLDER_MAX] = {
        [HOME_ROOT]      = "",
        [HOME_PLUGINS]   = "plugins",
        [HOME_STAGED]    = "extensions/staged",
        [HOME_DATA]      = "extensions/data",
        [HOME_RECORDS]   = "extensions/records",
        [HOME_DECISIONS] = "extensions/decisions",
        [HOME_SANDBOX]   = "extensions/sandbox",
        [HOME_ETC]       = "extensions/sandbox-etc",
};

static char *find_home(void) {
        const char *set = g_getenv("CODEWHALE_HOME");

        if (set && *set != '\0')
                return g_strdup(set);

        return g_get_home_dir() ? g_build_filename(g_get_home_dir(), ".codewhale", NULL) : NULL;
}

int codewhale_home_new(const char *path, CodewhaleHome **ret, sd_bus_error *reterr) {
        g_autofree char *found = path ? g_strdup(path) : find_home();
        g_autofree char *clean = NULL;
        CodewhaleHome *home;

        if (!found)
                return errors_set(reterr, ERROR_IO, "There is no home directory; set CODEWHALE_HOME."), -ENXIO;
        if (!g_path_is_absolute(found))
                return errors_set(reterr, ERROR_INVALID_OPTION, "CODEWHALE_HOME is no absolute path: %s", found);

        clean = g_canonicalize_filename(found, "/");
        home = g_new0(CodewhaleHome, 1);
        home->n_ref = 1;
        home->paths[HOME_ROOT] = g_strdup(clean);
        for (HomeFolder folder = HOME_ROOT + 1; folder < _HOME_FOLDER_MAX; folder++)
                home->paths[folder] = g_build_filename(clean, folder_table[folder], NULL);

        *ret = home;
        return 0;
}

CodewhaleHome *codewhale_home_ref(CodewhaleHome *home) {
        assert(home && home->n_ref > 0);

        home->n_ref++;
        return home;
}

CodewhaleHome *codewhale_home_unref(CodewhaleHome *home) {
        if (!home)
                return NULL;

        assert(home->n_ref > 0);
        if (--home->n_ref > 0)
                return NULL;

        for (HomeFolder folder = 0; folder < _HOME_FOLDER_MAX; folder++)
                g_free(home->paths[folder]);
        g_free(home);
        return NULL;
}

const char *codewhale_home_get_path(const CodewhaleHome *home, HomeFolder folder) {
        assert(home);
        assert(folder >= 0 && folder < _HOME_FOLDER_MAX);

        return home->paths[folder];
}

/* Whoever may write here could replace what we read, so it must be ours alone. */
static int check_ours(int fd) {
        struct stat status;

        if (fstat(fd, &status) < 0)
                return -errno;

        return status.st_uid != geteuid() || (status.st_mode & 022) != 0 ? -EPERM : 0;
}

static int open_checked(int root, HomeFolder folder, bool make) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = check_ours(root);
        if (r < 0)
                return r;
        if (folder == HOME_ROOT)
                fd = fcntl(root, F_DUPFD_CLOEXEC, 3);
        else if (make)
                fd = safe_make_directory_at(root, folder_table[folder], 0700);
        else
                fd = safe_open_at(root, folder_table[folder], O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
                return folder == HOME_ROOT ? -errno : fd;

        r = check_ours(fd);
        return r < 0 ? r : steal_fd(&fd);
}

int codewhale_home_open(const CodewhaleHome *home, HomeFolder folder) {
        _cleanup_close_ int root = -EBADF;

        assert(folder >= 0 && folder < _HOME_FOLDER_MAX);

        root = safe_open_directory(codewhale_home_get_path(home, HOME_ROOT));
        return root < 0 ? root : open_checked(root, folder, false);
}

int codewhale_home_make(const CodewhaleHome *home, HomeFolder folder) {
        const char *path = codewhale_home_get_path(home, HOME_ROOT);
        _cleanup_close_ int root = -EBADF;

        assert(folder >= 0 && folder < _HOME_FOLDER_MAX);

        if (g_mkdir_with_parents(path, 0700) < 0)
                return -errno;

        root = safe_open_directory(path);
        return root < 0 ? root : open_checked(root, folder, true);
}

const char *codewhale_home_explain(int r) {
        if (r == -EPERM)
                return "it or a folder above it in CODEWHALE_HOME belongs to somebody else, or others may write to it";
        if (r == -ELOOP || r == -ENOTDIR)
                return "it or a folder above it in CODEWHALE_HOME is a link or no folder";
        return g_strerror(-r);
}
