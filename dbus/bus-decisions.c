/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "dbus/bus-interfaces.h"
#include "dbus/decision-query.h"
#include "dbus/options.h"
#include "dbus/paths.h"

/* Room for brackets and commas beside the records. */
#define RECORDS_BYTES_MAX (BUS_MESSAGE_BYTES_MAX - KIB(16))

typedef struct QueryOptions {
        uint64_t since_usec, until_usec;
        const char *plugin, *tool, *outcome, *session, *kind;
        uint32_t limit;
} QueryOptions;

static const Option query_options[] = {
        OPTION("since-usec", 't', QueryOptions, since_usec),
        OPTION("until-usec", 't', QueryOptions, until_usec),
        OPTION("plugin", 's', QueryOptions, plugin),
        OPTION("tool", 's', QueryOptions, tool),
        OPTION("outcome", 's', QueryOptions, outcome),
        OPTION("session", 's', QueryOptions, session),
        OPTION("kind", 's', QueryOptions, kind),
        OPTION("limit", 'u', QueryOptions, limit),
};

/* As many as fit into a message, from the newest on. */
static void write_records(JWriter *writer, const GPtrArray *lines, const char *but) {
        size_t bytes = 0;

        jwriter_begin_array(writer);
        for (size_t i = 0; i < lines->len; i++) {
                const char *line = g_ptr_array_index(lines, i);
                size_t size = strlen(line);

                if (line == but)
                        continue;
                if (bytes + size + 1 > RECORDS_BYTES_MAX)
                        break;
                bytes += size + 1;
                jwriter_raw(writer, line, size);
        }
        jwriter_end_array(writer);
}

static char *answer_records(GPtrArray *lines, void *userdata, sd_bus_error *reterr) {
        g_auto(JWriter) writer = {};

        (void) userdata;
        (void) reterr;

        jwriter_init(&writer);
        write_records(&writer, lines, NULL);
        return jwriter_steal(&writer, NULL);
}

static int handle_query(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        QueryOptions options = {};
        DecisionFilter filter;
        int r;

        r = options_read(m, query_options, G_N_ELEMENTS(query_options), &options, reterr);
        if (r < 0)
                return r;
        if (options.limit > DECISION_QUERY_MAX)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'limit' is at most %u.", DECISION_QUERY_MAX);

        filter = (DecisionFilter) {
                .since_usec = options.since_usec,
                .until_usec = options.until_usec,
                .plugin = options.plugin,
                .tool = options.tool,
                .outcome = options.outcome,
                .session = options.session,
                .kind = options.kind,
                .limit = options.limit,
        };
        return decision_query_begin(face, caller, m, &filter, answer_records, NULL, reterr);
}
BUS_METHOD(query)

static bool is_call(Jval kind) {
        return jval_equals_text(kind, "call") || jval_equals_text(kind, "command") || jval_equals_text(kind, "core-call");
}

/* The record of the call itself among all that belongs to it. */
static const char *find_primary(const GPtrArray *lines, const char *call_id) {
        const char *found = NULL;

        for (size_t i = 0; i < lines->len; i++) {
                const char *line = g_ptr_array_index(lines, i);
                g_autoptr(Jdoc) doc = NULL;
                Jval root;

                if (jdoc_parse(line, strlen(line), NULL, &doc, NULL) < 0)
                        continue;
                root = jdoc_root(doc);
                if (!jval_equals_text(jval_member(root, "call"), call_id))
                        continue;
                if (is_call(jval_member(root, "kind")))
                        return line;
                found = line;
        }
        return found;
}

/* The record's own members, verbatim, then what was put together. */
static char *record_with_story(const char *primary, const char *story, const GPtrArray *lines) {
        g_auto(JWriter) writer = {};
        g_autofree char *more = NULL;
        size_t size = strlen(primary);

        while (size > 0 && primary[size - 1] != '}')
                size--;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "story", story);
        jwriter_key(&writer, "related");
        write_records(&writer, lines, primary);
        jwriter_end_object(&writer);
        more = jwriter_steal(&writer, NULL);

        return g_strdup_printf("%.*s,%s", (int) size - 1, primary, more + 1);
}

static char *answer_story(GPtrArray *lines, void *userdata, sd_bus_error *reterr) {
        const char *call_id = userdata, *primary = find_primary(lines, call_id);
        g_autofree char *story = NULL, *json = NULL;
        g_autoptr(GPtrArray) alone = NULL;

        if (!primary) {
                (void) errors_set(reterr, ERROR_NO_SUCH_DECISION, "There is no record of a call '%.128s'.", call_id);
                return NULL;
        }
        if (decision_stories(lines, &story) < 0) {
                (void) errors_set(reterr, ERROR_CORRUPT, "The record of call '%.128s' can't be told.", call_id);
                return NULL;
        }

        json = record_with_story(primary, story, lines);
        if (strlen(json) <= BUS_MESSAGE_BYTES_MAX)
                return g_steal_pointer(&json);

        alone = g_ptr_array_new();
        return record_with_story(primary, "Too much happened in this call to tell it in one message; see Query.", alone);
}

static int handle_get(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr) {
        DecisionFilter filter = {};
        int r;

        r = message_read(m, reterr, "s", &filter.call);
        if (r < 0)
                return r;
        if (filter.call[0] == '\0' || strlen(filter.call) > OPTION_TEXT_BYTES_MAX)
                return errors_set(reterr, ERROR_NO_SUCH_DECISION, "That is no call id.");

        return decision_query_begin(face, caller, m, &filter, answer_story, filter.call, reterr);
}
BUS_METHOD(get)

static const sd_bus_vtable decisions_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Query",
                                SD_BUS_ARGS("a{sv}", options),
                                SD_BUS_RESULT("s", records),
                                method_query,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Get",
                                SD_BUS_ARGS("s", call_id),
                                SD_BUS_RESULT("s", record),
                                method_get,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Recorded", SD_BUS_ARGS("s", call_id, "s", outcome), 0),
        SD_BUS_VTABLE_END,
};

const BusInterface bus_decisions = {
        .path = PATH_ROOT,
        .name = INTERFACE_DECISIONS,
        .vtable = decisions_vtable,
};
