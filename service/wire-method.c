/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/limits.h"
#include "service/wire-method.h"

static const char *const host_tier_table[_HOST_TIER_MAX] = {
        [HOST_TIER_PLUGIN] = "plugin",
        [HOST_TIER_STRIP] = "strip",
};

const char *host_tier_to_string(HostTier tier) {
        return host_tier_table[tier];
}

static const char *const runtime_words[] = { "node", "bun", NULL };
static const char *const tier_words[] = { "plugin", "strip", NULL };
static const char *const kind_words[] = {
        "tool", "command", "hook", "prompt_section", "prompt_template", "skill_root", "shell_hook", "mcp_server", NULL,
};

static const ShapeField protocol_fields[] = {
        { .name = "min", .type = SHAPE_UINT },
        { .name = "max", .type = SHAPE_UINT },
        {},
};
static const ShapeField runtime_fields[] = {
        { .name = "name", .type = SHAPE_WORD, .words = runtime_words },
        { .name = "version", .type = SHAPE_TEXT, .max = 64 },
        {},
};
static const ShapeField module_fields[] = {
        { .name = "id", .type = SHAPE_TEXT, .max = 64 },
        { .name = "sha256", .type = SHAPE_SHA256 },
        {},
};
static const ShapeField hello_fields[] = {
        { .name = "protocol", .type = SHAPE_OBJECT, .fields = protocol_fields },
        { .name = "host_version", .type = SHAPE_TEXT, .max = 64 },
        { .name = "bundle_sha256", .type = SHAPE_SHA256 },
        { .name = "runtime", .type = SHAPE_OBJECT, .fields = runtime_fields },
        { .name = "tier", .type = SHAPE_WORD, .words = tier_words },
        { .name = "builtin_modules", .type = SHAPE_ARRAY, .max = 64, .fields = module_fields },
        { .name = "verified_doors", .type = SHAPE_ARRAY, .max = 256, .optional = true },
        { .name = "memory_limit_mib", .type = SHAPE_UINT, .optional = true },
        {},
};
static const ShapeField owner_fields[] = {
        { .name = "plugin_id", .type = SHAPE_TEXT, .max = 128 },
        { .name = "generation", .type = SHAPE_UINT },
        { .name = "owner_token", .type = SHAPE_SHA256 },
        {},
};
static const ShapeField scope_fields[] = {
        { .name = "path", .type = SHAPE_TEXT, .max = BUNDLE_PATH_BYTES_MAX },
        { .name = "sha256", .type = SHAPE_SHA256 },
        {},
};
static const ShapeField spec_fields[] = {
        { .name = "name", .type = SHAPE_STRING },
        { .name = "description", .type = SHAPE_STRING },
        { .name = "input_schema", .type = SHAPE_ANY, .optional = true },
        { .name = "argument_hint", .type = SHAPE_STRING, .optional = true },
        {},
};
static const ShapeField register_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "scope", .type = SHAPE_OBJECT, .optional = true, .fields = scope_fields },
        { .name = "kind", .type = SHAPE_WORD, .words = kind_words },
        { .name = "spec", .type = SHAPE_OBJECT, .fields = spec_fields },
        {},
};
static const ShapeField registration_fields[] = {
        { .name = "scope", .type = SHAPE_OBJECT, .fields = scope_fields },
        { .name = "kind", .type = SHAPE_WORD, .words = kind_words },
        { .name = "spec", .type = SHAPE_OBJECT, .fields = spec_fields },
        {},
};
static const ShapeField unregister_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "handle", .type = SHAPE_HANDLE },
        {},
};
static const ShapeField core_call_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "ticket", .type = SHAPE_TEXT, .max = 128 },
        { .name = "name", .type = SHAPE_TEXT, .max = 4 * CORE_CALL_NAME_CHARS_MAX },
        { .name = "input", .type = SHAPE_MAP },
        {},
};
static const ShapeField storage_key_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "key", .type = SHAPE_STRING },
        {},
};
static const ShapeField storage_set_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "key", .type = SHAPE_STRING },
        { .name = "value", .type = SHAPE_ANY },
        { .name = "if_version", .type = SHAPE_STRING, .max = STORAGE_VERSION_CHARS_MAX, .optional = true },
        {},
};
static const ShapeField faulted_fields[] = {
        { .name = "owner", .type = SHAPE_OBJECT, .fields = owner_fields },
        { .name = "error", .type = SHAPE_STRING },
        {},
};
static const ShapeField log_fields[] = {
        { .name = "level", .type = SHAPE_TEXT, .max = 32 },
        { .name = "msg", .type = SHAPE_STRING },
        { .name = "plugin_id", .type = SHAPE_STRING, .optional = true },
        {},
};
static const ShapeField cancel_fields[] = {
        { .name = "id", .type = SHAPE_UINT },
        {},
};
static const ShapeField no_fields[] = {
        {},
};

