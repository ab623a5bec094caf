/* SPDX-License-Identifier: MIT */
#pragma once

/* What discovery and validation have to say about a root or a bundle (contract 1.1.1): a level, a code that programs may
 * rely on, a message for people and the path it is about. Messages and paths are safe to show whatever was on the disk. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jwriter.h"

typedef enum DiagnosticCode {
        DIAGNOSTIC_ROOT_SYMLINK,             /* error: discovery root is a link */
        DIAGNOSTIC_ROOT_NOT_DIRECTORY,       /* error: discovery root is something else than a directory */
        DIAGNOSTIC_ROOT_CANONICALIZE_FAILED, /* error */
        DIAGNOSTIC_ROOT_READ_FAILED,         /* error: listing failed, or there are more bundles than we look at */
        DIAGNOSTIC_DUPLICATE_ROOT,           /* warning: two roots are the same directory */
        DIAGNOSTIC_BUNDLE_SYMLINK,           /* error: bundle directory is a link, or holds one */
        DIAGNOSTIC_BUNDLE_CHANGED,           /* error: it changed while we looked */
        DIAGNOSTIC_BUNDLE_TOO_LARGE,         /* error: a budget of contract 1.7 */
        DIAGNOSTIC_BUNDLE_SPECIAL_FILE,      /* error: device, socket, FIFO, hard link */
        DIAGNOSTIC_BUNDLE_FILE_NAME,         /* error: a file name that can't be shown or is reserved */
        DIAGNOSTIC_BUNDLE_READ_FAILED,       /* error: a file or directory could not be read */
        DIAGNOSTIC_MANIFEST_INVALID,         /* error */
        DIAGNOSTIC_MANIFEST_SCHEMA,          /* warning: $schema is not the URL that we know */
        DIAGNOSTIC_MANIFEST_LEGACY,          /* warning: legacy TOML without schema_version */
        DIAGNOSTIC_MCP_INVALID,              /* error: mcp.json, or its hosts against network_hosts */
        DIAGNOSTIC_NAME_CONFLICT,            /* warning: the name belongs to a bundle of higher precedence */
        DIAGNOSTIC_COMPONENT_INACTIVE,       /* warning: declared, but nothing here would use it */
        DIAGNOSTIC_COMPONENT_MISSING,        /* error: a declared path that is not there or of the wrong type */
        DIAGNOSTIC_NATIVE_ENTRY_INVALID,     /* error: breaks the entry rule (1.6) while the feature is on */
        DIAGNOSTIC_NATIVE_ENTRY_MISSING,     /* error */
        DIAGNOSTIC_SKILL_INVALID,            /* warning: a skill package that does not parse */
        DIAGNOSTIC_STAGED_SKILL_INVALID,     /* warning: the same in the sealed copy */
        DIAGNOSTIC_STAGED_INVALID,           /* warning: the sealed copy is gone or altered; trust it again */
        DIAGNOSTIC_STATE_INVALID,            /* error: the state file can't be trusted (2.6) */
        _DIAGNOSTIC_CODE_MAX,
        _DIAGNOSTIC_CODE_INVALID = -EINVAL,
} DiagnosticCode;

/** diagnostic_code_to_string() - the code as contract 1.1.1 spells it, such as "root-symlink" */
const char *diagnostic_code_to_string(DiagnosticCode code);

/** diagnostic_code_is_error() - its level: true for an error, false for a warning */
bool diagnostic_code_is_error(DiagnosticCode code);

typedef struct Diagnostic {
        DiagnosticCode code;
        char *message; /* one line, sanitised, at most DIAGNOSTIC_BYTES_MAX */
        char *path;    /* sanitised; NULL when it is about no path */
} Diagnostic;

/* A list with a bound: after DIAGNOSTICS_MAX further ones are counted, not kept; errors push out warnings. */
typedef struct Diagnostics Diagnostics;

Diagnostics *diagnostics_new(void);
Diagnostics *diagnostics_free(Diagnostics *diagnostics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diagnostics, diagnostics_free)

/**
 * diagnostics_add() - say something
 * @path:   NULL, or what it is about: absolute, or relative to the bundle; any bytes
 * @format: the message; any bytes may come out
 */
void diagnostics_add(Diagnostics *diagnostics, DiagnosticCode code, const char *path, const char *format, ...)
                __attribute__((format(printf, 4, 5)));

/** diagnostics_append() - copy all of @more to the end */
void diagnostics_append(Diagnostics *diagnostics, const Diagnostics *more);

size_t diagnostics_count(const Diagnostics *diagnostics);
const Diagnostic *diagnostics_get(const Diagnostics *diagnostics, size_t index);

/** diagnostics_dropped() - how many did not fit */
size_t diagnostics_dropped(const Diagnostics *diagnostics);

/** diagnostics_has_error() - whether there is one of level error, kept or not */
bool diagnostics_has_error(const Diagnostics *diagnostics);

/** diagnostics_first_error() - the first of level error, or NULL */
const Diagnostic *diagnostics_first_error(const Diagnostics *diagnostics);

/** diagnostics_find() - the first with this code, or NULL */
const Diagnostic *diagnostics_find(const Diagnostics *diagnostics, DiagnosticCode code);

/** diagnostics_write() - as a JSON array of {level, code, message, path} */
void diagnostics_write(const Diagnostics *diagnostics, JWriter *writer);
