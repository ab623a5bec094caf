/* SPDX-License-Identifier: MIT */
#pragma once

/* The core of a session: who runs core tools for it. A client may offer one of its own (Sessions.RegisterCore); a session
 * with a workspace has our built-in one otherwise. */

#include "service/core-tool.h"

/* A file that a card was bound to; paths are relative to the workspace, @sha256 is "" for one that was not there. */
typedef struct CoreOperand {
        char *path;
        char *sha256;
} CoreOperand;

/* Borrowed for the duration of the call it is passed to. */
typedef struct CoreRequest {
        const char *call_id;
        const char *parent; /* id of the extension's call */
        const char *plugin; /* the extension that asks */
        const CoreTool *tool;
        const char *name; /* as it was called */
        const char *input;
        size_t input_size;
        const char *workspace; /* "" for none */
        uint64_t device, inode; /* of the workspace when the session began */
        const GPtrArray *operands; /* CoreOperand; NULL for none */
} CoreRequest;

typedef struct CoreAnswer {
        const char *json; /* as core_result_shape() takes it; NULL when there is none */
        size_t size;
        const char *error_name;    /* of errors.h; NULL when there is an answer */
        const char *error_message; /* for people */
} CoreAnswer;

/* Called once, from the loop, never from within start() or cancel(). */
typedef void (*CoreDone)(const CoreAnswer *answer, void *userdata);

typedef struct CoreBackend {
        /* @ret_job is for cancel() and dead once @done was called. Return: 0 or -errno with words in @reterr. */
        int (*start)(void *core, const CoreRequest *request, CoreDone done, void *userdata, void **ret_job, sd_bus_error *reterr);
        void (*cancel)(void *job); /* @done is not called any more */
        void (*free)(void *core);
        bool (*offers)(void *core, const CoreTool *tool); /* whether a tool can be called just now; NULL: always */
} CoreBackend;

typedef struct SessionCore {
        unsigned n_ref;
        const char *kind; /* "client", "built-in" */
        CoreTools *tools;
        const CoreBackend *backend;
        void *core;
        bool gone; /* its client took it back */
} SessionCore;

/** session_core_new() - takes @core; backend->free() gets it in the end */
SessionCore *session_core_new(const char *kind, CoreTools *tools, const CoreBackend *backend, void *core);
SessionCore *session_core_ref(SessionCore *core);
SessionCore *session_core_unref(SessionCore *core);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SessionCore, session_core_unref)

/** session_core_offers() - whether a tool of it can be called just now; the configuration may have switched one off */
bool session_core_offers(const SessionCore *core, const CoreTool *tool);

void core_operand_free(void *operand);
