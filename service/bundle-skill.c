/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "common/safe-file.h"
#include "service/bundle-skill.h"
#include "service/inventory.h"

#define FENCE "---"

/* The end of the line that begins at @at */
static const char *end_of_line(const char *at) {
        const char *end = strchr(at, '\n');

        return end ? end : at + strlen(at);
}

static bool is_fence(const char *line) {
        size_t length = (size_t) (end_of_line(line) - line);

        if (length > 0 && line[length - 1] == '\r')
                length--;
        return length == strlen(FENCE) && strncmp(line, FENCE, length) == 0;
}

/* What is wrong with the text, or NULL. Front matter is between the first line and the next one of three dashes. */
static const char *check_text(const char *text, size_t size) {
        bool name = false, description = false;

        if (strlen(text) != size || !g_utf8_validate(text, (gssize) size, NULL))
                return "It is not UTF-8 text.";
        if (!is_fence(text))
                return "It does not begin with front matter (a line of three dashes).";

        for (const char *line = end_of_line(text); *line != '\0'; line = end_of_line(line)) {
                line++;
                if (is_fence(line))
                        return !name ? "Its front matter has no name." : !description ? "Its front matter has no description." : NULL;
                name |= g_str_has_prefix(line, "name:");
                description |= g_str_has_prefix(line, "description:");
        }
        return "Its front matter does not end.";
}

static void check_file(const BundleNode *node, int root, Diagnostics *diagnostics) {
        g_autofree char *text = NULL;
        const char *problem;
        size_t size = 0;

        if (safe_read_at(root, node->path, SKILL_FILE_BYTES_MAX, &text, &size) < 0)
                problem = "It can't be read, or is larger than 1 MiB.";
        else
                problem = check_text(text, size);
        if (problem)
                diagnostics_add(diagnostics, DIAGNOSTIC_SKILL_INVALID, node->path, "%s", problem);
}

void bundle_skill_check(const Manifest *manifest, const BundleTree *tree, int root, Diagnostics *diagnostics) {
        size_t looked_at = 0;

        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                if (node->directory || !inventory_is_skill(manifest, node->path))
                        continue;
                if (looked_at++ >= SKILL_CANDIDATES_MAX)
                        return;
                check_file(node, root, diagnostics);
        }
}
