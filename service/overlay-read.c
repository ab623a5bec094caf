/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/overlay-read.h"

typedef enum OverlayFile {
        OVERLAY_LAW,
        OVERLAY_CONFIG,
        _OVERLAY_FILE_MAX,
} OverlayFile;

static const char *const overlay_files[_OVERLAY_FILE_MAX] = {
        [OVERLAY_LAW] = ".codewhale/law.toml",
        [OVERLAY_CONFIG] = ".codewhale/config.toml",
};

OverlayContent *overlay_content_free(OverlayContent *content) {
        if (!content)
                return NULL;

        repository_law_free(content->law);
        project_wish_done(&content->wish);
        g_clear_pointer(&content->files, g_ptr_array_unref);
        g_free(content->error);
        g_free(content);
        return NULL;
}

static void file_free(void *file) {
        policy_file_free(file);
}

static OverlayContent *content_new(void) {
        OverlayContent *content = g_new0(OverlayContent, 1);

        content->files = g_ptr_array_new_with_free_func(file_free);
        return content;
}

static void set_unreadable(OverlayContent *content, const char *why) {
        g_autofree char *words = g_strdup_printf("the workspace's protections can't be read: %s", why);

        if (!content->law)
                content->law = repository_law_new();
        repository_law_set_unreadable(content->law, words);
        if (!content->error)
                content->error = g_strdup(why);
}

OverlayContent *overlay_content_unreadable(const char *why) {
        OverlayContent *content = content_new();

        set_unreadable(content, why);
        return content;
}

/* ---- in the worker ---- */

/* A file may be anything that its project made of it: a link, a pipe, a device. Only a regular one is read. */
static int read_one(int folder, const char *path, char **ret_text, size_t *ret_size) {
        _cleanup_close_ int fd = safe_open_at(folder, path, O_RDONLY | O_NONBLOCK, 0);

        return fd < 0 ? fd : safe_read_fd(fd, OVERLAY_FILE_BYTES_MAX, ret_text, ret_size);
}

static int run(void *data, GString *ret_text, sd_bus_error *reterr) {
        const int *folder = data;
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;
        size_t json_size;

        (void) reterr;
        jwriter_init(&writer);
        jwriter_begin_array(&writer);
        for (size_t i = 0; i < _OVERLAY_FILE_MAX; i++) {
                g_autofree char *text = NULL;
                size_t size = 0;
                int r = read_one(*folder, overlay_files[i], &text, &size);

                if (r >= 0 && !g_utf8_validate_len(text, size, NULL))
                        r = -EILSEQ;
                jwriter_begin_object(&writer);
                jwriter_member_int(&writer, "error", r < 0 ? -r : 0);
                if (r >= 0) {
                        jwriter_key(&writer, "text");
                        jwriter_string_n(&writer, text, size);
                }
                jwriter_end_object(&writer);
        }
        jwriter_end_array(&writer);
        json = jwriter_steal(&writer, &json_size);
        g_string_append_len(ret_text, json, (gssize) json_size);
        return 0;
}

int overlay_read_start(sd_event *event, int folder, WorkerDone done, void *userdata, Worker **ret) {
        return worker_start_keeping(event, run, &folder, folder, done, userdata, ret);
}

/* ---- in the daemon ---- */

static const char *words_of_error(int error) {
        switch (error) {
        case ELOOP:
                return "it is a link, and links are not followed here";
        case EBADFD:
                return "it is no regular file";
        case EFBIG:
                return "it is too large";
        case EILSEQ:
                return "it is no UTF-8";
        default:
                return g_strerror(error);
        }
}

static int take_text(OverlayContent *content, OverlayFile which, PolicyFile *file, const char *text, size_t size) {
        int r = policy_file_parse(file, text, size);

        if (r < 0)
                return r;
        if (which == OVERLAY_CONFIG)
                return project_wish_load(policy_file_root(file), &content->wish, &file->document);
        content->law = repository_law_new();
        return repository_law_load(content->law, policy_file_root(file), &file->document);
}

static void take_file(OverlayContent *content, OverlayFile which, const char *folder, Jval found) {
        g_autofree char *path = g_build_filename(folder, overlay_files[which], NULL), *why = NULL;
        PolicyFile *file;
        uint64_t error = EIO;
        const char *text;
        size_t size;

        (void) jval_uint64(jval_member(found, "error"), &error);
        text = jval_string(jval_member(found, "text"), &size);
        if (error == ENOENT || error == ENOTDIR)
                return;

        file = policy_file_new(path);
        g_ptr_array_add(content->files, file);
        if (!text) {
                why = g_strdup_printf("it can't be read: %s.", words_of_error((int) error));
                (void) policy_document_add(&file->document, 0, 0, why);
        } else
                (void) take_text(content, which, file, text, size);
        policy_file_forget(file);
}

OverlayContent *overlay_content_new(const char *path, bool law_only, const char *text, size_t size) {
        OverlayContent *content = content_new();
        g_autoptr(Jdoc) doc = NULL;

        if (jdoc_parse(text, size, NULL, &doc, NULL) < 0) {
                set_unreadable(content, "the process that read them gave no answer");
                return content;
        }
        for (size_t i = 0; i < _OVERLAY_FILE_MAX; i++)
                if (i != OVERLAY_CONFIG || !law_only)
                        take_file(content, (OverlayFile) i, path, jval_element(jdoc_root(doc), i));

        for (size_t i = 0; i < content->files->len; i++) {
                PolicyFile *file = g_ptr_array_index(content->files, i);
                g_autofree char *words = policy_document_words(&file->document);

                if (words)
                        set_unreadable(content, words);
        }
        return content;
}