#define PLUGIN (1u << HOST_TIER_PLUGIN)
#define STRIP (1u << HOST_TIER_STRIP)

static const WireMethod wire_methods[_WIRE_METHOD_MAX] = {
        [WIRE_HELLO] = { WIRE_HELLO, "host/hello", false, PLUGIN | STRIP, hello_fields },
        [WIRE_READY] = { WIRE_READY, "host/ready", false, PLUGIN | STRIP, no_fields },
        [WIRE_REGISTER] = { WIRE_REGISTER, "registry/register", true, PLUGIN, register_fields },
        [WIRE_UNREGISTER] = { WIRE_UNREGISTER, "registry/unregister", true, PLUGIN, unregister_fields },
        [WIRE_CORE_CALL] = { WIRE_CORE_CALL, "core/call", true, PLUGIN, core_call_fields },
        [WIRE_STORAGE_GET] = { WIRE_STORAGE_GET, "storage/get", true, PLUGIN, storage_key_fields },
        [WIRE_STORAGE_SET] = { WIRE_STORAGE_SET, "storage/set", true, PLUGIN, storage_set_fields },
        [WIRE_STORAGE_DELETE] = { WIRE_STORAGE_DELETE, "storage/delete", true, PLUGIN, storage_key_fields },
        [WIRE_FAULTED] = { WIRE_FAULTED, "ext/faulted", false, PLUGIN, faulted_fields },
        [WIRE_LOG] = { WIRE_LOG, "log", false, PLUGIN | STRIP, log_fields },
        [WIRE_CANCEL] = { WIRE_CANCEL, "$/cancel", false, PLUGIN | STRIP, cancel_fields },
};

const WireMethod *wire_method_find(const char *name, HostTier tier) {
        for (int i = 0; i < _WIRE_METHOD_MAX; i++)
                if (g_strcmp0(name, wire_methods[i].name) == 0)
                        return wire_methods[i].tiers & (1u << tier) ? &wire_methods[i] : NULL;

        return NULL;
}

const WireMethod *wire_method_get(WireMethodId id) {
        return &wire_methods[id];
}

int wire_register_check(Jval params, char **ret_reason) {
        Jval spec = jval_member(params, "spec"), kind = jval_member(params, "kind");
        bool schema = jval_is(jval_member(spec, "input_schema"), J_ABSENT) == false;
        bool hint = jval_is(jval_member(spec, "argument_hint"), J_ABSENT) == false;
        bool tool = jval_equals_text(kind, "tool"), command = jval_equals_text(kind, "command");

        if (tool && !schema)
                *ret_reason = g_strdup("a tool needs 'input_schema'");
        else if (!tool && schema)
                *ret_reason = g_strdup("only a tool may have 'input_schema'");
        else if (!command && hint)
                *ret_reason = g_strdup("only a command may have 'argument_hint'");
        else
                return 0;

        return -EBADMSG;
}

int wire_registration_check(Jval registration, char **ret_reason) {
        int r = shape_check(registration, registration_fields, ret_reason);

        return r < 0 ? r : wire_register_check(registration, ret_reason);
}
