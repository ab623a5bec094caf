/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"

static int append_grant(sd_bus_message *m, const Grant *grant) {
        g_autofree char *id = g_strdup_printf("%" G_GUINT64_FORMAT, grant->id);
        int r = sd_bus_message_open_container(m, 'r', "sssss");

        if (r >= 0)
                r = sd_bus_message_append(m, "ss", id, grant->session);
        if (r >= 0)
                r = message_append_text(m, grant->plugin);
        if (r >= 0)
                r = message_append_text(m, grant->tool);
        if (r >= 0)
                r = message_append_text(m, grant->words);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int handle_list(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autoptr(GPtrArray) grants = grant_table_list(face->service->grants);
        g_autoptr(sd_bus_message) answer = NULL;
        int r;

        (void) caller;
        (void) reterr;

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_open_container(answer, 'a', "(sssss)");
        for (size_t i = 0; r >= 0 && i < grants->len; i++)
                r = append_grant(answer, g_ptr_array_index(grants, i));
        if (r >= 0)
                r = sd_bus_message_close_container(answer);
        return r < 0 ? r : sd_bus_send(NULL, answer, NULL);
}
BUS_METHOD(list)

static int handle_revoke(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const char *word;
        guint64 id;
        int r;

        r = message_read(m, reterr, "s", &word);
        if (r < 0)
                return r;
        if (!g_ascii_string_to_unsigned(word, 10, 1, G_MAXUINT64, &id, NULL))
                return errors_set(reterr, ERROR_NO_SUCH_GRANT, "There is no grant '%.64s'.", word);

        r = service_revoke_grant(face->service, id, caller_get_name(caller), reterr);
        if (r < 0)
                return r;
        return message_reply_empty(m);
}
BUS_METHOD(revoke)

static const sd_bus_vtable grants_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("List",
                                SD_BUS_NO_ARGS,
                                SD_BUS_RESULT("a(sssss)", grants),
                                method_list,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Revoke",
                                SD_BUS_ARGS("s", id),
                                SD_BUS_NO_RESULT,
                                method_revoke,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_NO_ARGS, 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_grants = {
        .path = PATH_ROOT,
        .name = INTERFACE_GRANTS,
        .vtable = grants_vtable,
};
