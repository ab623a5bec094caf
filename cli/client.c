/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/polkit-agent.h"
#include "common/cleanup.h"
#include "common/errors.h"

#define WAIT_SHORT_USEC (UINT64_C(60) * 1000 * 1000)

void cli_done(Cli *cli) {
        cli->bus = sd_bus_flush_close_unref(cli->bus);
}

static int open_address(const char *address, sd_bus **ret) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r < 0)
                return r;

        r = sd_bus_set_address(bus, address);
        if (r < 0)
                return r;

        r = sd_bus_set_bus_client(bus, true);
        if (r < 0)
                return r;

        r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&bus);
        return 0;
}

static int open_bus(const Cli *cli, const char **ret_words, sd_bus **ret) {
        const char *address = cli->options[OPTION_ADDRESS];

        if (!address && !cli_has(cli, OPTION_USER) && !cli_has(cli, OPTION_SYSTEM))
                address = g_getenv("CODEWHALE_BUS_ADDRESS");

        if (address && *address) {
                *ret_words = "the bus at the given address";
                return open_address(address, ret);
        }
        if (cli_has(cli, OPTION_SYSTEM)) {
                *ret_words = "the system bus";
                return sd_bus_open_system(ret);
        }

        *ret_words = "the user bus";
        return sd_bus_open_user(ret);
}

int client_connect(Cli *cli, sd_bus_error *reterr) {
        const char *words = NULL;
        const char *why;
        int r;

        if (cli->bus)
                return 0;

        r = open_bus(cli, &words, &cli->bus);
        if (r >= 0)
                return 0;

        why = r == -ENOMEDIUM ? "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
                              : g_strerror(-r);
        (void) sd_bus_error_setf(reterr, SD_BUS_ERROR_NO_SERVER, "Cannot reach %s: %s.", words, why);
        return r;
}

int client_new_call(Cli *cli, const char *path, const char *interface, const char *member,
                sd_bus_message **ret, sd_bus_error *reterr) {
        g_autofree char *full = g_strconcat(CLIENT_SERVICE, interface, NULL);
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = client_connect(cli, reterr);
        if (r < 0)
                return r;

        r = sd_bus_message_new_method_call(
                        cli->bus, &m, CLIENT_SERVICE, path ? path : CLIENT_ROOT, full, member);
        if (r < 0)
                return r;

        r = sd_bus_message_set_allow_interactive_authorization(m, true);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&m);
        return 0;
}

static int append_option(sd_bus_message *m, const CallOption *option) {
        switch (option->type) {
        case 's':
        case 'o':
                if (!option->text)
                        return 0;
                return sd_bus_message_append(
                                m, "{sv}", option->name, option->type == 's' ? "s" : "o", option->text);
        case 'u':
                return option->number == 0 ? 0
                                           : sd_bus_message_append(m, "{sv}", option->name, "u",
                                                             (uint32_t) option->number);
        case 'b':
                return option->number == 0 ? 0 : sd_bus_message_append(m, "{sv}", option->name, "b", 1);
        case 't':
                return option->number == 0
                                       ? 0
                                       : sd_bus_message_append(m, "{sv}", option->name, "t", option->number);
        default:
                g_assert_not_reached();
        }
}

int client_append_options(sd_bus_message *m, const CallOption *options) {
        int r;

        r = sd_bus_message_open_container(m, 'a', "{sv}");
        for (const CallOption *option = options; r >= 0 && option && option->name; option++)
                r = append_option(m, option);

        return r < 0 ? r : sd_bus_message_close_container(m);
}

uint64_t client_wait_usec(const Cli *cli, ClientWait wait) {
        if (cli->timeout_usec > 0)
                return cli->timeout_usec;
        return wait == CLIENT_WAIT_SHORT ? WAIT_SHORT_USEC : UINT64_MAX;
}

int client_send(Cli *cli, sd_bus_message *m, ClientWait wait, sd_bus_message **ret, sd_bus_error *reterr) {
        int r = sd_bus_call(cli->bus, m, client_wait_usec(cli, wait), reterr, ret);

        /* sd-bus sets only a number for what it noticed itself. */
        if ((r == -ECONNRESET || r == -ENOTCONN) && reterr && !sd_bus_error_is_set(reterr))
                (void) sd_bus_error_set(
                                reterr, SD_BUS_ERROR_DISCONNECTED, "The connection to the bus was lost.");
        return r < 0 ? r : 0;
}

static int client_call_v(Cli *cli, const char *interface, const char *member, ClientWait wait,
                sd_bus_message **ret, sd_bus_error *reterr, const char *types, va_list arguments) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = client_new_call(cli, NULL, interface, member, &m, reterr);
        if (r < 0)
                return r;

        r = types ? sd_bus_message_appendv(m, types, arguments) : 0;
        if (r < 0)
                return r;

        return client_send(cli, m, wait, ret, reterr);
}

