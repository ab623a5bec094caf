/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "prompt/interpolation.h"
#include "prompt/registry-internal.h"

#define VALUE_BYTES_MAX  PROMPT_TEXT_BYTES_MAX
#define HEADER_BYTES_MAX 512
#define NOTES_BYTES_MAX  KIB(4) /* kept free in the block for what the notes at its end say */
#define NAMED_MAX        16u    /* withdrawn or omitted sections that a note names; the others are counted */

#define INTRODUCTION                                                                                        \
        "Instructions from extensions. This block is complete and replaces every earlier one. Each "        \
        "section was written by "                                                                           \
        "the extension that its header names; the header gives the size of the text, so text can't "        \
        "pretend to be a header.\n"
#define WITHDRAWAL                                                                                          \
        "Instructions from extensions: none. All earlier ones are withdrawn and no longer apply.\n"

PromptSnapshot *prompt_snapshot_free(PromptSnapshot *snapshot) {
        if (!snapshot)
                return NULL;

        if (snapshot->names)
                g_ptr_array_unref(snapshot->names);
        g_free(snapshot->text);
        g_free(snapshot);
        return NULL;
}

typedef struct Renderer {
        const SnapshotRequest *request;
        char *model; /* one line each: a value must not open a section of its own */
        char *cwd;
        GString *out;
        PromptSnapshot *snapshot;
        GString *omitted; /* names, for the note */
} Renderer;

static char *section_name(const Section *section) {
        return g_strjoin(" ", section->owner, section->entry, section->id, NULL);
}

static void append_name(GString *list, size_t count, const char *name) {
        if (count <= NAMED_MAX)
                g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", name);
        else if (count == NAMED_MAX + 1)
                g_string_append(list, ", and more");
}

static void append_header(GString *out, const Section *section, size_t size) {
        g_autofree char *line = g_strdup_printf("plugin %s, generation %" G_GUINT64_FORMAT
                                                ", content %s, entry %s",
                        section->plugin, section->generation, section->content_hash, section->entry);
        g_autofree char *clean = sanitize_line(line, HEADER_BYTES_MAX, NULL);

        g_string_append_printf(out, "\n== section %s: %s, %zu bytes ==\n", section->id, clean, size);
}

/* Appends one section, or leaves the block as it was. */
static int append_section(Renderer *renderer, const Section *section) {
        g_autoptr(GString) expanded = NULL;
        const char *text = section->text;
        size_t size = section->text_size, before = renderer->out->len;
        int r;

        if (section->interpolate) {
                expanded = g_string_sized_new(size + 64);
                r = interpolation_expand(section->text, renderer->model, renderer->cwd,
                                PROMPT_TEXT_BYTES_MAX, expanded);
                if (r < 0)
                        return r;
                text = expanded->str;
                size = expanded->len;
        }

        append_header(renderer->out, section, size);
        g_string_append_len(renderer->out, text, (gssize) size);
        g_string_append_c(renderer->out, '\n');
        if (renderer->out->len > PROMPT_BLOCK_BYTES_MAX - NOTES_BYTES_MAX) {
                g_string_truncate(renderer->out, before);
                return -E2BIG;
        }
        return 0;
}

static void render_sections(Renderer *renderer, const SectionRegistry *registry) {
        const SnapshotRequest *request = renderer->request;
        PromptSnapshot *snapshot = renderer->snapshot;

        for (guint i = 0; i < registry->sections->len; i++) {
                const Section *section = registry->sections->pdata[i];

                if (!section->admitted || (request->select && !request->select(section, request->userdata)))
                        continue;
                if (append_section(renderer, section) < 0) {
                        snapshot->omitted++;
                        append_name(renderer->omitted, snapshot->omitted, section->id);
                        continue;
                }
                snapshot->sections++;
                g_ptr_array_add(snapshot->names, section_name(section));
        }
}

/* What the previous snapshot showed and this one does not. */
static char *withdrawn_names(const Renderer *renderer) {
        const PromptSnapshot *previous = renderer->request->previous;
        g_autoptr(GHashTable) now = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GString) list = g_string_new(NULL);

        for (guint i = 0; i < renderer->snapshot->names->len; i++)
                g_hash_table_add(now, renderer->snapshot->names->pdata[i]);
        for (guint i = 0; previous && i < previous->names->len; i++) {
                const char *name = previous->names->pdata[i];

                if (g_hash_table_contains(now, name))
                        continue;
                renderer->snapshot->withdrawn++;
                append_name(list, renderer->snapshot->withdrawn, strrchr(name, ' ') + 1);
        }
        return g_string_free(g_steal_pointer(&list), FALSE);
}

static void render_notes(Renderer *renderer) {
        g_autofree char *withdrawn = withdrawn_names(renderer);

        if (renderer->snapshot->omitted > 0)
                g_string_append_printf(renderer->out,
                                "\n== left out because they are too long here: %s ==\n",
                                renderer->omitted->str);
        if (renderer->snapshot->withdrawn > 0)
                g_string_append_printf(
                                renderer->out, "\n== withdrawn since the last block: %s ==\n", withdrawn);
}

PromptSnapshot *prompt_snapshot_take(const SectionRegistry *registry, const SnapshotRequest *request) {
        PromptSnapshot *snapshot = g_new0(PromptSnapshot, 1);
        Renderer renderer = {
                .request = request,
                .model = sanitize_line(request->model ? request->model : "", VALUE_BYTES_MAX, NULL),
                .cwd = sanitize_line(request->cwd ? request->cwd : "", VALUE_BYTES_MAX, NULL),
                .out = g_string_sized_new(KIB(8)),
                .snapshot = snapshot,
                .omitted = g_string_new(NULL),
        };

        snapshot->revision = registry->revision;
        snapshot->names = g_ptr_array_new_with_free_func(g_free);
        g_string_append(renderer.out, INTRODUCTION);
        render_sections(&renderer, registry);
        if (snapshot->sections == 0 && snapshot->omitted == 0)
                g_string_assign(renderer.out,
                                request->previous && request->previous->text_size > 0 ? WITHDRAWAL : "");
        render_notes(&renderer);

        g_free(renderer.model);
        g_free(renderer.cwd);
        (void) g_string_free(renderer.omitted, TRUE);
        snapshot->text_size = renderer.out->len;
        snapshot->text = g_string_free(renderer.out, FALSE);
        return snapshot;
}
