/* SPDX-License-Identifier: MIT */
#pragma once

/* The shape of a message's parameters as a table. The direction host to service is strict (contract 3.15): a field that is
 * not in the table, a missing one and one of another type are each refused. */

#include <stdbool.h>

#include "common/jdoc.h"

typedef enum ShapeType {
        SHAPE_STRING,   /* @max bytes at most; 0: no limit but that of the frame */
        SHAPE_WORD,     /* a string out of @words */
        SHAPE_TEXT,     /* a string without NUL, for names */
        SHAPE_SHA256,   /* 64 lower-case hex digits */
        SHAPE_UINT,     /* 0 .. 2^64-1 */
        SHAPE_HANDLE,   /* 1 .. 2^64-1 */
        SHAPE_BOOLEAN,
        SHAPE_ANY,      /* any JSON value */
        SHAPE_MAP,      /* any object */
        SHAPE_OBJECT,   /* an object of @fields */
        SHAPE_ARRAY,    /* objects of @fields, @max at most; without @fields: strings */
} ShapeType;

typedef struct ShapeField {
        const char *name; /* NULL ends a table */
        ShapeType type;
        bool optional;
        size_t max;
        const struct ShapeField *fields;
        const char *const *words;
} ShapeField;

/**
 * shape_check() - whether an object has exactly the shape of a table
 * @object:     what came in
 * @fields:     the table; at most 32 fields, ended by one without a name
 * @ret_reason: which field is wrong and how, a new string; set only on failure
 *
 * Return: 0 or -EBADMSG.
 */
int shape_check(Jval object, const ShapeField *fields, char **ret_reason);
