/* SPDX-License-Identifier: MIT */
#pragma once

/* The heartbeat of one host (contract 3.10): a ping every few seconds, late after a while, lost after a longer one. */

#include "service/rpc.h"

typedef struct Heartbeat Heartbeat;

typedef struct HeartbeatEvents {
        void (*late)(void *userdata);
        void (*beat)(void *userdata); /* a pong, late or not; may be NULL */
        void (*back)(void *userdata); /* a pong after it was late */
        void (*lost)(const char *reason, void *userdata); /* or the pong was no pong */
} HeartbeatEvents;

/** heartbeat_new() - begin; @rpc is borrowed and must outlive it */
int heartbeat_new(sd_event *event, Rpc *rpc, const HeartbeatEvents *events, void *userdata, Heartbeat **ret);
Heartbeat *heartbeat_free(Heartbeat *heartbeat);
