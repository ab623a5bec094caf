/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/session-core.h"
#include "service/session.h"

struct SessionTable {
        uint64_t last_number;
        GPtrArray *sessions;
        GHashTable *implicit; /* client -> borrowed Session */
        Posture default_posture;
        const SessionEvents *events;
        void *userdata;
};

Session *session_ref(Session *session) {
        session->n_ref++;
        return session;
}

Session *session_unref(Session *session) {
        if (!session || --session->n_ref > 0)
                return NULL;

        g_free(session->id);
        g_free(session->client);
        g_free(session->label);
        g_free(session->workspace);
        workspace_free(session->folder);
        g_free(session->model);
        prompt_snapshot_free(session->snapshot);
        selection_free(session->selection);
        session_core_unref(session->core);
        g_free(session);
        return NULL;
}

static void release_session(void *session) {
        session_unref(session);
}

SessionTable *session_table_new(Posture default_posture) {
        SessionTable *table = g_new0(SessionTable, 1);

        table->sessions = g_ptr_array_new_with_free_func(release_session);
        table->implicit = g_hash_table_new(g_str_hash, g_str_equal);
        table->default_posture = default_posture;
        return table;
}

SessionTable *session_table_free(SessionTable *table) {
        if (!table)
                return NULL;

        g_hash_table_unref(table->implicit);
        for (size_t i = 0; i < table->sessions->len; i++) {
                Session *session = g_ptr_array_index(table->sessions, i);

                session->closed = true;
                session->table = NULL;
        }
        g_ptr_array_unref(table->sessions);
        g_free(table);
        return NULL;
}

void session_table_set_events(SessionTable *table, const SessionEvents *events, void *userdata) {
        table->events = events;
        table->userdata = userdata;
}

void session_table_set_default_posture(SessionTable *table, Posture posture) {
        table->default_posture = posture;
}

static int check_text(const char *name, const char *text, size_t bytes_max, sd_bus_error *reterr) {
        SanitizeFlags flags = 0;
        g_autofree char *clean = NULL;

        if (!text)
                return 0;
        clean = sanitize_line(text, bytes_max, &flags);
        if (flags)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option '%s' must be at most %zu bytes of plain text on one line.",
                                  name, bytes_max);
        return 0;
}

static int check_options(
                const SessionTable *table, const SessionOptions *options, Mode *ret_mode, Posture *ret_posture,
                sd_bus_error *reterr) {
        Mode mode = options->mode ? mode_from_string(options->mode) : MODE_AGENT;
        Posture posture = options->posture ? posture_from_string(options->posture) : table->default_posture;
        int r;

        if (mode < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "There is no mode '%s'; known are agent, plan and operate.",
                                  options->mode);
        if (posture < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                  "There is no posture '%s'; known are ask, auto-review, full-access and never.", options->posture);
        if (options->posture && posture_is_raise(table->default_posture, posture))
                return errors_set(reterr, ERROR_NOT_AUTHORIZED,
                                  "Posture '%s' is above the configured default and needs a person's confirmation.",
                                  options->posture);
        if (options->workspace && options->workspace[0] != '/')
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'workspace' must be an absolute path.");

        r = check_text("label", options->label, SESSION_LABEL_BYTES_MAX, reterr);
        if (r >= 0)
                r = check_text("model", options->model, SESSION_MODEL_BYTES_MAX, reterr);
        if (r >= 0)
                r = check_text("workspace", options->workspace, BUNDLE_PATH_BYTES_MAX, reterr);
        if (r < 0)
                return r;

        *ret_mode = mode;
        *ret_posture = posture;
        return 0;
}

static unsigned count_of_client(const SessionTable *table, const char *client) {
        unsigned n = 0;

        for (size_t i = 0; i < table->sessions->len; i++)
                n += strcmp(((Session *) g_ptr_array_index(table->sessions, i))->client, client) == 0;
        return n;
}

static Session *session_new(SessionTable *table, const char *client, const SessionOptions *options, Mode mode, Posture posture) {
        Session *session = g_new0(Session, 1);

        session->n_ref = 1;
        session->table = table;
        session->number = ++table->last_number;
        session->id = g_strdup_printf("s%" G_GUINT64_FORMAT, session->number);
        session->client = g_strdup(client);
        session->label = g_strdup(options->label ?: "");
        session->workspace = options->workspace ? g_canonicalize_filename(options->workspace, "/") : g_strdup("");
        session->model = g_strdup(options->model ?: "");
        session->mode = mode;
        session->posture = posture;
        return session;
}

