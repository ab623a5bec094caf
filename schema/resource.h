/* SPDX-License-Identifier: MIT */
#pragma once

/* The documents of a schema and what in them can be referred to: resources (roots and whatever has an "$id"), anchors,
 * places named by JSON Pointer. */

#include "common/jdoc.h"
#include "schema/dialect.h"

struct Subschema;

/* An anchor that "$dynamicRef" looks for; "" stands for "$recursiveAnchor". */
typedef struct DynamicAnchor {
        const char *name; /* interned */
        const Jnode *node;
        struct Subschema *target; /* once compiled */
} DynamicAnchor;

typedef struct Resource {
        char *uri; /* absolute as far as the schema says, without fragment */
        const Jdoc *doc;
        const Jnode *root;
        SchemaDraft draft;
        unsigned vocabularies;
        GHashTable *anchors; /* name → const Jnode */
        GArray *dynamic;     /* DynamicAnchor */
} Resource;

typedef struct Registry {
        GPtrArray *docs;      /* Jdoc */
        GPtrArray *resources; /* Resource */
        GHashTable *by_uri;   /* char → Resource */
        GHashTable *by_root;  /* const Jnode → Resource */
        GStringChunk *names;
        const SchemaOptions *options;
} Registry;

Registry *resource_registry_new(const SchemaOptions *options, GStringChunk *names);
Registry *resource_registry_free(Registry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Registry, resource_registry_free)

/**
 * resource_registry_add() - take in a document and everything in it that can be referred to
 * @doc: owned by the registry from now on, also on failure
 * @uri: where it was found
 */
int resource_registry_add(Registry *registry, Jdoc *doc, const char *uri, Resource **ret, sd_bus_error *reterr);

/**
 * resource_registry_resolve() - what a reference leads to
 * @from:        the resource that holds it
 * @ret_anchor:  NULL, or: the interned name when the reference named a dynamic anchor, else NULL
 *
 * Return: 0; -ENOKEY when there is no such thing here.
 */
int resource_registry_resolve(Registry *registry, const Resource *from, const char *reference, Resource **ret_resource,
                const Jnode **ret_node, const char **ret_anchor, sd_bus_error *reterr);

/** resource_registry_at() - the resource of a subschema that stands in @parent */
const Resource *resource_registry_at(const Registry *registry, const Resource *parent, const Jnode *node);

/** jnode_pointer() - the JSON Pointer from @root of its document to @node */
char *jnode_pointer(const Jdoc *doc, const Jnode *root, const Jnode *node);

/** schema_refuse() - fills in an error about a place in a schema: "/properties/a/type: …" */
int schema_refuse(sd_bus_error *reterr, int error, const Jdoc *doc, const Jnode *node, const char *format, ...)
                __attribute__((format(printf, 5, 6)));
