/* SPDX-License-Identifier: MIT */
#pragma once

/* Sessions: under which posture and mode a client's calls are decided. A session belongs to one connection and ends with
 * it; grants, denials, cards and calls end with the session. A client that opens none has an implicit one. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "policy/posture.h"
#include "prompt/section-registry.h"
#include "service/selection.h"
#include "service/workspace.h"

typedef struct SessionTable SessionTable;

typedef struct Session {
        unsigned n_ref;
        uint64_t number;
        char *id;     /* "s1"; never used again while the service runs */
        char *client; /* unique name of the connection that it belongs to */
        char *label;
        char *workspace; /* absolute canonical path, or "" */
        Workspace *folder; /* the same, held; NULL for none */
        char *model;
        struct SessionCore *core; /* that its client offers (session-core.h); NULL for none */
        Mode mode;
        Posture posture;
        Selection *selection; /* what it may use */
        bool implicit;
        bool closed;
        PromptSnapshot *snapshot; /* the last one that it was given; NULL before the first */
        SessionTable *table;
} Session;

typedef struct SessionOptions {
        const char *label;
        const char *workspace;
        const char *model;
        const char *mode;    /* NULL: agent */
        const char *posture; /* NULL: the configured default */
        SelectionLists lists;
} SessionOptions;

typedef struct SessionEvents {
        void (*opened)(Session *session, void *userdata);
        void (*changed)(Session *session, void *userdata);
        void (*closed)(Session *session, void *userdata); /* it is out of the table; nothing new may refer to it */
} SessionEvents;

Session *session_ref(Session *session);
Session *session_unref(Session *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Session, session_unref)

SessionTable *session_table_new(Posture default_posture);
SessionTable *session_table_free(SessionTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SessionTable, session_table_free)
void session_table_set_events(SessionTable *table, const SessionEvents *events, void *userdata);
void session_table_set_default_posture(SessionTable *table, Posture posture);

/**
 * session_table_open() - a new session of @client
 * @ret: borrowed
 *
 * full-access can't be asked for here: raising is a personal act. Return: 0; ERROR_INVALID_OPTION;
 * ERROR_LIMIT_EXCEEDED (SESSIONS_MAX, CLIENT_SESSIONS_MAX); ERROR_NOT_AUTHORIZED for full-access.
 */
int session_table_open(
                SessionTable *table, const char *client, const SessionOptions *options, Session **ret, sd_bus_error *reterr);

/** session_table_implicit() - the session of a client that names none, made at the first use */
int session_table_implicit(SessionTable *table, const char *client, Session **ret, sd_bus_error *reterr);

/** session_table_find() - by number; NULL when there is none (any more) */
Session *session_table_find(const SessionTable *table, uint64_t number);

void session_table_foreach(const SessionTable *table, void (*each)(Session *session, void *userdata), void *userdata);

/** session_close() - end it; harmless when it has ended */
void session_close(Session *session);

/** session_table_client_gone() - a connection left the bus: its sessions end */
void session_table_client_gone(SessionTable *table, const char *client);

/** session_set_posture() - 0; ERROR_INVALID_ARGUMENTS; ERROR_NOT_AUTHORIZED when it would raise to full-access */
int session_set_posture(Session *session, const char *word, sd_bus_error *reterr);

/** session_set_core() - who runs core tools for it from now on; takes @core, NULL for nobody of the client's */
void session_set_core(Session *session, struct SessionCore *core);

/** session_raise_posture() - set any posture: a person has confirmed it */
void session_raise_posture(Session *session, Posture posture);

/** session_set_mode() - 0; ERROR_INVALID_ARGUMENTS; ERROR_NOT_AUTHORIZED when it needs a person (mode_is_raise()) */
int session_set_mode(Session *session, const char *word, sd_bus_error *reterr);

/** session_raise_mode() - set any mode: a person has confirmed it */
void session_raise_mode(Session *session, Mode mode);
