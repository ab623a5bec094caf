/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person allowed or forbade beyond one call, and the keys that say what exactly (contract 5.4.1). A key names the
 * full subject: plugin, build, tool and arguments. Other bytes, another plugin or other arguments make another key, so
 * nothing is inherited by an update. Grants live as long as their session at most. No clock: callers pass the time. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/jdoc.h"

/* ---- keys ---- */

/* Which build of which plugin. The last three are given together or not at all: they narrow to one selected entry. */
typedef struct BuildScope {
        const char *plugin;       /* plugin id */
        const char *content_hash; /* of the reviewed bytes */
        const char *entry;        /* NULL or the entry's path */
        const char *selection;
        const char *boot;
} BuildScope;

typedef struct ApprovalSubject {
        const char *tool;              /* as registered; for core tools the policy name (tool-name.h) */
        const BuildScope *build;       /* of the extension that owns the tool; NULL for a core tool */
        const BuildScope *called_from; /* a nested call: the extension that makes it; else NULL */
} ApprovalSubject;

typedef struct ApprovalKeys {
        char *exact;    /* names these arguments; denials are kept under it */
        char *grouping; /* what a session grant for "this" covers */
        char *any;      /* any arguments of this tool; NULL where no such grant may be given */
        bool extension_origin;
} ApprovalKeys;

void approval_keys_done(ApprovalKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ApprovalKeys, approval_keys_done)

/**
 * approval_keys_make() - the keys of one call
 * @arguments: the final arguments, an object; the order of their members does not matter
 *
 * Return: 0; -EINVAL when the subject lacks a part.
 */
int approval_keys_make(const ApprovalSubject *subject, Jval arguments, ApprovalKeys *ret);

/** arguments_hash() - the first 16 hex digits of the SHA-256 of the canonical arguments; a new string */
char *arguments_hash(Jval arguments);

/* ---- scope in words ---- */

typedef enum GrantWidth {
        GRANT_ARGUMENTS, /* this tool with exactly these arguments (or this command family, this host) */
        GRANT_TOOL,      /* this tool with any arguments */
        _GRANT_WIDTH_MAX,
        _GRANT_WIDTH_INVALID = -EINVAL,
} GrantWidth;

const char *grant_width_to_string(GrantWidth width); /* "arguments", "tool" */
GrantWidth grant_width_from_string(const char *word);

#define GRANT_OFFER(width) (1u << (width))

/**
 * grant_words() - the scope of a grant as a person reads it before giving it
 *
 * For example: tool "mod_counter" of plugin counter, build 1f0c..., with exactly these arguments, in this session.
 * Return: a new sanitised string.
 */
char *grant_words(const ApprovalSubject *subject, const ApprovalKeys *keys, GrantWidth width, uint64_t seconds);

/* ---- the table ---- */

typedef struct GrantTable GrantTable;

typedef struct Grant {
        uint64_t id;
        GrantWidth width;
        char *key;
        char *session;
        char *plugin; /* whose bytes it trusts; NULL for a client's core call */
        char *tool;
        char *words;
        char *giver; /* who gave it */
        uint64_t given_usec;
        uint64_t expires_usec; /* 0: with the session */
} Grant;

GrantTable *grant_table_new(void);
GrantTable *grant_table_free(GrantTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GrantTable, grant_table_free)

typedef struct GrantRequest {
        const char *session;
        const ApprovalSubject *subject;
        const ApprovalKeys *keys;
        GrantWidth width;
        const char *giver;
        uint64_t now_usec;
        uint64_t seconds; /* 0: as long as the session */
} GrantRequest;

/**
 * grant_table_give() - remember a yes
 *
 * Whether it may be given at all (Decision.offers) is the caller's to check first. The same grant given again renews its
 * expiry and keeps its id.
 *
 * Return: 0; -EINVAL for a width that the keys do not allow; -ENOBUFS at GRANTS_MAX.
 */
int grant_table_give(GrantTable *table, const GrantRequest *request, uint64_t *ret_id);

/** grant_table_find() - the grant that answers this call in this session now, or NULL; expired ones never answer */
const Grant *grant_table_find(
                const GrantTable *table, const char *session, const ApprovalKeys *keys, uint64_t now_usec);

/** grant_table_get() - by id; NULL when there is none */
const Grant *grant_table_get(const GrantTable *table, uint64_t id);

/** grant_table_revoke() - take one back, at once; -ENOENT when there is none */
int grant_table_revoke(GrantTable *table, uint64_t id);

/** grant_table_remove_session() - grants and denials end with their session; returns how many grants went */
size_t grant_table_remove_session(GrantTable *table, const char *session);

/** grant_table_remove_plugin() - the plugin was revoked, changed or uninstalled; returns how many grants went */
size_t grant_table_remove_plugin(GrantTable *table, const char *plugin);

/** grant_table_expire() - drop what has expired; returns the next expiry, 0 when nothing else will */
uint64_t grant_table_expire(GrantTable *table, uint64_t now_usec);

/** grant_table_list() - all grants by id; the array is the caller's (g_ptr_array_unref()), the grants stay ours */
GPtrArray *grant_table_list(const GrantTable *table);

/**
 * grant_table_deny() - remember a no for the rest of the session, under the exact key
 *
 * Return: 0; -ENOBUFS at DENIALS_MAX (the call itself is denied all the same).
 */
int grant_table_deny(GrantTable *table, const char *session, const ApprovalKeys *keys);
bool grant_table_is_denied(const GrantTable *table, const char *session, const ApprovalKeys *keys);
