/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "schema/compile.h"

typedef struct ArenaBlock {
        struct ArenaBlock *next;
        size_t used;
        size_t size;
        max_align_t bytes[];
} ArenaBlock;

void *schema_alloc(Schema *schema, size_t size) {
        ArenaBlock *block = schema->arena;
        void *result;

        size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
        if (!block || block->size - block->used < size) {
                size_t room = MAX(size, KIB(2));

                block = g_malloc0(sizeof(ArenaBlock) + room);
                block->size = room;
                block->next = schema->arena;
                schema->arena = block;
        }
        result = (char *) block->bytes + block->used;
        block->used += size;
        return result;
}

Schema *schema_ref(Schema *schema) {
        assert(schema->n_refs > 0);
        schema->n_refs++;
        return schema;
}

Schema *schema_unref(Schema *schema) {
        if (!schema || --schema->n_refs > 0)
                return NULL;

        for (ArenaBlock *block = schema->arena, *next; block; block = next) {
                next = block->next;
                g_free(block);
        }
        g_ptr_array_unref(schema->patterns);
        resource_registry_free(schema->registry);
        g_string_chunk_free(schema->names);
        g_free(schema);
        return NULL;
}

static void pattern_drop(void *pattern) {
        pattern_free(pattern);
}

SchemaDraft schema_draft(const Schema *schema) {
        return schema->root->resource->draft;
}

Jval compiler_keyword(const Compiler *compiler, Jval object, const char *name) {
        if (!keyword_find(name, strlen(name), compiler->resource->draft, compiler->resource->vocabularies))
                return (Jval) {};
        return jval_member(object, name);
}

int compiler_want_at(Compiler *compiler, const Resource *resource, Jval value, Subschema **ret) {
        Subschema *sub = g_hash_table_lookup(compiler->known, value.node);
        bool holds;

        if (!sub) {
                if (!jval_is(value, J_OBJECT) && !jval_is(value, J_BOOLEAN))
                        return compiler_refuse(compiler, -EINVAL, value, "a schema is expected, found %s",
                                        jtype_to_string(jval_type(value)));
                if (++compiler->schema->n_subschemas > SCHEMA_SUBSCHEMAS_MAX)
                        return compiler_refuse(
                                        compiler, -E2BIG, value, "more than %u subschemas", SCHEMA_SUBSCHEMAS_MAX);

                sub = schema_new(compiler->schema, Subschema, 1);
                sub->types = TYPE_ALL;
                sub->source = value.node;
                sub->resource = resource_registry_at(compiler->schema->registry, resource, value.node);
                if (jval_boolean(value, &holds) >= 0) {
                        sub->never = !holds;
                        sub->trivial = holds;
                }
                g_hash_table_insert(compiler->known, (void *) value.node, sub);
                g_ptr_array_add(compiler->queue, sub);
        }

        *ret = sub;
        return 0;
}

int compiler_want(Compiler *compiler, Jval value, Subschema **ret) {
        if (jval_is(value, J_BOOLEAN) && compiler->resource->draft == SCHEMA_DRAFT_4)
                return compiler_refuse(compiler, -EINVAL, value, "a schema is expected, found boolean");
        return compiler_want_at(compiler, compiler->resource, value, ret);
}

int compiler_want_keyword(Compiler *compiler, Jval object, const char *name, Subschema **ret) {
        const Resource *resource = compiler->resource;
        const Keyword *keyword = keyword_find(name, strlen(name), resource->draft, resource->vocabularies);
        Jval value = keyword ? jval_member(object, name) : (Jval) {};

        *ret = NULL;
        if (!value.node)
                return 0;
        return keyword->shape == SHAPE_SCHEMA_OR_BOOLEAN ? compiler_want_at(compiler, resource, value, ret)
                                                         : compiler_want(compiler, value, ret);
}

