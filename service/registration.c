/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/registration.h"

static int refuse(char **ret_refusal, char *reason) {
        *ret_refusal = reason;
        return -EPERM;
}

static bool is_word(const char *name, size_t chars_max, bool upper) {
        size_t length = strlen(name);
        bool first = g_ascii_islower(name[0]) || (upper && g_ascii_isupper(name[0]));

        if (!first || length > chars_max)
                return false;
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_islower(name[i]) && !g_ascii_isdigit(name[i]) && name[i] != '_' && name[i] != '-' &&
                                !(upper && g_ascii_isupper(name[i])))
                        return false;
        return true;
}

/* A text that people see on one line: not blank, no control characters, at most @bytes_max bytes. */
static bool is_line(const char *text, size_t bytes_max) {
        bool blank = true;

        if (!text || strlen(text) > bytes_max)
                return false;
        for (const char *at = text; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029)
                        return false;
                blank = blank && g_unichar_isspace(c);
        }
        return !blank;
}

int registration_compile_schema(const char *text, size_t size, Schema **ret, sd_bus_error *reterr) {
        static const SchemaOptions options = { .object_root = true };

        return schema_compile(text, size, &options, ret, reterr);
}

int registration_use_schema(Registration *tool, const Schema **ret, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = 0;

        if (!tool->schema && tool->schema_text)
                r = registration_compile_schema(tool->schema_text, strlen(tool->schema_text), &tool->schema, &error);
        if (r < 0)
                return errors_set(reterr, ERROR_EXECUTION_FAILED, "The schema of '%s' does not compile: %s", tool->name,
                                  error.message ?: g_strerror(-r));
        *ret = tool->schema;
        return 0;
}

static int registration_check_tool(
                Registration *tool, Jval spec, const RegistrationNames *taken, bool judged, char **ret_refusal) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Jval schema = jval_member(spec, "input_schema");
        const char *source;
        size_t size;
        int r;

        r = tool_name_admit(tool->name, taken->tools, &error);
        if (r < 0)
                return refuse(ret_refusal, g_strdup(error.message ?: g_strerror(-r)));
        if (strlen(tool->description) > TOOL_DESCRIPTION_BYTES_MAX)
                return refuse(ret_refusal, g_strdup_printf("the description of tool '%s' is over %zu bytes", tool->name,
                                                           TOOL_DESCRIPTION_BYTES_MAX));
        source = jval_source(schema, &size);
        r = judged ? 0 : registration_compile_schema(source, size, &tool->schema, &error);
        if (r < 0)
                return refuse(ret_refusal, g_strdup_printf("the schema of tool '%s' does not compile: %s", tool->name,
                                                           error.message ?: g_strerror(-r)));
        tool->schema_text = g_strndup(source, size);
        return 0;
}

static int registration_check_command(Registration *command, Jval spec, const RegistrationNames *taken, char **ret_refusal) {
        Jval hint = jval_member(spec, "argument_hint");

        if (!is_word(command->name, COMMAND_NAME_CHARS_MAX, false))
                return refuse(ret_refusal, g_strdup_printf("'%s' is no name for a command: a lower-case letter, then a-z 0-9 _ -, "
                                                           "at most %u in all", command->name, COMMAND_NAME_CHARS_MAX));
        if (!is_line(command->description, COMMAND_DESCRIPTION_BYTES_MAX))
                return refuse(ret_refusal, g_strdup_printf("the description of command '%s' must be one line of at most %u bytes",
                                                           command->name, COMMAND_DESCRIPTION_BYTES_MAX));
        if (!taken->commands)
                return refuse(ret_refusal, g_strdup_printf("command '%s' can't be admitted: no built-in commands are known that it "
                                                           "could be compared with", command->name));
        if (native_names_contains(taken->commands, command->name))
                return refuse(ret_refusal, g_strdup_printf("command '%s' has the name of a built-in command", command->name));
        if (jval_is(hint, J_ABSENT))
                return 0;
        if (!is_line(jval_text(hint), COMMAND_HINT_BYTES_MAX))
                return refuse(ret_refusal, g_strdup_printf("the argument hint of command '%s' must be one line of at most %u bytes",
                                                           command->name, COMMAND_HINT_BYTES_MAX));
        command->hint = g_strdup(jval_text(hint));
        return 0;
}

static int registration_check_hook(Registration *hook, char **ret_refusal) {
        if (strcmp(hook->name, "tools/pre-execute") != 0)
                return refuse(ret_refusal, g_strdup_printf("there is no event '%s' to listen to; only tools/pre-execute", hook->name));
        if (strlen(hook->description) > HOOK_LABEL_BYTES_MAX)
                return refuse(ret_refusal, g_strdup_printf("the label of a listener is over %u bytes", HOOK_LABEL_BYTES_MAX));
        return 0;
}

static int registration_check(
                Registration *registration, Jval spec, const RegistrationNames *taken, bool judged, char **ret_refusal) {
        switch (registration->kind) {
        case REGISTRATION_TOOL:
                return registration_check_tool(registration, spec, taken, judged, ret_refusal);
        case REGISTRATION_COMMAND:
                return registration_check_command(registration, spec, taken, ret_refusal);
        case REGISTRATION_HOOK:
                return registration_check_hook(registration, ret_refusal);
        default:
                g_assert_not_reached();
        }
}

int registration_new(
                RegistrationKind kind, Owner *owner, OwnerEntry *entry, Jval spec, const RegistrationNames *taken, bool judged,
                Registration **ret, char **ret_refusal) {
        g_autoptr(Registration) registration = g_new0(Registration, 1);
        const char *name = jval_text(jval_member(spec, "name"));
        const char *description = jval_text(jval_member(spec, "description"));
        int r;

        registration->n_ref = 1;
        if (!name || !description)
                return refuse(ret_refusal, g_strdup("names and descriptions must not contain NUL"));

        registration->kind = kind;
        registration->owner = owner_ref(owner);
        registration->entry = entry;
        registration->name = g_strdup(name);
        registration->folded = g_ascii_strdown(name, -1);
        registration->description = g_strdup(description);
        r = registration_check(registration, spec, taken, judged, ret_refusal);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&registration);
        return 0;
}

Registration *registration_ref(Registration *registration) {
        registration->n_ref++;
        return registration;
}

Registration *registration_unref(Registration *registration) {
        if (!registration || --registration->n_ref > 0)
                return NULL;

        owner_unref(registration->owner);
        schema_unref(registration->schema);
        g_free(registration->name);
        g_free(registration->folded);
        g_free(registration->description);
        g_free(registration->hint);
        g_free(registration->schema_text);
        g_free(registration);
        return NULL;
}

bool registration_is_same(const Registration *a, const Registration *b) {
        return a->kind == b->kind && a->entry == b->entry && strcmp(a->name, b->name) == 0 &&
                        strcmp(a->description, b->description) == 0 && g_strcmp0(a->hint, b->hint) == 0 &&
                        g_strcmp0(a->schema_text, b->schema_text) == 0;
}

bool registration_is_usable(const Registration *registration) {
        OwnerState entry = registration->entry ? registration->entry->state : owner_get_state(registration->owner);

        if (registration->withdrawn)
                return false;
        if (owner_get_state(registration->owner) == OWNER_LISTED)
                return registration->listed && (entry == OWNER_LISTED || entry == OWNER_ACTIVE);
        return owner_get_state(registration->owner) == OWNER_ACTIVE && entry == OWNER_ACTIVE;
}