int client_call(Cli *cli, const char *interface, const char *member, ClientWait wait, sd_bus_message **ret,
                sd_bus_error *reterr, const char *types, ...) {
        va_list arguments;
        int r;

        va_start(arguments, types);
        r = client_call_v(cli, interface, member, wait, ret, reterr, types, arguments);
        va_end(arguments);
        return r;
}

/* The one string of an answer. */
static int read_text(sd_bus_message *reply, char **ret) {
        const char *text;
        int r = sd_bus_message_read(reply, "s", &text);

        if (r < 0)
                return r;

        *ret = g_strdup(text);
        return 0;
}

int client_call_text(Cli *cli, const char *interface, const char *member, ClientWait wait, char **ret,
                sd_bus_error *reterr, const char *types, ...) {
        g_autoptr(sd_bus_message) reply = NULL;
        va_list arguments;
        int r;

        va_start(arguments, types);
        r = client_call_v(cli, interface, member, wait, &reply, reterr, types, arguments);
        va_end(arguments);
        return r < 0 ? r : read_text(reply, ret);
}

int client_call_options(Cli *cli, const char *interface, const char *member, ClientWait wait,
                const char *const *words, const CallOption *options, sd_bus_message **ret,
                sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = client_new_call(cli, NULL, interface, member, &m, reterr);
        for (; r >= 0 && words && *words; words++)
                r = sd_bus_message_append(m, "s", *words);
        if (r < 0)
                return r;

        r = client_append_options(m, options);
        if (r < 0)
                return r;

        return client_send(cli, m, wait, ret, reterr);
}

int client_get_text(Cli *cli, const char *path, const char *interface, const char *property, char **ret,
                sd_bus_error *reterr) {
        g_autofree char *full = g_strconcat(CLIENT_SERVICE, interface, NULL);
        g_autofree char *text = NULL;
        int r;

        r = client_connect(cli, reterr);
        if (r < 0)
                return r;

        r = sd_bus_get_property_string(cli->bus, CLIENT_SERVICE, path, full, property, reterr, &text);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&text);
        return 0;
}

int client_find_plugin(Cli *cli, const char *plugin, char **ret_id, char **ret_path, sd_bus_error *reterr) {
        const char *id, *path, *name, *found_id = NULL, *found_path = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        bool exact = false;
        int r;

        r = client_call(cli, ".Plugins", "List", CLIENT_WAIT_SHORT, &reply, reterr, "a{sv}", 0);
        if (r < 0)
                return r;

        r = sd_bus_message_enter_container(reply, 'a', "(sosss)");
        if (r < 0)
                return r;

        while (!exact && (r = sd_bus_message_read(reply, "(sosss)", &id, &path, &name, NULL, NULL)) > 0) {
                exact = strcmp(id, plugin) == 0;
                if (!exact && strcmp(name, plugin) != 0)
                        continue;
                if (!exact && found_id)
                        return errors_set(reterr, ERROR_AMBIGUOUS_PLUGIN, "Several plugins are called '%s'.",
                                        plugin);
                found_id = id;
                found_path = path;
        }
        if (r < 0)
                return r;
        if (!found_id)
                return errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "There is no plugin '%s'.", plugin);

        if (ret_id)
                *ret_id = g_strdup(found_id);
        if (ret_path)
                *ret_path = g_strdup(found_path);
        return 0;
}

/* The path without links, which is how the service wants a workspace; a folder that is not there stays as it is written. */
static char *real_path(const char *path) {
        char real[PATH_MAX];

        return realpath(path, real) ? g_strdup(real) : g_canonicalize_filename(path, NULL);
}

int client_open_session(Cli *cli, char **ret, sd_bus_error *reterr) {
        g_autofree char *workspace = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        PolkitAgent agent = {};
        const char *path;
        int r;

        if (!cli_has(cli, OPTION_WORKSPACE) && !cli_has(cli, OPTION_MODE) && !cli_has(cli, OPTION_POSTURE)) {
                *ret = NULL;
                return 0;
        }

        if (cli_has(cli, OPTION_WORKSPACE))
                workspace = real_path(cli->options[OPTION_WORKSPACE]);

        const CallOption options[] = {
                { "label", 's', .text = "codewhalectl" },
                { "workspace", 's', .text = workspace },
                { "mode", 's', .text = cli->options[OPTION_MODE] },
                { "posture", 's', .text = cli->options[OPTION_POSTURE] },
                {},
        };

        /* More freedom than the default is for a person to give. */
        if (cli_has(cli, OPTION_POSTURE))
                polkit_agent_open(&agent);
        r = client_call_options(cli, ".Sessions", "Open", CLIENT_WAIT_PERSON, NULL, options, &reply, reterr);
        polkit_agent_close(&agent);
        if (r < 0)
                return r;

        r = sd_bus_message_read(reply, "o", &path);
        if (r < 0)
                return r;

        *ret = g_strdup(path);
        return 0;
}
