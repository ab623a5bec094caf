/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sanitize.h"
#include "service/line-diff.h"
#include "service/plugin-private.h"
#include "service/review-changes.h"

#define DIFF_FILE_BYTES_MAX  KIB(256)
#define DIFF_BYTES_MAX       KIB(512) /* of all diffs of one review together */

typedef struct Changes {
        JWriter *writer;
        int before_fd, after_fd;
        size_t diff_left; /* bytes; 0: no diffs */
} Changes;

static void write_side(JWriter *writer, const char *key, const BundleNode *node) {
        if (!node || node->directory)
                return;

        jwriter_key(writer, key);
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "size", node->size);
        jwriter_member_string(writer, "sha256", node->sha256);
        jwriter_member_boolean(writer, "executable", node->executable);
        jwriter_end_object(writer);
}

/* The text of one side; "" for a side that is not there; NULL when it is none to compare by lines. */
static char *read_side(int directory, const BundleNode *node) {
        g_autofree char *text = NULL;
        size_t size = 0;

        if (!node)
                return g_strdup("");
        if (directory < 0 || node->directory || safe_read_at(directory, node->path, DIFF_FILE_BYTES_MAX, &text, &size) < 0)
                return NULL;
        return g_utf8_validate(text, (gssize) size, NULL) ? g_steal_pointer(&text) : NULL;
}

static void write_diff(Changes *changes, const BundleNode *before, const BundleNode *after) {
        g_autofree char *old = NULL, *new = NULL, *diff = NULL, *safe = NULL;

        if (changes->diff_left == 0)
                return;
        old = read_side(changes->before_fd, before);
        new = read_side(changes->after_fd, after);
        diff = old && new ? line_diff(old, new) : NULL;
        if (!diff)
                return;

        safe = sanitize_block(diff, changes->diff_left, NULL);
        changes->diff_left -= MIN(changes->diff_left, strlen(safe));
        jwriter_member_string(changes->writer, "diff", safe);
}

static void write_change(Changes *changes, const BundleNode *before, const BundleNode *after) {
        bool same_bytes = before && after && before->directory == after->directory && before->size == after->size &&
                        strcmp(before->sha256, after->sha256) == 0;
        JWriter *writer = changes->writer;

        jwriter_begin_object(writer);
        jwriter_member_string(writer, "path", (after ? after : before)->path);
        jwriter_member_string(writer, "change", !before ? "added" : !after ? "removed" : same_bytes ? "mode" : "modified");
        if ((after ? after : before)->directory)
                jwriter_member_boolean(writer, "directory", true);
        write_side(writer, "before", before);
        write_side(writer, "after", after);
        if (!same_bytes)
                write_diff(changes, before, after);
        jwriter_end_object(writer);
}

static bool is_equal(const BundleNode *a, const BundleNode *b) {
        return a->directory == b->directory && a->executable == b->executable && a->size == b->size &&
                        strcmp(a->sha256, b->sha256) == 0;
}

static void write_files(Changes *changes, const BundleTree *before, const BundleTree *after) {
        jwriter_key(changes->writer, "files");
        jwriter_begin_array(changes->writer);
        for (size_t i = 0; i < after->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(after->nodes, i);
                const BundleNode *old = bundle_tree_find(before, node->path);

                if (!old || !is_equal(old, node))
                        write_change(changes, old, node);
        }
        for (size_t i = 0; i < before->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(before->nodes, i);

                if (!node->ours && !bundle_tree_find(after, node->path))
                        write_change(changes, node, NULL);
        }
        jwriter_end_array(changes->writer);
}

/* What is in @names but not in @others */
static void write_missing(JWriter *writer, const char *key, char **names, char **others) {
        jwriter_key(writer, key);
        jwriter_begin_array(writer);
        for (size_t i = 0; names[i]; i++)
                if (!g_strv_contains((const char *const *) others, names[i])) {
                        g_autofree char *safe = sanitize_line(names[i], 64, NULL);

                        jwriter_string(writer, safe);
                }
        jwriter_end_array(writer);
}

static void compare_files(JWriter *writer, const ReviewSubject *subject, const TrustReceipt *receipt, ReviewFlags flags) {
        g_autoptr(StagedCopy) copy = NULL;
        Changes changes = {
                .writer = writer,
                .after_fd = subject->root_fd,
                .diff_left = flags & REVIEW_DIFF_LINES ? DIFF_BYTES_MAX : 0,
        };
        int r = staged_copy_load(subject->home, subject->plugin->id, receipt, NULL, &copy);

        if (r < 0) {
                jwriter_member_string(writer, "files_unknown",
                                r == -ENOENT ? "The sealed copy of what was reviewed is not there any more."
                                             : "The sealed copy of what was reviewed was altered.");
                return;
        }
        changes.before_fd = staged_copy_get_fd(copy);
        write_files(&changes, staged_copy_get_tree(copy), subject->bundle->tree);
}

void review_changes_write(JWriter *writer, const ReviewSubject *subject, ReviewFlags flags) {
        const GPtrArray *history = subject->plugin ? subject->plugin->record->history : NULL;
        const TrustReceipt *receipt =
                        history && history->len > 0 ? g_ptr_array_index(history, history->len - 1) : NULL;
        g_auto(GStrv) names = NULL;
        bool same;

        if (!receipt || !subject->bundle->tree) {
                jwriter_null(writer);
                return;
        }

        names = inventory_names(&subject->bundle->inventory);
        same = strcmp(receipt->content_hash, subject->bundle->content_hash) == 0;
        jwriter_begin_object(writer);
        jwriter_member_int(writer, "reviewed_at", receipt->reviewed_at);
        jwriter_member_string(writer, "confirmed_by", receipt->confirmed_by);
        jwriter_member_boolean(writer, "same", same && strcmp(receipt->capability_hash, subject->bundle->capability_hash) == 0);
        write_missing(writer, "capabilities_added", names, receipt->capabilities);
        write_missing(writer, "capabilities_removed", receipt->capabilities, names);
        if (same) {
                jwriter_key(writer, "files");
                jwriter_begin_array(writer);
                jwriter_end_array(writer);
        } else
                compare_files(writer, subject, receipt, flags);
        jwriter_end_object(writer);
}
