/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/failure.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"

typedef struct FailureKind {
        const char *name; /* ends in '.': all names that begin so */
        ExitStatus status;
        const char *hint; /* {} stands for the subject, {bus} for --user or --system */
} FailureKind;

#define BUS_ERROR "org.freedesktop.DBus.Error."

static const char start_hint[] = "Start it with: systemctl {bus} start codewhale-extensions.service\n"
                                 "What it says: journalctl {bus} -u codewhale-extensions.service";
static const char version_hint[] = "The running service and this codewhalectl are of different versions. "
                                   "After an update restart it: "
                                   "systemctl {bus} restart codewhale-extensions.service";

static const FailureKind kinds[] = {
        { ERROR_INVALID_ARGUMENTS, EXIT_STATUS_USAGE, NULL },
        { ERROR_INVALID_OPTION, EXIT_STATUS_USAGE, version_hint },
        { ERROR_TOO_LARGE, EXIT_STATUS_USAGE, NULL },
        { ERROR_LIMIT_EXCEEDED, EXIT_STATUS_FAILURE, NULL },
        { ERROR_BUSY, EXIT_STATUS_FAILURE, "Wait for one of the calls in progress to end and try again." },
        { ERROR_NO_SUCH_PLUGIN, EXIT_STATUS_NOT_FOUND, "Known ones: codewhalectl list" },
        { ERROR_AMBIGUOUS_PLUGIN, EXIT_STATUS_USAGE, "Use the id in place of the name: codewhalectl list" },
        { ERROR_NO_SUCH_TOOL, EXIT_STATUS_NOT_FOUND,
                        "Tools there are: codewhalectl tools\nA tool is there while its plugin is active: "
                        "codewhalectl list" },
        { ERROR_NO_SUCH_COMMAND, EXIT_STATUS_NOT_FOUND,
                        "Commands there are: codewhalectl commands\nA command is there while its plugin is "
                        "active: codewhalectl list" },
        { ERROR_NO_SUCH_SESSION, EXIT_STATUS_NOT_FOUND, "Open sessions: codewhalectl sessions" },
        { ERROR_NO_SUCH_REQUEST, EXIT_STATUS_NOT_FOUND, NULL },
        { ERROR_NO_SUCH_APPROVAL, EXIT_STATUS_NOT_FOUND, "Open ones: codewhalectl approve" },
        { ERROR_NO_SUCH_GRANT, EXIT_STATUS_NOT_FOUND, "Given ones: codewhalectl grants" },
        { ERROR_NO_SUCH_DECISION, EXIT_STATUS_NOT_FOUND, "The latest: codewhalectl decisions" },
        { ERROR_NO_SUCH_KEY, EXIT_STATUS_NOT_FOUND, "Stored keys: codewhalectl storage list {}" },
        { ERROR_NO_SUCH_SKILL, EXIT_STATUS_NOT_FOUND, NULL },
        { ERROR_STALE_SELECTION, EXIT_STATUS_NOT_FOUND, NULL },
        { ERROR_NOT_SUPPORTED, EXIT_STATUS_FAILURE, NULL },

        { ERROR_INVALID_MANIFEST, EXIT_STATUS_WRONG_STATE,
                        "All that is wrong with a folder: codewhalectl validate {}" },
        { ERROR_INVALID_BUNDLE, EXIT_STATUS_WRONG_STATE,
                        "All that is wrong with a folder: codewhalectl validate {}" },
        { ERROR_PATH_TRAVERSAL, EXIT_STATUS_WRONG_STATE, NULL },
        { ERROR_LINK_FOUND, EXIT_STATUS_WRONG_STATE, "Bundles hold files and folders only; replace the link by what it means." },
        { ERROR_NO_BUNDLE, EXIT_STATUS_WRONG_STATE, "A bundle has a plugin.json at its top." },
        { ERROR_SEVERAL_BUNDLES, EXIT_STATUS_WRONG_STATE, NULL },
        { ERROR_NETWORK_APPROVAL, EXIT_STATUS_REFUSED, "If you want it fetched, say so with --allow-network." },
        { ERROR_NETWORK_DENIED, EXIT_STATUS_REFUSED, "Fetch it yourself and install the file: codewhalectl install FILE" },
        { ERROR_DOWNLOAD_FAILED, EXIT_STATUS_FAILURE, NULL },
        { ERROR_INVALID_TOKEN, EXIT_STATUS_USAGE, "The token stands at the end of: codewhalectl review {}" },
        { ERROR_CONTENT_CHANGED, EXIT_STATUS_WRONG_STATE, "Look at it again: codewhalectl review {}" },
        { ERROR_CAPABILITIES_CHANGED, EXIT_STATUS_WRONG_STATE, "Look at it again: codewhalectl review {}" },
        { ERROR_NOT_TRUSTED, EXIT_STATUS_WRONG_STATE,
                        "Look at it, and trust it if you want to: codewhalectl review {}" },
        { ERROR_NOT_ACTIVE, EXIT_STATUS_WRONG_STATE, "What keeps it from running: codewhalectl list" },
        { ERROR_STILL_ENABLED, EXIT_STATUS_WRONG_STATE, "First: codewhalectl disable {}" },
        { ERROR_ALREADY_INSTALLED, EXIT_STATUS_WRONG_STATE,
                        "To replace one: codewhalectl disable NAME, codewhalectl uninstall NAME, and "
                        "install again. What it stored is kept." },
        { ERROR_NOT_INSTALLED_BY_US, EXIT_STATUS_WRONG_STATE,
                        "It was put there by hand; delete its folder by hand: codewhalectl show {}" },
        { ERROR_NOT_AUTHORIZED, EXIT_STATUS_REFUSED,
                        "This is a person's act. Confirm it in the dialog or, in a terminal, with your password "
                        "(pkttyagent of the package polkitd asks for it).\n"
                        "Where neither can be had: [trust] confirm = \"approver\" in config.toml, and "
                        "codewhalectl approve --watch" },
        { ERROR_STATE_INVALID, EXIT_STATUS_FAILURE, "What is wrong and what to do: codewhalectl doctor" },

        { ERROR_REFUSED_BY_POLICY, EXIT_STATUS_REFUSED, NULL },
        { ERROR_DENIED, EXIT_STATUS_REFUSED, NULL },
        { ERROR_TIMED_OUT, EXIT_STATUS_UNANSWERED, "Answer cards with: codewhalectl approve --watch" },
        { ERROR_NO_APPROVER, EXIT_STATUS_UNANSWERED,
                        "It needs a person's approval. Run this in another terminal and try again: "
                        "codewhalectl approve --watch" },
        { ERROR_WITHDRAWN, EXIT_STATUS_UNANSWERED, NULL },
        { ERROR_CANCELLED, EXIT_STATUS_FAILURE, NULL },
        { ERROR_HOOK_DENIED, EXIT_STATUS_REFUSED, NULL },
        { ERROR_HOOK_FAILED, EXIT_STATUS_PLUGIN_FAILED, "Listeners that are asked: codewhalectl hooks" },
        { ERROR_EXECUTION_FAILED, EXIT_STATUS_PLUGIN_FAILED,
                        "What the plugin wrote: codewhalectl log PLUGIN" },
        { ERROR_DEADLINE_EXCEEDED, EXIT_STATUS_PLUGIN_FAILED,
                        "What the plugin wrote: codewhalectl log PLUGIN" },
        { ERROR_HOST_UNAVAILABLE, EXIT_STATUS_PLUGIN_FAILED,
                        "State and reason: codewhalectl list. Try again from scratch: codewhalectl reload" },
        { ERROR_SANDBOX_REFUSED, EXIT_STATUS_PLUGIN_FAILED, "Which walls hold here: codewhalectl doctor" },

        { ERROR_ALREADY_DECIDED, EXIT_STATUS_WRONG_STATE, "Open ones: codewhalectl approve" },
        { ERROR_DIGEST_MISMATCH, EXIT_STATUS_WRONG_STATE,
                        "Look at the card again: codewhalectl approve {}" },
        { ERROR_NOT_APPROVER, EXIT_STATUS_REFUSED, NULL },
        { ERROR_OWN_APPROVAL, EXIT_STATUS_REFUSED, "Somebody else must answer it." },

        { ERROR_CORRUPT, EXIT_STATUS_FAILURE,
                        "Remove the damaged record: codewhalectl storage delete {} KEY" },
        { ERROR_QUOTA_EXCEEDED, EXIT_STATUS_FAILURE, "How much there is: codewhalectl storage usage {}" },
        { ERROR_IO, EXIT_STATUS_FAILURE, "What is wrong: codewhalectl doctor" },

        { BUS_ERROR "ServiceUnknown", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "NameHasNoOwner", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "Disconnected", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "NoServer", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "NoReply", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "Spawn.", EXIT_STATUS_UNREACHABLE, start_hint },
        { "org.freedesktop.systemd1.", EXIT_STATUS_UNREACHABLE, start_hint },
        /* The bus waits two minutes for a service that can't start, and says nothing before that. */
        { BUS_ERROR "TimedOut", EXIT_STATUS_UNREACHABLE, start_hint },
        { BUS_ERROR "Timeout", EXIT_STATUS_FAILURE,
                        "Wait longer: --timeout=SECONDS\n"
                        "Whether it could be started: systemctl {bus} status 'codewhale-extensions*'" },
        { BUS_ERROR "UnknownMethod", EXIT_STATUS_FAILURE, version_hint },
        { BUS_ERROR "UnknownInterface", EXIT_STATUS_FAILURE, version_hint },
        { BUS_ERROR "UnknownObject", EXIT_STATUS_FAILURE, version_hint },
        { BUS_ERROR "UnknownProperty", EXIT_STATUS_FAILURE, version_hint },
        { BUS_ERROR "AccessDenied", EXIT_STATUS_REFUSED, NULL },
        { BUS_ERROR "InteractiveAuthorizationRequired", EXIT_STATUS_REFUSED,
                        "No program here can ask you. Run this in another terminal and try again: "
                        "pkttyagent --process $$" },
};

