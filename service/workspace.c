/* SPDX-License-Identifier: MIT */
#include "service/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"

struct Workspace {
        char *path;
        int fd;
        dev_t device;
        ino_t inode;
};

int workspace_open(const char *path, Workspace **ret, sd_bus_error *reterr) {
        _cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct stat status;
        Workspace *workspace;

        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "The workspace can't be held: %s.", g_strerror(errno));
        if (fd < 0 || fstat(fd, &status) < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "The workspace %s can't be opened: %s.", path, g_strerror(errno));

        workspace = g_new0(Workspace, 1);
        workspace->path = g_strdup(path);
        workspace->fd = steal_fd(&fd);
        workspace->device = status.st_dev;
        workspace->inode = status.st_ino;
        *ret = workspace;
        return 0;
}

Workspace *workspace_free(Workspace *workspace) {
        if (!workspace)
                return NULL;

        close_fd(&workspace->fd);
        g_free(workspace->path);
        g_free(workspace);
        return NULL;
}

int workspace_get_fd(const Workspace *workspace) {
        return workspace->fd;
}

int workspace_check(const Workspace *workspace, sd_bus_error *reterr) {
        struct stat status;

        if (stat(workspace->path, &status) < 0)
                return errors_set(reterr, ERROR_REFUSED_BY_POLICY,
                                  "The workspace %s is gone (%s); open a new session for where it is now.", workspace->path,
                                  g_strerror(errno));
        if (status.st_dev != workspace->device || status.st_ino != workspace->inode)
                return errors_set(reterr, ERROR_REFUSED_BY_POLICY,
                                  "%s is another folder than when the session was opened; open a new session for it.",
                                  workspace->path);
        return 0;
}
