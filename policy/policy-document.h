/* SPDX-License-Identifier: MIT */
#pragma once

/* One file of permissions while it is read: what it is called, where each of its values stands, and what is wrong with it.
 * Readers go on behind a mistake where they can, so that its author hears of all of them at once. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jdoc.h"
#include "common/toml.h"

typedef struct PolicyMistake {
        size_t line, column; /* from 1; 0 when they are not known */
        bool warning;        /* it is read as it stands, but does nothing */
        char *text;          /* a sentence, sanitised */
} PolicyMistake;

typedef struct PolicyDocument {
        const char *file;       /* as people know it, borrowed; NULL: places have no name */
        const TomlLines *lines; /* borrowed; NULL: places have no line */
        GPtrArray *mistakes;    /* PolicyMistake; NULL for none */
        size_t dropped;         /* how many there were beyond POLICY_MISTAKES_MAX */
        int error;              /* of the first mistake that is no warning; 0 while there is none */
} PolicyDocument;

void policy_document_done(PolicyDocument *document);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PolicyDocument, policy_document_done)

/**
 * policy_document_refuse() - note a mistake
 * @where: the value or key that it is about; absent for the whole file
 *
 * Return: -EINVAL.
 */
int policy_document_refuse(PolicyDocument *document, Jval where, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/** policy_document_limit() - the same for a limit; returns -ENOBUFS */
int policy_document_limit(PolicyDocument *document, Jval where, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/** policy_document_warn() - note what is allowed and does nothing */
void policy_document_warn(PolicyDocument *document, Jval where, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/** policy_document_add() - note a mistake at a place that is known already, such as one of the grammar; 0 for what is not known */
int policy_document_add(PolicyDocument *document, size_t line, size_t column, const char *text);

/** policy_document_line() - the line of a value or key, and its column unless @ret_column is NULL; 0 when they are not known */
size_t policy_document_line(const PolicyDocument *document, Jval where, size_t *ret_column);

/** policy_document_place() - "permissions.toml:12"; a new string, NULL when the file has no name */
char *policy_document_place(const PolicyDocument *document, Jval where);

/** policy_document_sort() - put the mistakes in the order of their places; what has none comes first */
void policy_document_sort(PolicyDocument *document);

/** policy_document_words() - the first mistake with its place, and how many more there are; a new string, NULL for none */
char *policy_document_words(const PolicyDocument *document);