static const FailureKind *kind_find(const char *name) {
        for (size_t i = 0; name && i < G_N_ELEMENTS(kinds); i++)
                if (g_str_has_suffix(kinds[i].name, ".") ? g_str_has_prefix(name, kinds[i].name)
                                                         : strcmp(name, kinds[i].name) == 0)
                        return &kinds[i];

        return NULL;
}

int failure_status(const char *error_name) {
        const FailureKind *kind = kind_find(error_name);

        return kind ? kind->status : EXIT_STATUS_FAILURE;
}

static bool is_plain_word(const char *text) {
        return *text && *text != '-' &&
               strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:") ==
                               strlen(text);
}

char *failure_quote(const char *word) {
        return is_plain_word(word) ? g_strdup(word) : g_shell_quote(word);
}

char *failure_hint(const Cli *cli, const char *error_name, const char *subject) {
        const FailureKind *kind = kind_find(error_name);
        g_autoptr(GString) text = NULL;
        g_autofree char *word = NULL;

        if (!kind || !kind->hint)
                return NULL;

        text = g_string_new(kind->hint);
        (void) g_string_replace(text, "{bus}", cli_has(cli, OPTION_SYSTEM) ? "--system" : "--user", 0);

        word = subject ? failure_quote(subject) : g_strdup("NAME");
        (void) g_string_replace(text, "{}", word, 0);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

int failure_report(const Cli *cli, int r, const sd_bus_error *error, const char *subject) {
        bool set = error && sd_bus_error_is_set(error);
        const char *message = set && error->message && *error->message ? error->message : NULL;
        g_autofree char *line = NULL, *hint = NULL, *shown = NULL;

        line = sanitize_line(message ? message
                             : set   ? error->name
                                     : g_strerror(-r),
                        ERROR_TEXT_BYTES_MAX, NULL);
        (void) fprintf(stderr, "codewhalectl: %s\n", line);

        /* The service may have named the command already. */
        hint = set && !strstr(line, "codewhalectl ") ? failure_hint(cli, error->name, subject) : NULL;
        if (hint) {
                shown = sanitize_block(hint, ERROR_TEXT_BYTES_MAX, NULL);
                (void) fprintf(stderr, "%s\n", shown);
        }

        return set ? failure_status(error->name) : EXIT_STATUS_FAILURE;
}

static void G_GNUC_PRINTF(2, 0) say(const char *prefix, const char *format, va_list arguments) {
        g_autofree char *text = g_strdup_vprintf(format, arguments);
        g_autofree char *line = sanitize_block(text, ERROR_TEXT_BYTES_MAX, NULL);

        (void) fprintf(stderr, "%s%s\n", prefix, line);
}

int failure_usage(const Cli *cli, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        say("codewhalectl: ", format, arguments);
        va_end(arguments);

        if (cli->verb)
                (void) fprintf(stderr, "How it is used: codewhalectl %s --help\n", cli->verb);
        return EXIT_STATUS_USAGE;
}

int failure_say(const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        say("codewhalectl: ", format, arguments);
        va_end(arguments);
        return EXIT_STATUS_FAILURE;
}

void note_say(const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        say("", format, arguments);
        va_end(arguments);
}
