/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/grant.h"

#define USEC_PER_SEC      UINT64_C(1000000)
#define WORDS_BYTES_MAX   512
#define GIVER_BYTES_MAX   256
#define SHORT_BUILD_CHARS 12

struct GrantTable {
        GHashTable *by_key;  /* "session\n key" -> Grant, borrowed */
        GHashTable *by_id;   /* uint64_t in the grant -> Grant, owned */
        GHashTable *denials; /* "session\n key" */
        uint64_t last_id;
};

static const char *const width_table[_GRANT_WIDTH_MAX] = {
        [GRANT_ARGUMENTS] = "arguments",
        [GRANT_TOOL] = "tool",
};

const char *grant_width_to_string(GrantWidth width) {
        return width >= 0 && width < _GRANT_WIDTH_MAX ? width_table[width] : NULL;
}

GrantWidth grant_width_from_string(const char *word) {
        for (int i = 0; i < _GRANT_WIDTH_MAX; i++)
                if (g_strcmp0(word, width_table[i]) == 0)
                        return i;

        return _GRANT_WIDTH_INVALID;
}

/* ---- words ---- */

static void append_build(GString *words, const BuildScope *build) {
        g_string_append_printf(words, " of plugin %s (build %.*s)", build->plugin, SHORT_BUILD_CHARS,
                        build->content_hash);
}

static void append_what(GString *words, const ApprovalKeys *keys, GrantWidth width) {
        const char *family = strstr(keys->grouping, "shell:");
        const char *host = strstr(keys->grouping, "net:");

        if (width == GRANT_TOOL)
                g_string_append(words, ", with any arguments");
        else if (strcmp(keys->exact, keys->grouping) != 0 && family)
                g_string_append_printf(
                                words, ", commands that begin with \"%s\"", family + strlen("shell:"));
        else if (strcmp(keys->exact, keys->grouping) != 0)
                g_string_append(words, ", changes to exactly these files");
        else if (host && (host == keys->grouping || keys->extension_origin))
                g_string_append_printf(words, ", anything at %s", host + strlen("net:"));
        else
                g_string_append(words, ", with exactly these arguments");
}

char *grant_words(const ApprovalSubject *subject, const ApprovalKeys *keys, GrantWidth width,
                uint64_t seconds) {
        g_autoptr(GString) words = g_string_new(NULL);

        g_string_append_printf(words, "tool \"%s\"", subject->tool);
        if (subject->build)
                append_build(words, subject->build);
        append_what(words, keys, width);
        if (subject->called_from) {
                g_string_append(words, ", when called by tools");
                append_build(words, subject->called_from);
        }
        g_string_append(words, ", in this session only");
        if (seconds > 0)
                g_string_append_printf(words, " and for %" G_GUINT64_FORMAT " s at most", seconds);

        return sanitize_line(words->str, WORDS_BYTES_MAX, NULL);
}

/* ---- the table ---- */

static void grant_free(void *data) {
        Grant *grant = data;

        if (!grant)
                return;
        g_free(grant->key);
        g_free(grant->session);
        g_free(grant->plugin);
        g_free(grant->tool);
        g_free(grant->words);
        g_free(grant->giver);
        g_free(grant);
}

GrantTable *grant_table_new(void) {
        GrantTable *table = g_new0(GrantTable, 1);

        table->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        table->by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, grant_free);
        table->denials = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return table;
}

GrantTable *grant_table_free(GrantTable *table) {
        if (!table)
                return NULL;

        g_hash_table_unref(table->by_key);
        g_hash_table_unref(table->by_id);
        g_hash_table_unref(table->denials);
        g_free(table);
        return NULL;
}

/* Session ids are ours and hold no line end, so the two parts can't run into each other. */
static char *session_key(const char *session, const char *key) {
        assert(session && !strchr(session, '\n'));
        return g_strconcat(session, "\n", key, NULL);
}

static const char *key_of_width(const ApprovalKeys *keys, GrantWidth width) {
        return width == GRANT_ARGUMENTS ? keys->grouping : width == GRANT_TOOL ? keys->any : NULL;
}

static Grant *grant_new(const GrantRequest *request, const char *key, uint64_t id) {
        Grant *grant = g_new0(Grant, 1);
        const BuildScope *build = request->subject->called_from ? request->subject->called_from
                                                                : request->subject->build;

        grant->id = id;
        grant->width = request->width;
        grant->key = g_strdup(key);
        grant->session = g_strdup(request->session);
        grant->plugin = build ? g_strdup(build->plugin) : NULL;
        grant->tool = g_strdup(request->subject->tool);
        return grant;
}

/* What a second giving of the same grant changes. */
static void grant_renew(Grant *grant, const GrantRequest *request) {
        g_free(grant->words);
        grant->words = grant_words(request->subject, request->keys, request->width, request->seconds);
        g_free(grant->giver);
        grant->giver = sanitize_line(request->giver ? request->giver : "", GIVER_BYTES_MAX, NULL);
        grant->given_usec = request->now_usec;
        grant->expires_usec = 0;
        if (request->seconds > 0)
                grant->expires_usec = request->seconds < (UINT64_MAX - request->now_usec) / USEC_PER_SEC
                                                      ? request->now_usec + request->seconds * USEC_PER_SEC
                                                      : UINT64_MAX;
}

