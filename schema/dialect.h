/* SPDX-License-Identifier: MIT */
#pragma once

/* Which keyword means what, in which draft. */

#include "schema/schema.h"

/* Sets of keywords that a metaschema of 2019-09 or later switches on. Older drafts have them all. */
typedef enum Vocabulary {
        VOCABULARY_CORE        = 1 << 0,
        VOCABULARY_APPLICATOR  = 1 << 1,
        VOCABULARY_UNEVALUATED = 1 << 2,
        VOCABULARY_VALIDATION  = 1 << 3,
        VOCABULARY_METADATA    = 1 << 4,
        VOCABULARY_FORMAT      = 1 << 5,
        VOCABULARY_CONTENT     = 1 << 6,
        VOCABULARY_ASSERTION   = 1 << 7, /* formats judge */
} Vocabulary;

#define VOCABULARY_DEFAULT 0x7fu

/* Where subschemas stand in the value of a keyword. */
typedef enum KeywordShape {
        SHAPE_VALUE,          /* nowhere */
        SHAPE_SCHEMA,         /* it is one */
        SHAPE_LIST,           /* a list of them, not empty */
        SHAPE_MAP,            /* an object of them */
        SHAPE_SCHEMA_OR_LIST, /* "items" up to 2019-09 */
        SHAPE_SCHEMA_OR_BOOLEAN, /* draft 4, where a boolean is no schema: "additionalProperties", "additionalItems" */
        SHAPE_MAP_OR_NAMES,   /* "dependencies": an object of schemas or lists of names */
} KeywordShape;

typedef struct Compiler Compiler;
struct Subschema;

/* Takes one keyword of @object into @sub. */
typedef int (*KeywordCompile)(Compiler *compiler, struct Subschema *sub, Jval object, Jval value);

typedef struct Keyword {
        const char *name;
        unsigned drafts; /* 1 << SchemaDraft */
        Vocabulary vocabulary;
        KeywordShape shape;
        KeywordCompile compile; /* NULL: nothing to judge */
} Keyword;

/** keyword_find() - what a member of a schema means; NULL when it is unknown there */
const Keyword *keyword_find(const char *name, size_t size, SchemaDraft draft, unsigned vocabularies);

/** dialect_find() - the draft of a metaschema's URI (without an empty fragment); -ENOENT */
int dialect_find(const char *uri, SchemaDraft *ret);

/** vocabulary_find() - the vocabulary of a URI of 2019-09 or 2020-12; -ENOENT */
int vocabulary_find(const char *uri, Vocabulary *ret);

static inline bool draft_is_before(SchemaDraft draft, SchemaDraft other) {
        return draft > other; /* the newest is 0 */
}
