/* SPDX-License-Identifier: MIT */
#pragma once

/* Turns the text of a schema into rules. Each group of keywords has a file of its own; subschemas are not compiled where
 * they are met but put on a list, so that a chain of references needs no stack. */

#include "schema/model.h"

struct Compiler {
        Schema *schema;
        GHashTable *known; /* const Jnode → Subschema */
        GPtrArray *queue;  /* Subschema, in the order in which they were met */
        GHashTable *patterns; /* GBytes → Pattern: each expression is compiled once */
        const Resource *resource; /* of the subschema that is being compiled */
        sd_bus_error *reterr;
};

/** compiler_refuse() - says what is wrong at a value of the schema; returns @error */
#define compiler_refuse(compiler, error, value, ...)                                                                  \
        schema_refuse((compiler)->reterr, (error), (value).doc, (value).node, __VA_ARGS__)

/** compiler_keyword() - the value of a keyword of a schema object; absent when it is not there or means nothing */
Jval compiler_keyword(const Compiler *compiler, Jval object, const char *name);

/** compiler_want() - the subschema that @value is, compiled later */
int compiler_want(Compiler *compiler, Jval value, Subschema **ret);

/** compiler_want_at() - the same for one that stands in another resource */
int compiler_want_at(Compiler *compiler, const Resource *resource, Jval value, Subschema **ret);

/** compiler_want_keyword() - the subschema of a keyword; NULL when the keyword is absent */
int compiler_want_keyword(Compiler *compiler, Jval object, const char *name, Subschema **ret);

/** compiler_want_list() - the subschemas of a list, which must not be empty */
int compiler_want_list(Compiler *compiler, Jval list, SubschemaList *ret);

/** compiler_count() - a keyword that counts: not negative and whole; @ret stays when it is absent */
int compiler_count(Compiler *compiler, Jval object, const char *name, uint64_t *ret);

/** compiler_boolean() - a keyword that is a boolean; @ret stays when it is absent */
int compiler_boolean(Compiler *compiler, Jval object, const char *name, bool *ret);

/** compiler_pattern() - a regular expression, kept by the schema */
int compiler_pattern(Compiler *compiler, Jval text, const Pattern **ret);

/* Groups of keywords; each is called at the first of its keywords and takes in all of them. */
int compile_number(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_string(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_array(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_object(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_values(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_apply(Compiler *compiler, Subschema *sub, Jval object, Jval value);

/* Single keywords */
int compile_type(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_reference(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_dynamic(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_definitions(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_aside(Compiler *compiler, Subschema *sub, Jval object, Jval value);

/* Keywords that judge nothing, but must have the right type */
int compile_text(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_flag(Compiler *compiler, Subschema *sub, Jval object, Jval value);
int compile_examples(Compiler *compiler, Subschema *sub, Jval object, Jval value);

/** circle_check() - refuses references that lead back to where they began without entering a part of the instance */
int circle_check(Compiler *compiler);
