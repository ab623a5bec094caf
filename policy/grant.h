/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person allowed or forbade beyond one call. The keys of approval-keys.h see to it that an update of
 * a plugin inherits nothing. Grants live as long as their session at most. No clock: callers pass the time.
 */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/approval-keys.h"

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
 * For example: tool "mod_counter" of plugin counter, build 1f0c..., with exactly these arguments, in this
 * session. Return: a new sanitised string.
 */
char *grant_words(const ApprovalSubject *subject, const ApprovalKeys *keys, GrantWidth width,
                uint64_t seconds);

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
 * Whether it may be given at all (Decision.offers) is the caller's to check first. The same grant given
 * again renews its expiry and keeps its id.
 *
 * Return: 0; -EINVAL for a width that the keys do not allow; -ENOBUFS at GRANTS_MAX.
 */
int grant_table_give(GrantTable *table, const GrantRequest *request, uint64_t *ret_id);

/** grant_table_find() - the grant that answers this call in this session now, or NULL; expired ones never
 * answer */
const Grant *grant_table_find(
                const GrantTable *table, const char *session, const ApprovalKeys *keys, uint64_t now_usec);

/** grant_table_get() - by id; NULL when there is none */
const Grant *grant_table_get(const GrantTable *table, uint64_t id);

/** grant_table_revoke() - take one back, at once; -ENOENT when there is none */
int grant_table_revoke(GrantTable *table, uint64_t id);

/** grant_table_remove_session() - grants and denials end with their session; returns how many grants went */
size_t grant_table_remove_session(GrantTable *table, const char *session);

/** grant_table_remove_plugin() - the plugin was revoked, changed or uninstalled; returns how many grants
 * went */
size_t grant_table_remove_plugin(GrantTable *table, const char *plugin);

/** grant_table_expire() - drop what has expired; returns the next expiry, 0 when nothing else will */
uint64_t grant_table_expire(GrantTable *table, uint64_t now_usec);

/** grant_table_list() - all grants by id; the array is the caller's (g_ptr_array_unref()), the grants stay
 * ours */
GPtrArray *grant_table_list(const GrantTable *table);

/**
 * grant_table_deny() - remember a no for the rest of the session, under the exact key
 *
 * Return: 0; -ENOBUFS at DENIALS_MAX (the call itself is denied all the same).
 */
int grant_table_deny(GrantTable *table, const char *session, const ApprovalKeys *keys);
bool grant_table_is_denied(const GrantTable *table, const char *session, const ApprovalKeys *keys);
