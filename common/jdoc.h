/* SPDX-License-Identifier: MIT */
#pragma once

/* A strict JSON document (RFC 8259), read from bytes that a stranger wrote.
 *
 * What was validated must be what runs: the reader refuses everything that two readers could understand differently
 * (duplicate keys, comments, trailing text, invalid UTF-8, lone surrogates, numbers outside the grammar) and keeps the
 * source text of every value, so that it can be spliced on verbatim. Numbers keep their text; strings may hold NUL.
 * Input never drives recursion. A document is immutable; a Jval is a cheap handle into it, passed by value. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Jdoc Jdoc;
typedef struct Jnode Jnode;

typedef struct Jval {
        const Jdoc *doc;
        const Jnode *node; /* NULL: absent */
} Jval;

typedef enum JType {
        J_ABSENT,
        J_NULL,
        J_BOOLEAN,
        J_NUMBER,
        J_STRING,
        J_ARRAY,
        J_OBJECT,
        _J_TYPE_MAX,
        _J_TYPE_INVALID = -EINVAL,
} JType;

typedef struct JdocLimits {
        size_t bytes_max;   /* of the text */
        unsigned depth_max; /* [[]] has depth 2 */
        size_t nodes_max;   /* values in the document, keys included */
} JdocLimits;

/* Where and why reading failed. Lines and columns count from 1, columns in bytes; byte counts from 0. */
typedef struct JdocError {
        const char *message; /* static text, never quotes the input */
        size_t byte;
        size_t line;
        size_t column;
} JdocError;

/**
 * jdoc_parse() - read one document
 * @text:   the bytes; borrowed, must stay unchanged for as long as the document lives; need not end in NUL
 * @size:   their number
 * @limits: NULL for depth JSON_DEPTH_MAX, nodes JSON_NODES_MAX and any size up to 4 GiB - 1
 * @ret:    the document
 * @reterr: NULL, or where to say what is wrong and where
 *
 * Return: 0; -EBADMSG when it is not JSON or breaks a rule above; -E2BIG over a limit.
 */
int jdoc_parse(const char *text, size_t size, const JdocLimits *limits, Jdoc **ret, JdocError *reterr);

/** jdoc_parse_copy() - the same, with a private copy of the text */
int jdoc_parse_copy(const char *text, size_t size, const JdocLimits *limits, Jdoc **ret, JdocError *reterr);

Jdoc *jdoc_free(Jdoc *doc);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Jdoc, jdoc_free)

/** jdoc_root() - the document's one value */
Jval jdoc_root(const Jdoc *doc);

/** jval_type() - J_ABSENT for a handle without a value */
JType jval_type(Jval value);

/** jtype_to_string() - the word that JSON Schema uses: "object", "array", … ; "absent" */
const char *jtype_to_string(JType type);

static inline bool jval_is(Jval value, JType type) {
        return jval_type(value) == type;
}

/** jval_length() - members of an object, elements of an array, bytes of a decoded string; else 0 */
size_t jval_length(Jval value);

/**
 * jval_member() - a member of an object by name
 *
 * Return: the value; absent when @object is no object or has no such member.
 */
Jval jval_member(Jval object, const char *key);
Jval jval_member_n(Jval object, const char *key, size_t key_size);

/** jval_element() - element @index of an array (linear); absent when there is none */
Jval jval_element(Jval array, size_t index);

/* Walks an object or an array in document order:
 *     JIter iter = jval_iterate(value); Jval key, item;
 *     while (jiter_next(&iter, &key, &item)) …
 * For arrays the key is absent. Anything else has nothing to walk. */
typedef struct JIter {
        const Jdoc *doc;
        const Jnode *next;
        size_t left;
        bool object;
} JIter;
JIter jval_iterate(Jval value);
bool jiter_next(JIter *iter, Jval *ret_key, Jval *ret_value);

/**
 * jval_string() - the decoded bytes of a string (or of a key): UTF-8, ended by NUL, may contain NUL
 * @ret_size: NULL or where to put the number of bytes
 *
 * Return: the bytes, owned by the document; NULL when @value is no string.
 */
const char *jval_string(Jval value, size_t *ret_size);

/** jval_text() - like jval_string(), but NULL also when the string contains NUL: for names, paths and identifiers */
const char *jval_text(Jval value);

/** jval_equals_text() - whether it is a string of exactly these bytes */
bool jval_equals_text(Jval value, const char *text);

/** jval_boolean() - 0 and the value, or -EINVAL when it is no boolean */
int jval_boolean(Jval value, bool *ret);

/**
 * jval_int64(), jval_uint64() - the exact value of a number
 *
 * 1.0 and 1e2 are integers too. Return: 0; -EINVAL when it is no number or not whole; -ERANGE when it does not fit.
 */
int jval_int64(Jval value, int64_t *ret);
int jval_uint64(Jval value, uint64_t *ret);

typedef enum JNumberClass {
        J_NO_NUMBER,
        J_INT64,       /* whole, by value, and fits */
        J_BIG_INTEGER, /* whole and does not fit */
        J_REAL,        /* not whole */
} JNumberClass;

/** jval_number_class() - what kind of number it is, by exact value */
JNumberClass jval_number_class(Jval value);

/** jval_number_text() - the number as it was written; NULL when it is no number */
const char *jval_number_text(Jval value, size_t *ret_size);

/** jval_source() - the value exactly as it stands in the text, for splicing; NULL when absent */
const char *jval_source(Jval value, size_t *ret_size);

/** jval_equal() - deep equality as JSON Schema means it: 1 == 1.0, members in any order, false != 0 */
bool jval_equal(Jval a, Jval b);

/**
 * jval_canonical() - a text that is equal for equal values: keys sorted by bytes, numbers by value, no white space
 *
 * For digests and grant keys (contract 5.4.1). Return: a new string, freed with g_free().
 */
char *jval_canonical(Jval value);
