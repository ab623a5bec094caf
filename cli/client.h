/* SPDX-License-Identifier: MIT */
#pragma once

/* The way to the service: one connection, made with the first call, and calls that wait for their answer. */

#include <errno.h>
#include <glib.h>
#include <systemd/sd-bus.h>

#include "cli/cli.h"

#define CLIENT_SERVICE "org.codewhale.Extensions"
#define CLIENT_ROOT    "/org/codewhale/Extensions"

/* How long a call may take when --timeout was not given */
typedef enum ClientWait {
        CLIENT_WAIT_SHORT,  /* the service answers by itself */
        CLIENT_WAIT_PERSON, /* a person may be asked first, or a plugin started: no limit */
        _CLIENT_WAIT_MAX,
        _CLIENT_WAIT_INVALID = -EINVAL,
} ClientWait;

/* One entry of an a{sv}; an array of them ends in one without a name. One without a value is left out. */
typedef struct CallOption {
        const char *name;
        char type;        /* 's' or 'o': text; 'u', 't' or 'b': number */
        const char *text; /* NULL: left out */
        uint64_t number;  /* 0: left out */
} CallOption;

/** client_connect() - connect unless that is done already; cli->bus is the connection */
int client_connect(Cli *cli, sd_bus_error *reterr);

/**
 * client_new_call() - begin a method call to the service
 * @path:      NULL: the root object
 * @interface: the part after "org.codewhale.Extensions"; "" for that itself, else with its dot, such as
 * ".Tools"
 *
 * A polkit dialog may come up for it. Return: 0 or a negative errno with @reterr.
 */
int client_new_call(Cli *cli, const char *path, const char *interface, const char *member,
                sd_bus_message **ret, sd_bus_error *reterr);

/** client_append_options() - append an a{sv}; @options may be NULL for an empty one */
int client_append_options(sd_bus_message *m, const CallOption *options);

/** client_wait_usec() - the timeout for a call of this kind */
uint64_t client_wait_usec(const Cli *cli, ClientWait wait);

/** client_send() - send a call and wait for the answer; @ret may be NULL */
int client_send(Cli *cli, sd_bus_message *m, ClientWait wait, sd_bus_message **ret, sd_bus_error *reterr);

/** client_call() - call a method of the root object with the arguments that @types tells of; @ret may be
 * NULL */
int client_call(Cli *cli, const char *interface, const char *member, ClientWait wait, sd_bus_message **ret,
                sd_bus_error *reterr, const char *types, ...);

/** client_call_text() - client_call() of a method that answers one string; a new string */
int client_call_text(Cli *cli, const char *interface, const char *member, ClientWait wait, char **ret,
                sd_bus_error *reterr, const char *types, ...);

/** client_call_options() - call a method that takes @words (strings, ended by NULL) and then options */
int client_call_options(Cli *cli, const char *interface, const char *member, ClientWait wait,
                const char *const *words, const CallOption *options, sd_bus_message **ret,
                sd_bus_error *reterr);

/** client_get_text() - a string property of an object of the service; a new string */
int client_get_text(Cli *cli, const char *path, const char *interface, const char *property, char **ret,
                sd_bus_error *reterr);

/**
 * client_find_plugin() - the id and object path of a plugin by id or name
 *
 * Return: 0; -ENOENT, -ENOTUNIQ or another error with @reterr. New strings; either output may be NULL.
 */
int client_find_plugin(Cli *cli, const char *plugin, char **ret_id, char **ret_path, sd_bus_error *reterr);

/**
 * client_open_session() - open a session for this run when an option of the command line asks for one
 *
 * --workspace, --mode and --posture belong to a session. Return: 0 with *@ret NULL when none is needed, or a
 * new string with the session's path; it closes with the connection.
 */
int client_open_session(Cli *cli, char **ret, sd_bus_error *reterr);
