/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "sandbox/core-tool/operands.h"

/* A new string: the digest, or "" when there is no regular file of that name. */
static char *digest_of(const Workspace *workspace, const char *path) {
        _cleanup_close_ int fd = safe_open_at(workspace->fd, path, O_RDONLY | O_NONBLOCK, 0);
        g_autoptr(Sha256) hash = sha256_new();
        char buffer[65536];
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return g_strdup("");
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
                sha256_update(hash, buffer, (size_t) n);
        return n < 0 ? g_strdup("") : sha256_finish_hex(hash);
}

bool operands_verify(const Workspace *workspace, Jval operands, Answer *answer) {
        JIter iter = jval_iterate(operands);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                const char *path = jval_text(jval_member(item, "path"));
                g_autofree char *digest = path ? digest_of(workspace, path) : g_strdup("");

                if (jval_equals_text(jval_member(item, "sha256"), digest))
                        continue;
                answer_refuse(answer, "%s is not what it was when a person was asked", path ? path : "a file");
                return false;
        }
        return true;
}
