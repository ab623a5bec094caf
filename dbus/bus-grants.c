/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "dbus/act-record.h"
#include "dbus/bus-interfaces.h"
#include "dbus/face.h"
#include "dbus/paths.h"
#include "service/grant-keeper.h"

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

static int read_id(sd_bus_message *m, guint64 *ret, sd_bus_error *reterr) {
        const char *word;
        int r = message_read(m, reterr, "s", &word);

        if (r < 0)
                return r;
        if (!g_ascii_string_to_unsigned(word, 10, 1, G_MAXUINT64, ret, NULL))
                return errors_set(reterr, ERROR_NO_SUCH_GRANT, "There is no grant '%.64s'.", word);
        return 0;
}

static char *grant_to_json(const Grant *grant) {
        /* Grants count on the monotonic clock, people on another. */
        const uint64_t since_1970 = (uint64_t) (g_get_real_time() - g_get_monotonic_time());
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "id", grant->id);
        jwriter_member_string(&writer, "session", grant->session);
        if (grant->plugin)
                jwriter_member_string(&writer, "plugin", grant->plugin);
        jwriter_member_string(&writer, "tool", grant->tool);
        jwriter_member_string(&writer, "scope", grant_width_to_string(grant->width));
        jwriter_member_string(&writer, "words", grant->words);
        jwriter_member_string(&writer, "key", grant->key);
        jwriter_member_string(&writer, "given_by", grant->giver);
        jwriter_member_uint(&writer, "given_usec", since_1970 + grant->given_usec);
        if (grant->expires_usec > 0)
                jwriter_member_uint(&writer, "expires_usec", since_1970 + grant->expires_usec);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

static int handle_describe(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        g_autofree char *json = NULL;
        const Grant *grant;
        guint64 id;
        int r;

        (void) caller;

        r = read_id(m, &id, reterr);
        if (r < 0)
                return r;
        grant = grant_table_get(face->service->grants, id);
        if (!grant)
                return errors_set(reterr, ERROR_NO_SUCH_GRANT, "There is no grant %" G_GUINT64_FORMAT ".", id);

        json = grant_to_json(grant);
        return message_reply_json(m, json, reterr);
}
BUS_METHOD(describe)

static int handle_revoke(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        const Actor who = caller_actor(caller);
        guint64 id;
        int r;

        r = read_id(m, &id, reterr);
        if (r < 0)
                return r;

        r = grant_keeper_revoke(face->service->keeper, id, &who, reterr);
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
        SD_BUS_METHOD_WITH_ARGS("Describe",
                                SD_BUS_ARGS("s", id),
                                SD_BUS_RESULT("s", grant),
                                method_describe,
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