int session_table_open(
                SessionTable *table, const char *client, const SessionOptions *options, Session **ret, sd_bus_error *reterr) {
        Session *session;
        Posture posture = POSTURE_NEVER;
        Mode mode = MODE_PLAN;
        int r;

        if (table->sessions->len >= SESSIONS_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "There are %u sessions already, which is the most.", SESSIONS_MAX);
        if (count_of_client(table, client) >= CLIENT_SESSIONS_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "One client may have at most %u sessions.", CLIENT_SESSIONS_MAX);
        r = check_options(table, options, &mode, &posture, reterr);
        if (r < 0)
                return r;

        session = session_new(table, client, options, mode, posture);
        if (session->workspace[0])
                r = workspace_open(session->workspace, &session->folder, reterr);
        if (r >= 0)
                r = selection_new(&options->lists, session->workspace, &session->selection, reterr);
        if (r < 0) {
                session_unref(session);
                return r;
        }
        g_ptr_array_add(table->sessions, session);
        if (table->events)
                table->events->opened(session, table->userdata);
        *ret = session;
        return 0;
}

int session_table_implicit(SessionTable *table, const char *client, Session **ret, sd_bus_error *reterr) {
        const SessionOptions options = {};
        Session *session = g_hash_table_lookup(table->implicit, client);
        int r;

        if (session) {
                *ret = session;
                return 0;
        }
        r = session_table_open(table, client, &options, &session, reterr);
        if (r < 0)
                return r;

        session->implicit = true;
        g_hash_table_insert(table->implicit, session->client, session);
        *ret = session;
        return 0;
}

Session *session_table_find(const SessionTable *table, uint64_t number) {
        for (size_t i = 0; i < table->sessions->len; i++) {
                Session *session = g_ptr_array_index(table->sessions, i);

                if (session->number == number)
                        return session;
        }
        return NULL;
}

void session_table_foreach(const SessionTable *table, void (*each)(Session *session, void *userdata), void *userdata) {
        for (size_t i = 0; i < table->sessions->len; i++)
                each(g_ptr_array_index(table->sessions, i), userdata);
}

void session_close(Session *session) {
        SessionTable *table = session->table;
        g_autoptr(Session) kept = session_ref(session);

        (void) kept; /* until the last one who hears of it is done */
        if (session->closed || !table)
                return;

        session->closed = true;
        session->table = NULL;
        if (session->implicit)
                g_hash_table_remove(table->implicit, session->client);
        g_ptr_array_remove(table->sessions, session);
        if (table->events)
                table->events->closed(session, table->userdata);
}

void session_table_client_gone(SessionTable *table, const char *client) {
        for (size_t i = table->sessions->len; i > 0; i--) {
                Session *session = i <= table->sessions->len ? g_ptr_array_index(table->sessions, i - 1) : NULL;

                if (session && strcmp(session->client, client) == 0)
                        session_close(session);
        }
}

static void session_changed(Session *session) {
        if (session->table && session->table->events)
                session->table->events->changed(session, session->table->userdata);
}

int session_set_posture(Session *session, const char *word, sd_bus_error *reterr) {
        Posture posture = posture_from_string(word);

        if (posture < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                  "There is no posture '%s'; known are ask, auto-review, full-access and never.", word);
        if (posture_is_raise(session->posture, posture))
                return errors_set(reterr, ERROR_NOT_AUTHORIZED, "Raising a session from %s to %s needs a person's confirmation.",
                                  posture_to_string(session->posture), posture_to_string(posture));

        session->posture = posture;
        session_changed(session);
        return 0;
}

void session_set_core(Session *session, SessionCore *core) {
        if (session->core)
                session->core->gone = true;
        session_core_unref(session->core);
        session->core = core;
        session_changed(session);
}

void session_raise_posture(Session *session, Posture posture) {
        session->posture = posture;
        session_changed(session);
}

int session_set_mode(Session *session, const char *word, sd_bus_error *reterr) {
        Mode mode = mode_from_string(word);

        if (mode < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "There is no mode '%s'; known are agent, plan and operate.", word);

        if (mode_is_raise(session->posture, session->mode, mode))
                return errors_set(reterr, ERROR_NOT_AUTHORIZED, "Leaving plan mode with posture %s needs a person's confirmation.",
                                  posture_to_string(session->posture));

        session->mode = mode;
        session_changed(session);
        return 0;
}

void session_raise_mode(Session *session, Mode mode) {
        session->mode = mode;
        session_changed(session);
}
