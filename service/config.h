/* SPDX-License-Identifier: MIT */
#pragma once

/* What the user's config.toml says. A missing file means the defaults; a broken one keeps the last good configuration and
 * is reported with its line. Where nothing was ever read there is none: no call runs then and no person is asked to let
 * anything through, for a guard or a limit may be among what can't be read. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "common/jdoc.h"
#include "policy/posture.h"
#include "service/codewhale-home.h"
#include "service/confirm.h"
#include "service/remote-source.h"
#include "service/runtime.h"

typedef struct Config {
        bool extension_host;     /* [features] extension_host */
        RuntimeKind runtime;     /* [extension_host] runtime */
        char *node, *bun;        /* [extension_host] node, bun; absolute */
        uint64_t memory_bytes;   /* [extension_host] memory_mib */
        unsigned tasks;          /* [extension_host] tasks */
        bool require_memory_limit; /* [extension_host] require_memory_limit: refuse where MemoryMax= is not enforced */
        bool eager;              /* [extension_host] activation */
        uint64_t idle_msec;      /* [extension_host] idle_sec; 0: a host is never stopped for that */
        Posture posture;         /* [policy] posture */
        ConfirmMethod confirm;   /* [trust] confirm */
        bool keep_arguments;     /* [decisions] keep_arguments: in the record, beside their digest */
        bool notify;             /* [approvals] notify: a desktop notification for each card */
        NetworkPolicy network;   /* [install] network */
        char *certificates;      /* [install] certificates; absolute, or NULL */
        uint64_t approval_timeout_msec; /* [approvals] timeout_sec; 0: none */
        bool web_fetch;          /* [core] web_fetch: the built-in core has a tool that reaches the network */
        uint64_t web_fetch_msec; /* [core] web_fetch_sec: for one page, redirects included */
        char **web_fetch_private; /* [core] web_fetch_private: prefixes of addresses that are not the world's; NULL for none */
        char **guards;           /* [plugins."<name>"] guard: their names; NULL for none */
        char *error;             /* what is wrong with the file; NULL when nothing is */
        bool good;               /* it was read once, if only as missing */
        char *text;              /* the file as JSON; owns what @doc reads */
        Jdoc *doc;
} Config;

Config *config_new(void); /* the defaults */
Config *config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/**
 * config_load() - read config.toml of a home
 *
 * On failure the values stay, and config->error names the first mistake, "PATH:LINE:COLUMN: what is wrong", and how many more
 * there are. Nothing of the file is quoted but names of tables and settings: it may hold secrets.
 */
int config_load(Config *config, CodewhaleHome *home, sd_bus_error *reterr);

/** config_get_unreadable() - why nothing may run, when there is no configuration that was ever read; else NULL */
const char *config_get_unreadable(const Config *config);

/** config_is_eager() - whether the plugin's host runs always: [plugins."<name>"] activation, else [extension_host] activation */
bool config_is_eager(const Config *config, const char *plugin_name);

/**
 * config_for_plugin() - the table [plugins."<name>".config] as JSON (contract 4.11)
 * @ret_json: a new string; "{}" when there is none
 *
 * Return: 0; -EINVAL with the plugin and the rule named, when it is over a limit.
 */
int config_for_plugin(const Config *config, const char *plugin_name, char **ret_json, sd_bus_error *reterr);
