/* SPDX-License-Identifier: MIT */
#pragma once

/* Reasons against an instance: collected as facts, put into words only when they are shown. */

#include "schema/model.h"

typedef enum Problem {
        PROBLEM_FALSE,
        PROBLEM_TYPE,
        PROBLEM_CONST,
        PROBLEM_ENUM,
        PROBLEM_MINIMUM,
        PROBLEM_MAXIMUM,
        PROBLEM_ABOVE,
        PROBLEM_BELOW,
        PROBLEM_MULTIPLE,
        PROBLEM_LENGTH_MIN,
        PROBLEM_LENGTH_MAX,
        PROBLEM_PATTERN,
        PROBLEM_FORMAT,
        PROBLEM_ITEMS_MIN,
        PROBLEM_ITEMS_MAX,
        PROBLEM_ITEM,       /* detail: the element */
        PROBLEM_UNIQUE,     /* detail: the second of two equal elements */
        PROBLEM_CONTAINS_MIN,
        PROBLEM_CONTAINS_MAX,
        PROBLEM_PROPERTIES_MIN,
        PROBLEM_PROPERTIES_MAX,
        PROBLEM_REQUIRED,   /* detail: Property */
        PROBLEM_DEPENDENT,  /* detail: Property */
        PROBLEM_ADDITIONAL, /* detail: the key */
        PROBLEM_NAME,       /* detail: the key */
        PROBLEM_ANY,
        PROBLEM_ONE_NONE,
        PROBLEM_ONE_MANY,
        PROBLEM_NOT,
        PROBLEM_UNEVALUATED_ITEM,     /* detail: the element */
        PROBLEM_UNEVALUATED_PROPERTY, /* detail: the key */
        _PROBLEM_MAX,
} Problem;

typedef struct Reason {
        const Subschema *sub;
        const Jnode *node;
        Problem problem;
        const void *detail;
} Reason;

typedef struct Report {
        GArray *reasons; /* Reason: at most SCHEMA_NOTES_MAX */
        size_t n_left_out;
} Report;

void report_init(Report *report);
void report_done(Report *report);
void report_add(Report *report, Reason reason);

/** report_is_nearer() - whether the reasons of @a say more about what the instance was meant to be than those of @b */
bool report_is_nearer(const Report *a, const Report *b, const Jnode *node);

/** report_append() - adds the reasons of an alternative that failed */
void report_append(Report *report, const Report *other);