int compiler_want_list(Compiler *compiler, Jval list, SubschemaList *ret) {
        JIter iter = jval_iterate(list);
        Jval value;
        int r;

        if (!jval_is(list, J_ARRAY) || jval_length(list) == 0)
                return compiler_refuse(compiler, -EINVAL, list, "a list of schemas is expected");

        ret->items = schema_new(compiler->schema, Subschema *, jval_length(list));
        while (jiter_next(&iter, NULL, &value)) {
                r = compiler_want(compiler, value, &ret->items[ret->count++]);
                if (r < 0)
                        return r;
        }
        return 0;
}

int compiler_count(Compiler *compiler, Jval object, const char *name, uint64_t *ret) {
        Jval value = compiler_keyword(compiler, object, name);
        int r;

        if (!value.node)
                return 0;
        r = jval_uint64(value, ret);
        if (r == -ERANGE && *jval_number_text(value, &(size_t) { 0 }) != '-') {
                *ret = UINT64_MAX;
                return 0;
        }
        return r < 0 ? compiler_refuse(compiler, -EINVAL, value, "a whole number, not negative, is expected") : 0;
}

int compiler_boolean(Compiler *compiler, Jval object, const char *name, bool *ret) {
        Jval value = compiler_keyword(compiler, object, name);

        if (value.node && jval_boolean(value, ret) < 0)
                return compiler_refuse(compiler, -EINVAL, value, "a boolean is expected");
        return 0;
}

static int compile_pattern(Compiler *compiler, Jval text, GBytes *source, Pattern **ret) {
        g_autofree char *reason = NULL;
        gsize size;
        const char *bytes = g_bytes_get_data(source, &size);
        int r;

        r = pattern_compile(bytes ?: "", size, ret, &reason);
        if (r < 0)
                return compiler_refuse(compiler, r, text, "regular expression: %s", reason);

        g_ptr_array_add(compiler->schema->patterns, *ret);
        compiler->schema->patterns_memory += pattern_memory(*ret);
        if (compiler->schema->patterns_memory > SCHEMA_PATTERNS_BYTES_MAX)
                return compiler_refuse(compiler, -E2BIG, text, "the regular expressions are too large together");
        return 0;
}

int compiler_pattern(Compiler *compiler, Jval text, const Pattern **ret) {
        g_autoptr(GBytes) source = NULL;
        const char *bytes;
        Pattern *pattern;
        size_t size;
        int r;

        if (!jval_is(text, J_STRING))
                return compiler_refuse(compiler, -EINVAL, text, "a regular expression is expected");

        bytes = jnode_bytes(text.doc, text.node, &size);
        source = g_bytes_new(bytes, size);
        pattern = g_hash_table_lookup(compiler->patterns, source);
        if (!pattern) {
                r = compile_pattern(compiler, text, source, &pattern);
                if (r < 0)
                        return r;
                g_hash_table_insert(compiler->patterns, g_bytes_ref(source), pattern);
        }
        *ret = pattern;
        return 0;
}

static bool has_no_rules(const Subschema *sub) {
        return !sub->never && sub->types == TYPE_ALL && !sub->number && !sub->string && !sub->array && !sub->object &&
                        !sub->value && !sub->apply;
}

/* Takes in all keywords of one subschema. */
static int compile_one(Compiler *compiler, Subschema *sub) {
        Jval object = { sub->resource->doc, sub->source }, key, value;
        const Resource *resource = sub->resource;
        JIter iter = jval_iterate(object);
        bool alone;
        int r = 0;

        if (!jval_is(object, J_OBJECT))
                return 0;
        compiler->resource = resource;
        /* Up to draft 7 a reference replaces everything beside it. */
        alone = resource->draft > SCHEMA_DRAFT_2019_09 && jval_is(jval_member(object, "$ref"), J_STRING);

        while (r >= 0 && jiter_next(&iter, &key, &value)) {
                size_t size;
                const char *name = jnode_bytes(key.doc, key.node, &size);
                const Keyword *keyword = keyword_find(name, size, resource->draft, resource->vocabularies);

                if (!keyword || !keyword->compile)
                        continue;
                if (alone && keyword->compile != compile_reference && keyword->compile != compile_definitions)
                        continue;
                r = keyword->compile(compiler, sub, object, value);
        }
        sub->trivial = has_no_rules(sub);
        sub->plain = !sub->never && !sub->value && !sub->apply;
        return r;
}

