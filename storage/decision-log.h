/* SPDX-License-Identifier: MIT */
#pragma once

/* The append-only record of who decided what (pains C12): one JSON object a line in
 * `decisions-<number>.jsonl`, rotated at DECISION_FILE_BYTES_MAX, the oldest of DECISION_FILES_MAX files
 * dropped. A line torn by a crash is cut off at the next open; it was never acknowledged. Appending is one
 * write() and no fsync. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DecisionLog DecisionLog;

/**
 * decision_log_open() - open or begin the log in a directory
 * @directory: descriptor of extensions/decisions; duplicated
 *
 * Return: 0; -ELOOP when a link is in the way; another -errno.
 */
int decision_log_open(int directory, DecisionLog **ret);
DecisionLog *decision_log_free(DecisionLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DecisionLog, decision_log_free)

/* One thing that was decided. Every text may be NULL and is then left out. */
typedef struct DecisionRecord {
        uint64_t time_usec; /* CLOCK_REALTIME */
        const char *kind; /* "call", "core-call", "hook", "card", "answer", "grant", "trust", "posture", ...
                           */
        const char *call; /* id of the call it belongs to */
        const char *parent;  /* a nested call: id of the outer one */
        const char *outcome; /* call_outcome_to_string(), or a word of the act: "given", "revoked", "trusted"
                              */
        const char *session;
        const char *plugin;  /* id */
        const char *build;   /* content hash */
        uint64_t generation; /* 0: none */
        const char *tool;
        const char *who_unit; /* the caller: systemd unit, executable, bus name, uid; display only */
        const char *who_exe;
        const char *who_name;
        uint32_t who_uid;
        const char *arguments_digest; /* SHA-256 of the final arguments as they ran */
        const char *original_digest;  /* before a hook revised them; NULL when nobody did */
        const char *arguments_json;   /* the arguments themselves, only when the configuration keeps them */
        const char *posture;
        const char *mode;
        const char *provenance; /* where the wish came from; NULL: from the user */
        const char *card;        /* id of the approval card */
        const char *answered_by; /* the approver */
        uint64_t grant;          /* id of the grant that answered or was given; 0: none */
        const char *hooks;       /* what each listener said: "counter: abstain; guard: deny" */
        const char *trace_json;  /* trace_to_json() of policy/trace.h */
        const char *result; /* how the execution ended: "ok", an error's last word; NULL when it never ran */
        const char *note;   /* a sentence */
        uint64_t duration_usec; /* 0: not measured */
} DecisionRecord;

/**
 * decision_log_append() - write one record
 *
 * A record over DECISION_RECORD_BYTES_MAX loses first its arguments, then the middle of its trace, and says
 * so. Return: 0 or -errno (nothing half-written stays behind).
 */
int decision_log_append(DecisionLog *log, const DecisionRecord *record);

/** decision_log_sync() - make what was appended durable; for the end of the service, or a caller who wants
 * it per record */
int decision_log_sync(DecisionLog *log);

/** decision_log_prune() - remove records older than a time, by whole files; returns how many files went */
int decision_log_prune(DecisionLog *log, uint64_t before_usec);

/* ---- reading ---- */

/* What to look for. Texts match exactly; NULL and 0 match everything. */
typedef struct DecisionFilter {
        uint64_t since_usec;
        uint64_t until_usec;
        const char *call; /* the call itself and everything that belongs to it (card, answer, nested calls)
                           */
        const char *plugin;
        const char *tool;
        const char *outcome;
        const char *session;
        const char *kind;
        unsigned limit; /* 0 or more than DECISION_QUERY_MAX: that */
} DecisionFilter;

/**
 * decision_log_query() - records that match, newest first, each as its line of JSON
 * @ret: char * items; g_ptr_array_unref() it
 *
 * Reads at most all files of the log; to spread that over turns of the loop use a cursor. Lines that are no
 * record are skipped. Return: 0 or -errno.
 */
int decision_log_query(DecisionLog *log, const DecisionFilter *filter, GPtrArray **ret);

typedef struct DecisionCursor DecisionCursor;

/** decision_cursor_new() - begin such a query; the filter is copied. The log must outlive the cursor */
DecisionCursor *decision_cursor_new(DecisionLog *log, const DecisionFilter *filter);
DecisionCursor *decision_cursor_free(DecisionCursor *cursor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DecisionCursor, decision_cursor_free)

/** decision_cursor_step() - look at one more slice (at most 1 MiB); 1: more to do, 0: finished, or -errno */
int decision_cursor_step(DecisionCursor *cursor);

/** decision_cursor_steal() - what was found so far, newest first */
GPtrArray *decision_cursor_steal(DecisionCursor *cursor);

/**
 * decision_story() - tell one record in sentences, for `codewhalectl why`
 * @json: a line that a query gave
 *
 * Return: 0 and a new multi-line text, sanitised; -EBADMSG when it is no record.
 */
int decision_story(const char *json, size_t size, char **ret);

/** decision_stories() - the same for all records of one call, in the order of time (a query gives the newest
 * first) */
int decision_stories(const GPtrArray *lines, char **ret);
