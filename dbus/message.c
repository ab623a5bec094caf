/* SPDX-License-Identifier: MIT */
#include "dbus/message.h"

#include <glib.h>
#include <stdarg.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"

int message_read(sd_bus_message *m, sd_bus_error *reterr, const char *types, ...) {
        va_list arguments;
        int r;

        va_start(arguments, types);
        r = sd_bus_message_readv(m, types, arguments);
        va_end(arguments);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The arguments can't be read: %s", g_strerror(-r));

        return 0;
}

int message_append_text(sd_bus_message *m, const char *text) {
        g_autofree char *clean = NULL;
        char *space;
        int r;

        if (text && !g_utf8_validate(text, -1, NULL))
                text = clean = sanitize_block(text, BUS_MESSAGE_BYTES_MAX, NULL);

        /* sd_bus_message_append() refuses noncharacters such as U+FFFE, which are valid on the bus and in JSON. */
        r = sd_bus_message_append_string_space(m, text ? strlen(text) : 0, &space);
        if (r >= 0 && text)
                memcpy(space, text, strlen(text));
        return r;
}

int message_reply_json(sd_bus_message *m, const char *json, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) answer = NULL;
        int r;

        if (strlen(json) > BUS_MESSAGE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The answer is larger than %zu bytes.", BUS_MESSAGE_BYTES_MAX);

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = message_append_text(answer, json);
        if (r >= 0)
                r = sd_bus_send(NULL, answer, NULL);

        return r < 0 ? r : 1;
}

int message_reply_empty(sd_bus_message *m) {
        int r = sd_bus_reply_method_return(m, NULL);

        return r < 0 ? r : 1;
}
