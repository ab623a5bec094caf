/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/errors.h"
#include "common/jdoc-node.h"
#include "common/limits.h"
#include "schema/metaschema.h"
#include "schema/resource.h"
#include "schema/uri.h"

static void resource_drop(void *userdata) {
        Resource *resource = userdata;

        g_free(resource->uri);
        g_hash_table_unref(resource->anchors);
        g_array_unref(resource->dynamic);
        g_free(resource);
}

static void doc_drop(void *doc) {
        jdoc_free(doc);
}

Registry *resource_registry_new(const SchemaOptions *options, GStringChunk *names) {
        Registry *registry = g_new(Registry, 1);

        *registry = (Registry) {
                .docs = g_ptr_array_new_with_free_func(doc_drop),
                .resources = g_ptr_array_new_with_free_func(resource_drop),
                .by_uri = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .by_root = g_hash_table_new(g_direct_hash, g_direct_equal),
                .names = names,
                .options = options,
        };
        return registry;
}

Registry *resource_registry_free(Registry *registry) {
        if (!registry)
                return NULL;
        g_hash_table_unref(registry->by_uri);
        g_hash_table_unref(registry->by_root);
        g_ptr_array_unref(registry->resources);
        g_ptr_array_unref(registry->docs);
        g_free(registry);
        return NULL;
}

static void append_token(GString *out, const char *bytes, size_t size) {
        g_string_append_c(out, '/');
        for (size_t i = 0; i < size; i++) {
                if (bytes[i] == '~')
                        g_string_append(out, "~0");
                else if (bytes[i] == '/')
                        g_string_append(out, "~1");
                else
                        g_string_append_c(out, bytes[i] ?: '?');
        }
}

