/* SPDX-License-Identifier: MIT */
#pragma once

/* The methods that a host may send (contract 3.17, host to core), each with its kind, tiers and parameters. There is
 * deliberately none that expresses approval, trust, enablement, credentials, sessions or permissions. */

#include <stdbool.h>

#include "service/wire-shape.h"

typedef enum HostTier {
        HOST_TIER_PLUGIN, /* reviewed extensions */
        HOST_TIER_STRIP,  /* erases types at trust time; runs no extension */
        _HOST_TIER_MAX,
        _HOST_TIER_INVALID = -EINVAL,
} HostTier;

const char *host_tier_to_string(HostTier tier);

typedef enum WireMethodId {
        WIRE_HELLO,
        WIRE_READY,
        WIRE_REGISTER,
        WIRE_UNREGISTER,
        WIRE_CORE_CALL,
        WIRE_STORAGE_GET,
        WIRE_STORAGE_SET,
        WIRE_STORAGE_DELETE,
        WIRE_FAULTED,
        WIRE_LOG,
        WIRE_CANCEL,
        _WIRE_METHOD_MAX,
} WireMethodId;

typedef struct WireMethod {
        WireMethodId id;
        const char *name;
        bool request;   /* needs an id; a notification must not have one */
        unsigned tiers; /* bits 1 << HostTier */
        const ShapeField *fields;
} WireMethod;

/** wire_method_find() - the method of that name that a host of @tier may send; NULL when there is none */
const WireMethod *wire_method_find(const char *name, HostTier tier);

/** wire_method_get() - a method by id, for tests that walk the table */
const WireMethod *wire_method_get(WireMethodId id);

/**
 * wire_register_check() - the rule of contract 3.17 on which kinds of registration carry a schema or a hint
 * @ret_reason: what is wrong, a new string; set only on failure
 *
 * Return: 0 or -EBADMSG.
 */
int wire_register_check(Jval params, char **ret_reason);

/**
 * wire_registration_check() - whether a value is a registration as registry/register has one, but without an owner
 * @ret_reason: as above
 *
 * Return: 0 or -EBADMSG.
 */
int wire_registration_check(Jval registration, char **ret_reason);

#define STORAGE_VERSION_CHARS_MAX 20u /* a 64 bit number in decimal: more than a JSON number holds exactly */

/* JSON-RPC error codes (contract 3.16, and ours for storage) */
enum {
        RPC_PARSE_ERROR = -32700,
        RPC_INVALID_REQUEST = -32600,
        RPC_METHOD_NOT_FOUND = -32601,
        RPC_INVALID_PARAMS = -32602,
        RPC_INTERNAL = -32603,
        RPC_EXECUTION_FAILED = -32000,
        RPC_NOT_AVAILABLE = -32001,
        RPC_REFUSED = -32002,
        RPC_DENIED = -32003,
        RPC_STORAGE_LIMIT = -32010,
        RPC_STORAGE_CORRUPT = -32011,
        RPC_STORAGE_IO = -32012,
        RPC_STORAGE_STALE = -32013, /* the record is not the one that was read any more */
        RPC_CANCELLED = -32800,
};
