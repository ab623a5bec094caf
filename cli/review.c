/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/bundle-job.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/review-changes.h"
#include "cli/review.h"
#include "cli/table.h"
#include "cli/view.h"
#include "common/cleanup.h"

/* The parts of the document in the order in which a person should meet them: last what decides, so that it
 * stands above the prompt. What has a function of its own is shown by it; all else, parts of later versions
 * too, as labels and values. */
typedef void (*PartAppend)(const Cli *cli, GString *page, Jval part);

static void append_plain(const Cli *cli, GString *page, Jval part) {
        view_append(cli, page, part, 2, NULL);
}

static void append_state(const Cli *cli, GString *page, Jval part) {
        static const char *const elsewhere[] = { "name", "display_name", "version", "description", "root",
                "manifest", "inventory", "diagnostics", "content_hash", "capability_hash", NULL };

        view_append(cli, page, part, 2, elsewhere);
}

static void append_capabilities(const Cli *cli, GString *page, Jval part) {
        JIter iter = jval_iterate(part);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *name = view_scalar(jval_member(item, "name"));
                g_autofree char *words = view_scalar(jval_member(item, "words"));
                bool active = true;

                (void) jval_boolean(jval_member(item, "active"), &active);
                g_string_append_printf(page, "  - %s%s%s: %s%s\n", style_on(cli, STYLE_BOLD), name,
                                style_on(cli, STYLE_PLAIN), words, active ? "" : " (not active here)");
        }
}

static void append_file_rows(Jval list, Table *table) {
        JIter iter = jval_iterate(list);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *sha256 = view_scalar(jval_member(item, "sha256"));
                g_autofree char *size = view_scalar(jval_member(item, "size"));
                g_autofree char *path = view_scalar(jval_member(item, "path"));
                bool executable = false;

                (void) jval_boolean(jval_member(item, "executable"), &executable);
                table_add(table, (const char *[]){ sha256, size, executable ? "x" : "", path });
        }
}

/* The digest in full: it is what a person may compare with what an author published. */
static void append_file_table(const Cli *cli, GString *page, Jval list) {
        static const char *const headings[] = { "SHA-256", "BYTES", "RUN", "FILE", NULL };
        g_autoptr(Table) table = table_new(headings);

        append_file_rows(list, table);
        if (table_rows(table) > 0)
                table_render(table, cli, 0, page);
}

static void append_files(const Cli *cli, GString *page, Jval part) {
        static const char *const elsewhere[] = { "list", NULL };

        view_append(cli, page, part, 2, elsewhere);
        append_file_table(cli, page, jval_member(part, "list"));
}

static const struct {
        const char *key, *heading;
        PartAppend append;
} parts[] = {
        { "identity", "What it says about itself", append_plain },
        { "source", "Where it is", append_plain },
        { "plugin", "State", append_state },
        { "inventory", "What is in it", append_plain },
        { "files", "Files", append_files },
        { "when", "When it applies", append_plain },
        { "mcp_servers", "MCP servers", append_plain },
        { "entries", "Code that will run", append_file_table },
        { "inactive", "What will not work here", append_plain },
        { "changes", "What changed since it was last reviewed", review_changes_append },
        { "capabilities", "What it asks for", append_capabilities },
        { "diagnostics", "Problems", append_plain },
};

static bool is_part(const char *key) {
        static const char *const at_the_end[] = { "content_hash", "capability_hash", "token", "refused",
                NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                if (g_strcmp0(parts[i].key, key) == 0)
                        return true;

        return key && g_strv_contains(at_the_end, key);
}

/* What this version does not know is shown too: a review that leaves something out is none. */
static void append_others(const Cli *cli, GString *page, Jval review) {
        JIter iter = jval_iterate(review);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *label = NULL;

                if (is_part(jval_text(key)))
                        continue;
                label = view_label(jval_string(key, NULL));
                view_heading(cli, page, label);
                view_append(cli, page, item, 2, NULL);
        }
}

/* The command to trust it, in one line that can be copied. A token is hex digits and a dot; anything else is
 * no token. */
static void append_command(const Cli *cli, GString *page, Jval review, const char *plugin) {
        const char *token = jval_text(jval_member(review, "token"));
        g_autofree char *word = failure_quote(plugin), *why = view_scalar(jval_member(review, "refused"));
        const char *bus = cli_has(cli, OPTION_SYSTEM) ? "--system " : "";

        g_string_append_c(page, '\n');
        if (!token || !*token || strspn(token, "0123456789abcdef.") != strlen(token)) {
                g_string_append_printf(page, "%sIt cannot be trusted as it is:%s %s\n",
                                style_on(cli, STYLE_WARNING), style_on(cli, STYLE_PLAIN), why);
                return;
        }

        style_append(cli, page, STYLE_BOLD, "To trust exactly this, run:");
        g_string_append_printf(page, "\n  codewhalectl %strust %s %s\n", bus, word, token);
        g_string_append(page, "Trusting runs nothing yet; enabling does.\n");
}

/* How to install what was shown and nothing else. */
static void append_install_command(const Cli *cli, GString *page, Jval review, const char *source) {
        const char *hash = jval_text(jval_member(review, "content_hash"));
        g_autofree char *word = failure_quote(source), *why = view_scalar(jval_member(review, "refused"));
        const char *bus = cli_has(cli, OPTION_SYSTEM) ? "--system " : "";

        g_string_append_c(page, '\n');
        if (!hash || jval_text(jval_member(review, "refused")) || strspn(hash, "0123456789abcdef") != strlen(hash)) {
                g_string_append_printf(page, "%sIt cannot be installed as it is:%s %s\n",
                                style_on(cli, STYLE_WARNING), style_on(cli, STYLE_PLAIN), why);
                return;
        }

        style_append(cli, page, STYLE_BOLD, "To install exactly this, run:");
        g_string_append_printf(page, "\n  codewhalectl %sinstall --expect=%s %s\n", bus, hash, word);
        g_string_append(page, "Installing trusts nothing and runs nothing.\n");
}

static void append_parts(const Cli *cli, GString *page, Jval review, const char *title) {
        style_append(cli, page, STYLE_BOLD, title);
        g_string_append_c(page, '\n');
        append_others(cli, page, review);
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
                Jval part = jval_member(review, parts[i].key);

                if (jval_length(part) == 0)
                        continue;
                view_heading(cli, page, parts[i].heading);
                parts[i].append(cli, page, part);
        }
}

char *review_page(const Cli *cli, Jval review, const char *plugin) {
        g_autofree char *title = g_strdup_printf("Review of %s", plugin);
        g_autoptr(GString) page = g_string_new(NULL);

        append_parts(cli, page, review, title);
        append_command(cli, page, review, plugin);
        return g_string_free(g_steal_pointer(&page), FALSE);
}

char *review_preview_page(const Cli *cli, Jval review, const char *source) {
        g_autofree char *title = g_strdup_printf("Preview of %s", source);
        g_autoptr(GString) page = g_string_new(NULL);

        append_parts(cli, page, review, title);
        append_install_command(cli, page, review, source);
        return g_string_free(g_steal_pointer(&page), FALSE);
}

int review_print(Cli *cli, const char *plugin) {
        const CallOption options[] = { { "diff", 'b', .number = cli_has(cli, OPTION_DIFF) }, {} };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *page = NULL, *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        int r;

        r = bundle_job_run(cli, "Review", plugin, options, &json, &error);
        if (r < 0)
                return failure_report(cli, r, &error, plugin);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        page = review_page(cli, jdoc_root(doc), plugin);
        return output_page(cli, page);
}
