/* SPDX-License-Identifier: MIT */
#pragma once

/* A source of a bundle that lies elsewhere (contract 2.9): "https://…", "http://" to this very machine, or
 * "github:owner/repo[@ref]". Pure: what is fetched, and how it may be shown. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Whether anything is fetched: [install] network of the configuration */
typedef enum NetworkPolicy {
        NETWORK_ASK,   /* only what the caller says that a person wants fetched */
        NETWORK_DENY,
        NETWORK_ALLOW, /* also without */
        _NETWORK_POLICY_MAX,
        _NETWORK_POLICY_INVALID = -EINVAL,
} NetworkPolicy;

NetworkPolicy network_policy_from_string(const char *word);

typedef struct RemoteSource {
        char *text; /* as it was given; parses back to the same source */
        char *url;  /* what is fetched */
        char *shown; /* the address without a query, which may hold a secret; for people and errors */
        bool plain; /* http, and so to this machine only */
} RemoteSource;

/** remote_source_is_one() - whether @text has a scheme of ours; it may still be refused by remote_source_parse() */
bool remote_source_is_one(const char *text);

/**
 * remote_source_parse() - check an address
 *
 * At most DOWNLOAD_URL_BYTES_MAX printable ASCII characters; no user name or password, no fragment; http only to
 * localhost, 127.0.0.0/8 and [::1]. Return: 0; ERROR_INVALID_ARGUMENTS with words that quote no query; ERROR_NOT_SUPPORTED
 * for another scheme.
 */
int remote_source_parse(const char *text, RemoteSource **ret, sd_bus_error *reterr);
RemoteSource *remote_source_free(RemoteSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RemoteSource, remote_source_free)

/**
 * remote_source_check_policy() - whether it may be fetched
 * @approved: the caller says so
 *
 * Return: 0; ERROR_NETWORK_APPROVAL; ERROR_NETWORK_DENIED.
 */
int remote_source_check_policy(const RemoteSource *source, NetworkPolicy policy, bool approved, sd_bus_error *reterr);

/** remote_source_show() - any source of a marker as it may be shown: an address without its query; a new string */
char *remote_source_show(const char *text);