char *jnode_pointer(const Jdoc *doc, const Jnode *root, const Jnode *node) {
        g_autoptr(GString) out = g_string_new(NULL);

        while (root != node && jnode_type(root) >= J_ARRAY) {
                JIter iter = jval_iterate((Jval) { doc, root });
                Jval key, value = { doc, root };
                size_t index = 0;

                for (; jiter_next(&iter, &key, &value); index++)
                        if (node < jnode_next(value.node))
                                break;
                if (key.node) {
                        size_t size;
                        const char *bytes = jnode_bytes(doc, key.node, &size);

                        append_token(out, bytes, size);
                        if (key.node == node)
                                break;
                } else
                        g_string_append_printf(out, "/%zu", index);
                root = value.node;
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

int schema_refuse(
                sd_bus_error *reterr, int error, const Jdoc *doc, const Jnode *node, const char *format, ...) {
        g_autofree char *pointer = NULL, *text = NULL;
        va_list arguments;

        if (!reterr)
                return error;
        pointer = jnode_pointer(doc, doc->nodes, node);
        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        (void) errors_set(reterr, error == -E2BIG ? ERROR_TOO_LARGE : ERROR_INVALID_ARGUMENTS, "schema, at %s: %s",
                        *pointer ? pointer : "(root)", text);
        return error;
}

/* The text of a member that must be a string when it is there; -ENOENT when it is not. */
static int member_text(Jval object, const char *name, const char **ret, sd_bus_error *reterr) {
        Jval value = jval_member(object, name);
        const char *text = jval_text(value);

        if (jval_is(value, J_ABSENT))
                return -ENOENT;
        if (!text)
                return schema_refuse(reterr, -EINVAL, value.doc, value.node, "a string is expected");
        *ret = text;
        return 0;
}

static int resource_registry_find(Registry *registry, const char *uri, Resource **ret, sd_bus_error *reterr);

static int read_vocabularies(const Resource *metaschema, unsigned *ret, sd_bus_error *reterr) {
        Jval list = jval_member((Jval) { metaschema->doc, metaschema->root }, "$vocabulary"), key, value;
        unsigned found = VOCABULARY_CORE;
        JIter iter = jval_iterate(list);

        if (jval_is(list, J_ABSENT) || metaschema->draft > SCHEMA_DRAFT_2019_09) {
                *ret = metaschema->vocabularies;
                return 0;
        }
        while (jiter_next(&iter, &key, &value)) {
                Vocabulary vocabulary;
                const char *uri = jval_text(key);
                bool required = false;

                if (!uri || jval_boolean(value, &required) < 0)
                        return schema_refuse(reterr, -EINVAL, value.doc, value.node, "a boolean is expected");
                if (vocabulary_find(uri, &vocabulary) >= 0)
                        found |= vocabulary;
                else if (required)
                        return schema_refuse(reterr, -EINVAL, value.doc, value.node, "unknown vocabulary '%s'", uri);
        }
        *ret = found;
        return 0;
}

/* Sets draft and vocabularies from "$schema". */
static int read_dialect(Registry *registry, Resource *resource, sd_bus_error *reterr) {
        Jval root = { resource->doc, resource->root };
        g_autofree char *bare = NULL;
        const char *uri = NULL;
        Resource *metaschema;
        char *fragment;
        int r;

        r = member_text(root, "$schema", &uri, reterr);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;

        bare = g_strdup(uri);
        fragment = uri_split_fragment(bare);
        if (!fragment || *fragment == '\0') {
                resource->vocabularies = VOCABULARY_DEFAULT;
                if (dialect_find(bare, &resource->draft) >= 0)
                        return 0;
                /* The metaschema's own metaschema may be a third one, but not itself. */
                if (g_strcmp0(bare, resource->uri) != 0 && resource_registry_find(registry, bare, &metaschema, NULL) >= 0) {
                        resource->draft = metaschema->draft;
                        return read_vocabularies(metaschema, &resource->vocabularies, reterr);
                }
        }
        return schema_refuse(reterr, -EINVAL, resource->doc, jval_member(root, "$schema").node,
                        "unknown dialect '%s'", uri);
}

static Resource *resource_new(
                Registry *registry, const Jdoc *doc, const Jnode *root, char *uri, const Resource *parent) {
        Resource *resource = g_new(Resource, 1);

        *resource = (Resource) {
                .uri = uri,
                .doc = doc,
                .root = root,
                .draft = parent ? parent->draft : registry->options->draft,
                .vocabularies = parent ? parent->vocabularies : VOCABULARY_DEFAULT,
                .anchors = g_hash_table_new(g_str_hash, g_str_equal),
                .dynamic = g_array_new(FALSE, FALSE, sizeof(DynamicAnchor)),
        };
        g_ptr_array_add(registry->resources, resource);
        g_hash_table_insert(registry->by_root, (void *) root, resource);
        return resource;
}

static int add_anchor(Registry *registry, Resource *resource, Jval schema, const char *name, sd_bus_error *reterr) {
        const char *interned = g_string_chunk_insert_const(registry->names, name);
        const Jnode *other = g_hash_table_lookup(resource->anchors, interned);

        if (other && other != schema.node)
                return schema_refuse(reterr, -EINVAL, schema.doc, schema.node, "the anchor '%s' occurs twice", name);
        g_hash_table_insert(resource->anchors, (void *) interned, (void *) schema.node);
        return 0;
}

static void add_dynamic(Registry *registry, Resource *resource, Jval schema, const char *name) {
        DynamicAnchor anchor = { g_string_chunk_insert_const(registry->names, name), schema.node, NULL };

        g_array_append_val(resource->dynamic, anchor);
}

static int scan_anchors(Registry *registry, Resource *resource, Jval schema, sd_bus_error *reterr) {
        const char *name = NULL;
        bool recursive = false;
        int r;

        if (resource->draft > SCHEMA_DRAFT_2019_09)
                return 0;

        r = member_text(schema, "$anchor", &name, reterr);
        if (r >= 0)
                r = add_anchor(registry, resource, schema, name, reterr);
        if (r < 0 && r != -ENOENT)
                return r;

        if (resource->draft == SCHEMA_DRAFT_2019_09) {
                if (schema.node == resource->root &&
                                jval_boolean(jval_member(schema, "$recursiveAnchor"), &recursive) >= 0 && recursive)
                        add_dynamic(registry, resource, schema, "");
                return 0;
        }
        r = member_text(schema, "$dynamicAnchor", &name, reterr);
        if (r == -ENOENT)
                return 0;
        if (r >= 0)
                r = add_anchor(registry, resource, schema, name, reterr);
        if (r >= 0)
                add_dynamic(registry, resource, schema, name);
        return r;
}

static int register_uri(Registry *registry, Resource *resource, const char *uri, sd_bus_error *reterr) {
        Resource *other = g_hash_table_lookup(registry->by_uri, uri);

        if (other == resource)
                return 0;
        if (other)
                return schema_refuse(reterr, -EINVAL, resource->doc, resource->root, "the identifier '%s' occurs twice",
                                uri);
        g_hash_table_insert(registry->by_uri, g_strdup(uri), resource);
        return 0;
}

/* An identifier begins a resource, or in old drafts may be just an anchor. */
static int scan_identifier(Registry *registry, Resource **resource, Jval schema, sd_bus_error *reterr) {
        Resource *own = (*resource)->root == schema.node ? *resource : NULL;
        g_autofree char *uri = NULL;
        SchemaDraft draft = (*resource)->draft, embedded;
        const char *id = NULL, *dialect = jval_text(jval_member(schema, "$schema"));
        char *fragment;
        int r;

        /* An embedded resource may be of another draft, which decides how its identifier is spelled. */
        if (!own && dialect) {
                g_autofree char *bare = g_strdup(dialect);

                (void) uri_split_fragment(bare);
                if (dialect_find(bare, &embedded) >= 0)
                        draft = embedded;
        }
        if (draft > SCHEMA_DRAFT_2019_09 && !jval_is(jval_member(schema, "$ref"), J_ABSENT))
                return 0;
        r = member_text(schema, draft == SCHEMA_DRAFT_4 ? "id" : "$id", &id, reterr);
        if (r < 0)
                return r == -ENOENT ? 0 : r;

        uri = uri_resolve((*resource)->uri, id);
        fragment = uri_split_fragment(uri);
        if (fragment && *fragment && draft <= SCHEMA_DRAFT_2019_09)
                return schema_refuse(reterr, -EINVAL, schema.doc, schema.node, "an identifier must not have a fragment");

        if (*id != '#') {
                if (own) {
                        g_free(own->uri);
                        own->uri = g_steal_pointer(&uri);
                } else {
                        own = resource_new(registry, schema.doc, schema.node, g_steal_pointer(&uri), *resource);
                        r = read_dialect(registry, own, reterr);
                        if (r < 0)
                                return r;
                }
                r = register_uri(registry, own, own->uri, reterr);
                if (r < 0)
                        return r;
                *resource = own;
        }
        return fragment && *fragment ? add_anchor(registry, *resource, schema, fragment, reterr) : 0;
}

static int scan_schema(Registry *registry, Resource *resource, Jval schema, sd_bus_error *reterr);

static int scan_each(Registry *registry, Resource *resource, Jval container, sd_bus_error *reterr) {
        JIter iter = jval_iterate(container);
        Jval value;
        int r = 0;

        while (r >= 0 && jiter_next(&iter, NULL, &value))
                r = scan_schema(registry, resource, value, reterr);
        return r;
}

/* Recursion follows the nesting of the text, which the reader has limited. */
static int scan_schema(Registry *registry, Resource *resource, Jval schema, sd_bus_error *reterr) {
        JIter iter = jval_iterate(schema);
        Jval key, value;
        int r;

        if (!jval_is(schema, J_OBJECT))
                return 0;
        r = scan_identifier(registry, &resource, schema, reterr);
        if (r >= 0)
                r = scan_anchors(registry, resource, schema, reterr);

        while (r >= 0 && jiter_next(&iter, &key, &value)) {
                size_t size;
                const char *name = jnode_bytes(key.doc, key.node, &size);
                const Keyword *keyword = keyword_find(name, size, resource->draft, resource->vocabularies);

                if (!keyword || keyword->shape == SHAPE_VALUE)
                        continue;
                if (keyword->shape == SHAPE_SCHEMA || (jval_is(value, J_OBJECT) && keyword->shape != SHAPE_MAP &&
                                                                      keyword->shape != SHAPE_MAP_OR_NAMES))
                        r = scan_schema(registry, resource, value, reterr);
                else
                        r = scan_each(registry, resource, value, reterr);
        }
        return r;
}

int resource_registry_add(Registry *registry, Jdoc *doc, const char *uri, Resource **ret, sd_bus_error *reterr) {
        Resource *resource;
        int r;

        g_ptr_array_add(registry->docs, doc);
        resource = resource_new(registry, doc, doc->nodes, g_strdup(uri), NULL);
        /* Known from the beginning under the name by which it was asked for, so that circles of metaschemas end. */
        r = register_uri(registry, resource, uri, reterr);
        if (r < 0)
                return r;
        if (jval_is(jdoc_root(doc), J_OBJECT)) {
                r = read_dialect(registry, resource, reterr);
                if (r < 0)
                        return r;
        }
        r = scan_schema(registry, resource, jdoc_root(doc), reterr);
        if (r < 0)
                return r;
        *ret = resource;
        return 0;
}

/* The resource of a URI: known already, built in, or given by the tests' loader. */
static int resource_registry_find(Registry *registry, const char *uri, Resource **ret, sd_bus_error *reterr) {
        Resource *known = g_hash_table_lookup(registry->by_uri, uri);
        const SchemaOptions *options = registry->options;
        const char *text;
        size_t size;
        Jdoc *doc;
        int r;

        if (known) {
                *ret = known;
                return 0;
        }
        r = metaschema_find(uri, &text, &size);
        if (r < 0)
                r = options->load ? options->load(uri, &text, &size, options->userdata) : -ENOKEY;
        if (r < 0)
                return -ENOKEY;
        r = jdoc_parse(text, size, NULL, &doc, NULL);
        if (r < 0)
                return r;
        return resource_registry_add(registry, doc, uri, ret, reterr);
}

const Resource *resource_registry_at(const Registry *registry, const Resource *parent, const Jnode *node) {
        return g_hash_table_lookup(registry->by_root, node) ?: parent;
}

static void unescape_token(char *token) {
        char *to = token;

        for (const char *from = token; *from; from++) {
                if (*from == '~' && (from[1] == '0' || from[1] == '1'))
                        *to++ = *++from == '0' ? '~' : '/';
                else
                        *to++ = *from;
        }
        *to = '\0';
}

static Jval step(Jval value, const char *token) {
        guint64 index;

        if (jval_is(value, J_OBJECT))
                return jval_member(value, token);
        if ((token[0] == '0' && token[1]) || !g_ascii_string_to_unsigned(token, 10, 0, UINT32_MAX, &index, NULL))
                return (Jval) {};
        return jval_element(value, index);
}

/* Follows a JSON Pointer from the root of a resource; what lies in an embedded resource belongs to that one. */
static Jval follow(const Registry *registry, const Resource **resource, const char *pointer) {
        g_auto(GStrv) tokens = g_strsplit(pointer + 1, "/", -1);
        Jval at = { (*resource)->doc, (*resource)->root };

        for (char **token = tokens; *token && at.node; token++) {
                unescape_token(*token);
                at = step(at, *token);
                if (at.node)
                        *resource = resource_registry_at(registry, *resource, at.node);
        }
        return at;
}

static const char *dynamic_name(const Resource *resource, const Jnode *node, const char *name) {
        for (size_t i = 0; i < resource->dynamic->len; i++) {
                const DynamicAnchor *anchor = &g_array_index(resource->dynamic, DynamicAnchor, i);

                if (anchor->node == node && g_str_equal(anchor->name, name))
                        return anchor->name;
        }
        return NULL;
}

int resource_registry_resolve(Registry *registry, const Resource *from, const char *reference, Resource **ret_resource,
                const Jnode **ret_node, const char **ret_anchor, sd_bus_error *reterr) {
        g_autofree char *uri = uri_resolve(from->uri, reference), *name = NULL;
        char *fragment = uri_split_fragment(uri);
        const Resource *at;
        Resource *resource;
        const Jnode *node;
        const char *anchor = NULL;
        int r;

        r = resource_registry_find(registry, uri, &resource, reterr);
        if (r < 0)
                return r;

        at = resource;
        node = resource->root;
        if (fragment && *fragment) {
                name = uri_unescape(fragment);
                if (!name)
                        return -ENOKEY;
                if (*name == '/')
                        node = follow(registry, &at, name).node;
                else {
                        node = g_hash_table_lookup(resource->anchors, name);
                        anchor = node ? dynamic_name(resource, node, name) : NULL;
                }
        } else
                anchor = dynamic_name(resource, node, "");
        if (!node)
                return -ENOKEY;

        *ret_resource = (Resource *) at;
        *ret_node = node;
        if (ret_anchor)
                *ret_anchor = anchor;
        return 0;
}
