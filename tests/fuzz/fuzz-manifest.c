/* SPDX-License-Identifier: MIT */

/* What comes with a bundle, and the state file. The first byte says which reader gets the rest. */

#include <string.h>

#include "common/limits.h"
#include "fuzz.h"
#include "service/manifest.h"
#include "service/mcp-adapt.h"
#include "service/mcp-manifest.h"
#include "service/text-rule.h"
#include "storage/trust-format.h"

static void check_diagnostics(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *item = diagnostics_get(diagnostics, i);

                MUST(g_utf8_validate(item->message, -1, NULL));
                MUST(strlen(item->message) <= DIAGNOSTIC_BYTES_MAX);
                MUST(!strpbrk(item->message, "\n\r\x1b"));
        }
}

static void check_servers(const McpManifest *mcp) {
        MUST(mcp->servers->len <= MCP_SERVERS_MAX);
        for (size_t i = 0; i < mcp->servers->len; i++) {
                const McpServer *server = g_ptr_array_index(mcp->servers, i);
                g_autofree char *line = mcp_server_display(server);

                MUST((server->transport == MCP_STDIO) == (server->command != NULL));
                MUST((server->transport == MCP_STDIO) == (server->host == NULL));
                MUST(!server->contained || !text_rule_check_path(server->command));
                MUST(g_utf8_validate(line, -1, NULL));
        }
}

static void read_manifest(ManifestFormat format, const char *text, size_t size) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(Manifest) manifest = NULL;
        int r = manifest_parse(format, text, size, diagnostics, &manifest);

        check_diagnostics(diagnostics);
        MUST((r < 0) == diagnostics_has_error(diagnostics));
        if (r < 0)
                return;

        MUST(!text_rule_check_name(manifest->name, format == MANIFEST_TOML));
        for (ComponentKind kind = 0; kind < _COMPONENT_KIND_MAX; kind++) {
                char **paths = manifest->components[kind];

                MUST(!paths || g_strv_length(paths) <= COMPONENT_PATHS_MAX);
                for (size_t i = 0; paths && paths[i]; i++)
                        MUST(!text_rule_check_path(paths[i]));
        }
        if (manifest->mcp)
                check_servers(manifest->mcp);
}

typedef int (*ParseServers)(ManifestReader *reader, const char *text, size_t size, McpManifest **ret);

static void read_servers(ParseServers parse, const char *text, size_t size) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(McpManifest) mcp = NULL;
        ManifestReader reader = { .diagnostics = diagnostics, .code = DIAGNOSTIC_MCP_INVALID, .file = "mcp.json" };

        if (parse(&reader, text, size, &mcp) >= 0)
                check_servers(mcp);
        check_diagnostics(diagnostics);
}

/* What was read is written, and what was written is read as the same. */
static void read_state(const char *text, size_t size) {
        g_autoptr(GHashTable) records = NULL, again = NULL;
        g_autofree char *reason = NULL, *written = NULL, *rewritten = NULL;
        size_t written_size = 0, rewritten_size = 0;

        if (trust_format_read(text, size, &records, &reason) < 0) {
                MUST(reason);
                return;
        }
        written = trust_format_write(records, &written_size);
        MUST(trust_format_read(written, written_size, &again, &reason) == 0);
        rewritten = trust_format_write(again, &rewritten_size);
        MUST(strcmp(written, rewritten) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *text = (const char *) data + 1;

        if (size < 1)
                return 0;
        size--;
        switch (data[0]) {
        case '0' ... '3':
                read_manifest((ManifestFormat) (data[0] - '0'), text, size);
                break;
        case '4':
                read_servers(mcp_manifest_parse, text, size);
                break;
        case '5':
                read_servers(mcp_adapt_parse, text, size);
                break;
        default:
                read_state(text, size);
        }
        return 0;
}
