/* SPDX-License-Identifier: MIT */
#pragma once

/* JSON Schema: compile once, validate often (contract 5.1).
 *
 * Drafts 2020-12, 2019-09, 7, 6 and 4, chosen by "$schema". A compiled schema is immutable and may be shared. Whatever the
 * schema and the instance say, both compiling and validating end within their budgets; nothing outside the text is ever
 * read, a reference that leaves it refuses the schema. */

#include <systemd/sd-bus.h>

#include "common/jdoc.h"

typedef struct Schema Schema;

typedef enum SchemaDraft {
        SCHEMA_DRAFT_2020_12, /* the default where "$schema" is absent */
        SCHEMA_DRAFT_2019_09,
        SCHEMA_DRAFT_7,
        SCHEMA_DRAFT_6,
        SCHEMA_DRAFT_4,
        _SCHEMA_DRAFT_MAX,
} SchemaDraft;

/* Finds the document of a URI. For tests only: the service never sets one. The text must live as long as the schema.
 * Return: 0, or -ENOENT. */
typedef int (*SchemaLoad)(const char *uri, const char **ret_text, size_t *ret_size, void *userdata);

typedef struct SchemaOptions {
        SchemaDraft draft;   /* where "$schema" is absent */
        bool object_root;    /* refuse a root that does not say "type": "object" (tools; contract O05) */
        bool assert_formats; /* "format" judges instead of only describing */
        size_t bytes_max;    /* of the text; 0: TOOL_SCHEMA_BYTES_MAX */
        uint64_t steps_max;  /* of one validation; 0: SCHEMA_STEPS_MAX and some for the size of the instance */
        SchemaLoad load;
        void *userdata;
} SchemaOptions;

/**
 * schema_compile() - read and compile a schema
 * @text:    the schema; copied
 * @size:    its bytes
 * @options: NULL for all defaults
 * @ret:     the schema, one reference
 * @reterr:  ERROR_TOO_LARGE or ERROR_INVALID_ARGUMENTS, with the place in the schema and what is wrong there
 *
 * Limits: depth JSON_DEPTH_MAX, SCHEMA_SUBSCHEMAS_MAX subschemas, SCHEMA_PATTERN_BYTES_MAX a regular expression.
 *
 * Return: 0; -EBADMSG no JSON; -EINVAL no schema; -ENOKEY a reference that cannot be resolved here; -ELOOP references in a
 * circle; -E2BIG over a limit.
 */
int schema_compile(
                const char *text, size_t size, const SchemaOptions *options, Schema **ret, sd_bus_error *reterr);

Schema *schema_ref(Schema *schema);
Schema *schema_unref(Schema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Schema, schema_unref)

typedef enum SchemaVerdict {
        SCHEMA_INVALID,
        SCHEMA_VALID,
        SCHEMA_UNDECIDED, /* the budget ended first: to be refused like an invalid one */
} SchemaVerdict;

/**
 * schema_validate() - judge an instance
 *
 * Allocates nothing for a valid instance unless the schema uses "unevaluated…" on big containers or "uniqueItems" on long
 * arrays, or strings are written with escapes. The verdict on the same bytes is always the same.
 */
SchemaVerdict schema_validate(const Schema *schema, Jval instance);

/**
 * schema_explain() - why an instance is not valid, for a model to act on (contract 5.1, O04)
 *
 * At most SCHEMA_REASONS_MAX reasons joined with "; ", then the number of the others; at most SCHEMA_REPORT_BYTES_MAX
 * bytes, cut on a character with an ellipsis. A reason is "/count: expected integer, found string "5" (type)". Quoted
 * text is shortened and made safe to show.
 *
 * Return: a new string; NULL when the instance is valid.
 */
char *schema_explain(const Schema *schema, Jval instance);

/* One reason or annotation, for tools. All strings live during the callback only. */
typedef struct SchemaNote {
        const char *instance; /* JSON Pointer into the instance */
        const char *keyword;
        const char *schema; /* URI and JSON Pointer of the subschema that holds the keyword */
        const char *text;   /* reason: what was expected and found; annotation: the keyword's value as JSON */
} SchemaNote;

typedef void (*SchemaOnNote)(const SchemaNote *note, void *userdata);

/**
 * schema_report() - every reason why an instance is not valid, at most SCHEMA_NOTES_MAX
 *
 * Return: the verdict.
 */
SchemaVerdict schema_report(const Schema *schema, Jval instance, SchemaOnNote on_reason, void *userdata);

/**
 * schema_annotate() - what the schema says about the parts of a valid instance, at most SCHEMA_NOTES_MAX notes
 *
 * Gives "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "contentMediaType",
 * "contentEncoding" and "contentSchema" of every subschema that applied and held. Nothing for an instance that is not valid.
 *
 * Return: the verdict.
 */
SchemaVerdict schema_annotate(const Schema *schema, Jval instance, SchemaOnNote on_annotation, void *userdata);

/** schema_draft() - the draft of the root */
SchemaDraft schema_draft(const Schema *schema);
const char *schema_draft_to_string(SchemaDraft draft);
int schema_draft_from_string(const char *text, SchemaDraft *ret);
