/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "service/wire-method.h"

/* What a host may send, row by row: the table itself and the shapes. The envelope is rpc.c's, see test-rpc.c. */

#define OWNER "\"owner\":{\"plugin_id\":\"user/0/x\",\"generation\":1,\"owner_token\":\"" HEX "\"}"
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HELLO_HEAD "\"protocol\":{\"min\":1,\"max\":1},\"host_version\":\"1\",\"bundle_sha256\":\"" HEX "\","

typedef struct Row {
        const char *id;
        WireMethodId method;
        const char *params;
        bool accepted;
} Row;

static const Row rows[] = {
        { "W01-hello-bun", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"bun\",\"version\":\"1.4.5\"},\"tier\":\"plugin\",\"builtin_modules\":[]}", true },
        { "W02-hello-node", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[]}", true },
        { "W03-hello-extra-field", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[],\"more\":1}", false },
        { "W04-hello-unknown-runtime", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"deno\",\"version\":\"2.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[]}", false },
        { "W05-hello-legacy-version", WIRE_HELLO, "{" HELLO_HEAD "\"node_version\":\"24.1.0\",\"tier\":\"plugin\",\"builtin_modules\":[]}", false },
        { "W06-hello-without-tier", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"builtin_modules\":[]}", false },
        { "W07-hello-unknown-tier", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"root\",\"builtin_modules\":[]}", false },
        { "W08-hello-without-modules", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\"}", false },
        { "W09-hello-module-without-digest", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[{\"id\":\"mcp\"}]}", false },
        { "W10-hello-module-extra-key", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[{\"id\":\"mcp\",\"sha256\":\"" HEX "\",\"x\":1}]}", false },
        { "W12-hello-memory-limit", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[],\"memory_limit_mib\":1024}", true },
        { "W13-hello-negative-memory-limit", WIRE_HELLO, "{" HELLO_HEAD "\"runtime\":{\"name\":\"node\",\"version\":\"24.1.0\"},\"tier\":\"plugin\",\"builtin_modules\":[],\"memory_limit_mib\":-1}", false },
        { "W14-ready", WIRE_READY, "{}", true },
        { "W16-ready-array-params", WIRE_READY, "[]", false },
        { "W17-register-tool", WIRE_REGISTER, "{" OWNER ",\"kind\":\"tool\",\"spec\":{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}}", true },
        { "W18-register-tool-without-schema", WIRE_REGISTER, "{" OWNER ",\"kind\":\"tool\",\"spec\":{\"name\":\"t\",\"description\":\"d\"}}", false },
        { "W19-register-tool-with-hint", WIRE_REGISTER, "{" OWNER ",\"kind\":\"tool\",\"spec\":{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{},\"argument_hint\":\"h\"}}", false },
        { "W20-register-tool-without-name", WIRE_REGISTER, "{" OWNER ",\"kind\":\"tool\",\"spec\":{\"description\":\"d\",\"input_schema\":{}}}", false },
        { "W21-register-command-with-hint", WIRE_REGISTER, "{" OWNER ",\"kind\":\"command\",\"spec\":{\"name\":\"c\",\"description\":\"d\",\"argument_hint\":\"h\"}}", true },
        { "W22-register-command", WIRE_REGISTER, "{" OWNER ",\"kind\":\"command\",\"spec\":{\"name\":\"c\",\"description\":\"d\"}}", true },
        { "W23-register-command-with-schema", WIRE_REGISTER, "{" OWNER ",\"kind\":\"command\",\"spec\":{\"name\":\"c\",\"description\":\"d\",\"input_schema\":{}}}", false },
        { "W24-register-hook-with-schema", WIRE_REGISTER, "{" OWNER ",\"kind\":\"hook\",\"spec\":{\"name\":\"e\",\"description\":\"d\",\"input_schema\":{}}}", false },
        { "W24-register-prompt-with-hint", WIRE_REGISTER, "{" OWNER ",\"kind\":\"prompt_section\",\"spec\":{\"name\":\"e\",\"description\":\"d\",\"argument_hint\":\"h\"}}", false },
        { "W25-unregister", WIRE_UNREGISTER, "{" OWNER ",\"handle\":3}", true },
        { "W26-faulted", WIRE_FAULTED, "{" OWNER ",\"error\":\"boom\"}", true },
        { "W27-faulted-without-token", WIRE_FAULTED, "{\"owner\":{\"plugin_id\":\"user/0/x\",\"generation\":1},\"error\":\"boom\"}", false },
        { "W28-log-with-plugin", WIRE_LOG, "{\"level\":\"warn\",\"msg\":\"m\",\"plugin_id\":\"user/0/x\"}", true },
        { "W28-log-without-plugin", WIRE_LOG, "{\"level\":\"warn\",\"msg\":\"m\"}", true },
        { "W30-cancel", WIRE_CANCEL, "{\"id\":4}", true },
        { "W41-core-call", WIRE_CORE_CALL, "{" OWNER ",\"ticket\":\"cwt.x\",\"name\":\"read\",\"input\":{}}", true },
        { "W41-core-call-without-ticket", WIRE_CORE_CALL, "{" OWNER ",\"name\":\"read\",\"input\":{}}", false },
        { "W41-core-call-without-name", WIRE_CORE_CALL, "{" OWNER ",\"ticket\":\"cwt.x\",\"input\":{}}", false },
        { "W41-core-call-unknown-field", WIRE_CORE_CALL, "{" OWNER ",\"ticket\":\"cwt.x\",\"name\":\"read\",\"input\":{},\"y\":1}", false },
        { "W41-core-call-owner-no-object", WIRE_CORE_CALL, "{\"owner\":3,\"ticket\":\"cwt.x\",\"name\":\"read\",\"input\":{}}", false },
        { "storage-set-without-value", WIRE_STORAGE_SET, "{" OWNER ",\"key\":\"k\"}", false },
        { "storage-set-null", WIRE_STORAGE_SET, "{" OWNER ",\"key\":\"k\",\"value\":null}", true },
        { "storage-set-if", WIRE_STORAGE_SET, "{" OWNER ",\"key\":\"k\",\"value\":1,\"if_version\":\"18446744073709551615\"}", true },
        { "storage-set-if-number", WIRE_STORAGE_SET, "{" OWNER ",\"key\":\"k\",\"value\":1,\"if_version\":1}", false },
        { "storage-set-if-long", WIRE_STORAGE_SET, "{" OWNER ",\"key\":\"k\",\"value\":1,\"if_version\":\"184467440737095516150\"}", false },
};

static void test_row(const void *data) {
        const Row *row = data;
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *reason = NULL;
        int r;

        g_assert_cmpint(jdoc_parse(row->params, strlen(row->params), NULL, &doc, NULL), ==, 0);
        r = shape_check(jdoc_root(doc), wire_method_get(row->method)->fields, &reason);
        if (r >= 0 && row->method == WIRE_REGISTER)
                r = wire_register_check(jdoc_root(doc), &reason);
        g_assert_cmpint(r >= 0, ==, row->accepted);
        g_assert_cmpint(reason != NULL, ==, !row->accepted);
}

/* What an author reads: the way to the field, and what is wrong with it. */
static void test_reasons(void) {
        static const struct {
                WireMethodId method;
                const char *params, *reason;
        } cases[] = {
                { WIRE_READY, "[]", "'params' must be an object" },
                { WIRE_CANCEL, "{}", "'params' lacks 'id'" },
                { WIRE_CANCEL, "{\"id\":\"4\"}", "'params.id' must be an unsigned integer" },
                { WIRE_CANCEL, "{\"id\":4,\"more\":1}", "'params' has an unknown field" },
                { WIRE_FAULTED, "{\"owner\":{\"plugin_id\":\"user/0/x\",\"generation\":1},\"error\":\"boom\"}",
                                "'params.owner' lacks 'owner_token'" },
                { WIRE_FAULTED, "{\"owner\":{\"plugin_id\":\"user/0/x\",\"generation\":-1}}",
                                "'params.owner.generation' must be an unsigned integer" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = NULL;
                g_autofree char *reason = NULL;

                g_assert_cmpint(jdoc_parse(cases[i].params, strlen(cases[i].params), NULL, &doc, NULL), ==, 0);
                g_assert_cmpint(shape_check(jdoc_root(doc), wire_method_get(cases[i].method)->fields, &reason), ==, -EBADMSG);
                g_assert_cmpstr(reason, ==, cases[i].reason);
        }
}

static void test_unknown(void) {
        static const char *const names[] = {
                "host/approve", "plugin/trust", "core/enable", "proc/launch", "proc/read", "proc/write", "proc/close", "net/start",
                "net/fetch", "net/read", "net/release", "net/close", "exec/redeem", "", "HOST/HELLO", "host/ping",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                g_assert_null(wire_method_find(names[i], HOST_TIER_PLUGIN));
        g_assert_null(wire_method_find(NULL, HOST_TIER_PLUGIN));
        g_assert_null(wire_method_find("registry/register", HOST_TIER_STRIP));
        g_assert_nonnull(wire_method_find("host/hello", HOST_TIER_STRIP));
}

/* The table stays free of what only people and the service decide. */
static void test_lint(void) {
        static const char *const words[] = { "approv", "trust", "enable", "credential", "session", "permission" };

        for (WireMethodId id = 0; id < _WIRE_METHOD_MAX; id++)
                for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                        const WireMethod *method = wire_method_get(id);

                        g_assert_null(strstr(method->name, words[i]));
                        for (const ShapeField *field = method->fields; field->name; field++)
                                g_assert_null(strstr(field->name, words[i]));
                }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *path = g_strdup_printf("/wire/%s", rows[i].id);

                g_test_add_data_func(path, &rows[i], test_row);
        }
        g_test_add_func("/wire/W34-W36-W42-unknown-methods", test_unknown);
        g_test_add_func("/wire/reasons", test_reasons);
        g_test_add_func("/wire/W45-lint", test_lint);
        return g_test_run();
}