int grant_table_give(GrantTable *table, const GrantRequest *request, uint64_t *ret_id) {
        const char *key = key_of_width(request->keys, request->width);
        g_autofree char *place = NULL;
        Grant *grant;

        if (!key)
                return -EINVAL;

        place = session_key(request->session, key);
        grant = g_hash_table_lookup(table->by_key, place);
        if (!grant) {
                if (g_hash_table_size(table->by_id) >= GRANTS_MAX)
                        return -ENOBUFS;
                grant = grant_new(request, key, ++table->last_id);
                g_hash_table_insert(table->by_id, &grant->id, grant);
                g_hash_table_insert(table->by_key, g_steal_pointer(&place), grant);
        }
        grant_renew(grant, request);
        *ret_id = grant->id;
        return 0;
}

static const Grant *find_key(
                const GrantTable *table, const char *session, const char *key, uint64_t now_usec) {
        g_autofree char *place = NULL;
        const Grant *grant;

        if (!key)
                return NULL;
        place = session_key(session, key);
        grant = g_hash_table_lookup(table->by_key, place);
        return grant && (grant->expires_usec == 0 || now_usec < grant->expires_usec) ? grant : NULL;
}

const Grant *grant_table_find(
                const GrantTable *table, const char *session, const ApprovalKeys *keys, uint64_t now_usec) {
        const Grant *grant = find_key(table, session, keys->grouping, now_usec);

        return grant ? grant : find_key(table, session, keys->any, now_usec);
}

const Grant *grant_table_get(const GrantTable *table, uint64_t id) {
        return g_hash_table_lookup(table->by_id, &id);
}

int grant_table_revoke(GrantTable *table, uint64_t id) {
        Grant *grant = g_hash_table_lookup(table->by_id, &id);
        g_autofree char *place = NULL;

        if (!grant)
                return -ENOENT;

        place = session_key(grant->session, grant->key);
        (void) g_hash_table_remove(table->by_key, place);
        (void) g_hash_table_remove(table->by_id, &id); /* by our copy: the grant's own id goes with it */
        return 0;
}

static size_t remove_where(GrantTable *table, const char *session, const char *plugin) {
        g_autoptr(GPtrArray) grants = grant_table_list(table);
        size_t removed = 0;

        for (guint i = 0; i < grants->len; i++) {
                const Grant *grant = grants->pdata[i];

                if (session ? strcmp(grant->session, session) == 0 : g_strcmp0(grant->plugin, plugin) == 0) {
                        (void) grant_table_revoke(table, grant->id);
                        removed++;
                }
        }
        return removed;
}

static gboolean denial_is_of_session(void *key, void *value, void *session) {
        size_t size = strlen(session);

        (void) value;
        return strncmp(key, session, size) == 0 && ((const char *) key)[size] == '\n';
}

size_t grant_table_remove_session(GrantTable *table, const char *session) {
        (void) g_hash_table_foreach_remove(table->denials, denial_is_of_session, (void *) session);
        return remove_where(table, session, NULL);
}

size_t grant_table_remove_plugin(GrantTable *table, const char *plugin) {
        return remove_where(table, NULL, plugin);
}

uint64_t grant_table_expire(GrantTable *table, uint64_t now_usec) {
        g_autoptr(GPtrArray) grants = grant_table_list(table);
        uint64_t next = 0;

        for (guint i = 0; i < grants->len; i++) {
                const Grant *grant = grants->pdata[i];

                if (grant->expires_usec == 0)
                        continue;
                if (grant->expires_usec <= now_usec)
                        (void) grant_table_revoke(table, grant->id);
                else if (next == 0 || grant->expires_usec < next)
                        next = grant->expires_usec;
        }
        return next;
}

static int compare_ids(const void *a, const void *b) {
        const Grant *left = *(Grant *const *) a, *right = *(Grant *const *) b;

        return (left->id > right->id) - (left->id < right->id);
}

GPtrArray *grant_table_list(const GrantTable *table) {
        GPtrArray *grants = g_ptr_array_sized_new(g_hash_table_size(table->by_id));
        GHashTableIter iter;
        void *grant;

        g_hash_table_iter_init(&iter, table->by_id);
        while (g_hash_table_iter_next(&iter, NULL, &grant))
                g_ptr_array_add(grants, grant);
        g_ptr_array_sort(grants, compare_ids);
        return grants;
}

int grant_table_deny(GrantTable *table, const char *session, const ApprovalKeys *keys) {
        g_autofree char *place = session_key(session, keys->exact);

        if (g_hash_table_contains(table->denials, place))
                return 0;
        if (g_hash_table_size(table->denials) >= DENIALS_MAX)
                return -ENOBUFS;

        g_hash_table_add(table->denials, g_steal_pointer(&place));
        return 0;
}

bool grant_table_is_denied(const GrantTable *table, const char *session, const ApprovalKeys *keys) {
        g_autofree char *place = session_key(session, keys->exact);

        return g_hash_table_contains(table->denials, place);
}