/* Makes sure that what "$dynamicRef" may find at run time is compiled, in every resource there is. New resources may turn up
 * while this goes on. */
static int compile_anchors(Compiler *compiler) {
        Registry *registry = compiler->schema->registry;
        int r;

        for (size_t i = 0; i < registry->resources->len; i++) {
                Resource *resource = g_ptr_array_index(registry->resources, i);

                for (size_t j = 0; j < resource->dynamic->len; j++) {
                        DynamicAnchor *anchor = &g_array_index(resource->dynamic, DynamicAnchor, j);

                        if (anchor->target)
                                continue;
                        r = compiler_want_at(compiler, resource, (Jval) { resource->doc, anchor->node },
                                        &anchor->target);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int compile_all(Compiler *compiler) {
        int r;

        for (size_t i = 0; i < compiler->queue->len;) {
                for (; i < compiler->queue->len; i++) {
                        r = compile_one(compiler, g_ptr_array_index(compiler->queue, i));
                        if (r < 0)
                                return r;
                }
                if (!compiler->schema->dynamic)
                        break;
                r = compile_anchors(compiler);
                if (r < 0)
                        return r;
        }
        return circle_check(compiler);
}

static bool says_object(Jval root) {
        return jval_equals_text(jval_member(root, "type"), "object");
}

static int read_text(Schema *schema, const char *text, size_t size, Jdoc **ret, sd_bus_error *reterr) {
        size_t bytes_max = schema->options.bytes_max ?: TOOL_SCHEMA_BYTES_MAX;
        JdocError error;
        int r;

        if (size > bytes_max) {
                (void) errors_set(
                                reterr, ERROR_TOO_LARGE, "schema: %zu bytes, at most %zu are allowed", size, bytes_max);
                return -E2BIG;
        }

        r = jdoc_parse_copy(text, size, NULL, ret, &error);
        if (r < 0)
                (void) errors_set(reterr, r == -E2BIG ? ERROR_TOO_LARGE : ERROR_INVALID_ARGUMENTS,
                                "schema, line %zu, column %zu: %s", error.line, error.column, error.message);
        return r;
}

static int compile_root(Compiler *compiler, Resource *resource) {
        Jval root = { resource->doc, resource->root };
        int r;

        if (compiler->schema->options.object_root && !says_object(root))
                return compiler_refuse(compiler, -EINVAL, root, "the root must say \"type\": \"object\"");

        compiler->resource = resource;
        r = compiler_want(compiler, root, &compiler->schema->root);
        if (r < 0)
                return r;
        return compile_all(compiler);
}

int schema_compile(
                const char *text, size_t size, const SchemaOptions *options, Schema **ret, sd_bus_error *reterr) {
        g_autoptr(Schema) schema = g_new(Schema, 1);
        g_autoptr(GHashTable) known = g_hash_table_new(g_direct_hash, g_direct_equal);
        g_autoptr(GPtrArray) queue = g_ptr_array_new();
        g_autoptr(GHashTable) patterns =
                        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
        Compiler compiler = {
                .schema = schema, .known = known, .queue = queue, .patterns = patterns, .reterr = reterr
        };
        Resource *resource;
        Jdoc *doc;
        int r;

        *schema = (Schema) {
                .n_refs = 1,
                .names = g_string_chunk_new(256),
                .patterns = g_ptr_array_new_with_free_func(pattern_drop),
        };
        if (options)
                schema->options = *options;
        schema->registry = resource_registry_new(&schema->options, schema->names);

        r = read_text(schema, text, size, &doc, reterr);
        if (r < 0)
                return r;
        r = resource_registry_add(schema->registry, doc, "", &resource, reterr);
        if (r < 0)
                return r;
        r = compile_root(&compiler, resource);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&schema);
        return 0;
}
