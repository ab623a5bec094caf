/* SPDX-License-Identifier: MIT */
#include "cli/top-sample.h"

#include <string.h>

#include "cli/approver.h"
#include "cli/client.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "common/jwriter.h"

#define CARDS_MAX 5u

static const char *const order_words[_TOP_ORDER_MAX] = {
        [TOP_ORDER_MEMORY] = "memory",
        [TOP_ORDER_CPU] = "cpu",
        [TOP_ORDER_CALLS] = "calls",
        [TOP_ORDER_NAME] = "name",
};

const char *top_order_to_string(TopOrder order) {
        return order_words[order];
}

TopOrder top_order_from_string(const char *word) {
        for (int i = 0; i < _TOP_ORDER_MAX; i++)
                if (strcmp(order_words[i], word) == 0)
                        return (TopOrder) i;

        return _TOP_ORDER_INVALID;
}

static void plugin_free(void *p) {
        TopPlugin *plugin = p;

        g_free(plugin->id);
        g_free(plugin->name);
        g_free(plugin->state);
        g_free(plugin->host_state);
        g_free(plugin->failure);
        g_free(plugin->unit);
        g_free(plugin->limits);
        g_free(plugin->not_enforced);
        g_free(plugin);
}

static void card_entry_free(void *p) {
        TopCard *card = p;

        g_free(card->title);
        g_free(card);
}

TopSample *top_sample_free(TopSample *sample) {
        if (!sample)
                return NULL;

        g_free(sample->version);
        g_free(sample->health);
        g_ptr_array_unref(sample->plugins);
        g_ptr_array_unref(sample->cards);
        g_free(sample);
        return NULL;
}

/* Where the value of a property goes. */
typedef struct Target {
        const char *name;
        char type; /* s, t, u */
        size_t offset;
} Target;

static const Target plugin_targets[] = {
        { "Id", 's', offsetof(TopPlugin, id) },
        { "Name", 's', offsetof(TopPlugin, name) },
        { "State", 's', offsetof(TopPlugin, state) },
        { "HostState", 's', offsetof(TopPlugin, host_state) },
        { "Failure", 's', offsetof(TopPlugin, failure) },
        { "Unit", 's', offsetof(TopPlugin, unit) },
        { "Limits", 's', offsetof(TopPlugin, limits) },
        { "MemoryCurrent", 't', offsetof(TopPlugin, memory) },
        { "MemoryMax", 't', offsetof(TopPlugin, memory_max) },
        { "TasksCurrent", 't', offsetof(TopPlugin, tasks) },
        { "TasksMax", 't', offsetof(TopPlugin, tasks_max) },
        { "CPUUsageUSec", 't', offsetof(TopPlugin, cpu_usec) },
        { "SinceUSec", 't', offsetof(TopPlugin, since_usec) },
        { "Calls", 't', offsetof(TopPlugin, calls) },
        { "Failures", 't', offsetof(TopPlugin, failures) },
        { "Pending", 't', offsetof(TopPlugin, pending) },
};

static const Target root_targets[] = {
        { "Version", 's', offsetof(TopSample, version) },
        { "Health", 's', offsetof(TopSample, health) },
        { "ActiveCount", 'u', offsetof(TopSample, active) },
        { "HostCount", 'u', offsetof(TopSample, hosts) },
        { "ApprovalCount", 'u', offsetof(TopSample, approvals) },
};

static const Target *target_find(const Target *targets, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(targets[i].name, name) == 0)
                        return &targets[i];

        return NULL;
}

static int read_value(sd_bus_message *m, const Target *target, void *into) {
        const char signature[] = { target->type, '\0' };
        char *place = (char *) into + target->offset;
        const char *text;
        int r;

        if (target->type != 's')
                return sd_bus_message_read(m, "v", signature, place);

        r = sd_bus_message_read(m, "v", "s", &text);
        if (r >= 0) {
                g_free(*(char **) place);
                *(char **) place = g_strdup(text);
        }
        return r;
}

/* The properties of one interface of an object that @targets names. */
static int read_properties(Cli *cli, const char *path, const char *interface, const Target *targets, size_t n,
                void *into, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) m = NULL, reply = NULL;
        int r;

        r = sd_bus_message_new_method_call(cli->bus, &m, CLIENT_SERVICE, path,
                        "org.freedesktop.DBus.Properties", "GetAll");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", interface);
        if (r >= 0)
                r = client_send(cli, m, CLIENT_WAIT_SHORT, &reply, reterr);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                const Target *target;
                const char *name;

                r = sd_bus_message_read(reply, "s", &name);
                if (r < 0)
                        break;
                target = target_find(targets, n, name);
                r = target ? read_value(reply, target, into) : sd_bus_message_skip(reply, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        return r;
}

static const TopPlugin *plugin_find(const TopSample *sample, const char *id) {
        for (size_t i = 0; sample && i < sample->plugins->len; i++) {
                const TopPlugin *plugin = g_ptr_array_index(sample->plugins, i);

                if (strcmp(plugin->id, id) == 0)
                        return plugin;
        }
        return NULL;
}

/* Of one processor. A host that was started again counts from nothing, so its first sample says nothing. */
static double percent(const TopSample *sample, const TopPlugin *plugin, const TopSample *before) {
        const TopPlugin *old = plugin_find(before, plugin->id);

        if (!old || old->since_usec != plugin->since_usec || plugin->since_usec == 0 ||
                        plugin->cpu_usec < old->cpu_usec || sample->time_usec <= before->time_usec)
                return -1;

        return 100.0 * (double) (plugin->cpu_usec - old->cpu_usec) /
               (double) (sample->time_usec - before->time_usec);
}

static void read_limit(TopPlugin *plugin, Jval limit, uint64_t *ret_configured) {
        const char *reason = jval_text(jval_member(limit, "reason"));

        (void) jval_uint64(jval_member(limit, "configured"), ret_configured);
        if (reason && !plugin->not_enforced)
                plugin->not_enforced = g_strdup(reason);
}

/* What is configured stands in the same text as what is in force. */
static void read_limits(TopPlugin *plugin) {
        g_autoptr(Jdoc) doc = NULL;

        if (!plugin->limits || jdoc_parse(plugin->limits, strlen(plugin->limits), NULL, &doc, NULL) < 0)
                return;
        read_limit(plugin, jval_member(jdoc_root(doc), "memory"), &plugin->memory_configured);
        read_limit(plugin, jval_member(jdoc_root(doc), "tasks"), &plugin->tasks_configured);
}

static int add_plugin(Cli *cli, TopSample *sample, const char *path, const TopSample *before,
                sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        TopPlugin *plugin = g_new0(TopPlugin, 1);
        int r;

        r = read_properties(cli, path, CLIENT_SERVICE ".Plugin", plugin_targets,
                        G_N_ELEMENTS(plugin_targets), plugin, &error);
        if (r < 0 || !plugin->id || !plugin->name || !plugin->state || !plugin->host_state) {
                plugin_free(plugin);
                /* gone since we asked for the list */
                if (r >= 0 || sd_bus_error_has_name(&error, ERROR_NO_SUCH_PLUGIN) ||
                                sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_OBJECT))
                        return 0;
                (void) sd_bus_error_move(reterr, &error);
                return r;
        }

        read_limits(plugin);
        plugin->cpu_percent = percent(sample, plugin, before);
        g_ptr_array_add(sample->plugins, plugin);
        return 0;
}

static int add_plugins(Cli *cli, TopSample *sample, const TopSample *before, sd_bus_error *reterr) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *path;
        int r;

        r = client_call(cli, ".Plugins", "List", CLIENT_WAIT_SHORT, &reply, reterr, "a{sv}", 0);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(sosss)");
        while (r >= 0 && (r = sd_bus_message_read(reply, "(sosss)", NULL, &path, NULL, NULL, NULL)) > 0)
                r = add_plugin(cli, sample, path, before, reterr);

        return r;
}

static int add_cards(Cli *cli, TopSample *sample, sd_bus_error *reterr) {
        g_autoptr(GArray) ids = NULL;
        int r;

        if (sample->approvals == 0)
                return 0;
        r = approver_list(cli, &ids, reterr);
        if (r < 0)
                return r;

        for (guint i = 0; i < ids->len && sample->cards->len < CARDS_MAX; i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autoptr(Card) card = NULL;
                TopCard *entry;

                if (approver_describe(cli, g_array_index(ids, uint64_t, i), &card, NULL, &error) < 0)
                        continue; /* answered meanwhile */
                entry = g_new0(TopCard, 1);
                entry->id = card->id;
                entry->title = g_strdup(card->title);
                g_ptr_array_add(sample->cards, entry);
        }
        return 0;
}

int top_sample_take(Cli *cli, const TopSample *before, TopSample **ret, sd_bus_error *reterr) {
        g_autoptr(TopSample) sample = g_new0(TopSample, 1);
        int r;

        sample->time_usec = (uint64_t) g_get_real_time();
        sample->plugins = g_ptr_array_new_with_free_func(plugin_free);
        sample->cards = g_ptr_array_new_with_free_func(card_entry_free);

        r = client_connect(cli, reterr);
        if (r >= 0)
                r = read_properties(cli, CLIENT_ROOT, CLIENT_SERVICE, root_targets,
                                G_N_ELEMENTS(root_targets), sample, reterr);
        if (r >= 0)
                r = add_plugins(cli, sample, before, reterr);
        if (r >= 0)
                r = add_cards(cli, sample, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&sample);
        return 0;
}

static double key_of(const TopPlugin *plugin, TopOrder order) {
        switch (order) {
        case TOP_ORDER_MEMORY:
                return (double) plugin->memory;
        case TOP_ORDER_CPU:
                return plugin->cpu_percent;
        case TOP_ORDER_CALLS:
                return (double) plugin->calls;
        default:
                return 0;
        }
}

static int compare(const void *a, const void *b, void *userdata) {
        const TopPlugin *left = *(const TopPlugin *const *) a, *right = *(const TopPlugin *const *) b;
        TopOrder order = *(const TopOrder *) userdata;
        double l = key_of(left, order), r = key_of(right, order);

        return l != r ? (l < r ? 1 : -1) : strcmp(left->name, right->name) ?: strcmp(left->id, right->id);
}

void top_sample_sort(TopSample *sample, TopOrder order) {
        g_ptr_array_sort_with_data(sample->plugins, compare, &order);
}

static void write_limit(JWriter *writer, const char *name, uint64_t limit) {
        jwriter_key(writer, name);
        if (limit == UINT64_MAX)
                jwriter_null(writer);
        else
                jwriter_uint(writer, limit);
}

static void write_plugin(JWriter *writer, const TopPlugin *plugin) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "id", plugin->id);
        jwriter_member_string(writer, "name", plugin->name);
        jwriter_member_string(writer, "state", plugin->state);
        jwriter_member_string(writer, "host_state", plugin->host_state);
        jwriter_member_string(writer, "unit", plugin->unit ? plugin->unit : "");
        jwriter_member_string(writer, "failure", plugin->failure ? plugin->failure : "");
        jwriter_member_uint(writer, "memory", plugin->memory);
        write_limit(writer, "memory_max", plugin->memory_max);
        jwriter_member_uint(writer, "memory_configured", plugin->memory_configured);
        jwriter_member_uint(writer, "tasks", plugin->tasks);
        write_limit(writer, "tasks_max", plugin->tasks_max);
        jwriter_member_uint(writer, "tasks_configured", plugin->tasks_configured);
        if (plugin->not_enforced)
                jwriter_member_string(writer, "not_enforced", plugin->not_enforced);
        jwriter_member_uint(writer, "cpu_usec", plugin->cpu_usec);
        jwriter_member_uint(writer, "since_usec", plugin->since_usec);
        jwriter_member_uint(writer, "calls", plugin->calls);
        jwriter_member_uint(writer, "failures", plugin->failures);
        jwriter_member_uint(writer, "pending", plugin->pending);
        jwriter_end_object(writer);
}

char *top_sample_json(const TopSample *sample) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "time_usec", sample->time_usec);
        jwriter_member_string(&writer, "version", sample->version ? sample->version : "");
        jwriter_member_string(&writer, "health", sample->health ? sample->health : "");
        jwriter_member_uint(&writer, "active", sample->active);
        jwriter_member_uint(&writer, "hosts", sample->hosts);
        jwriter_member_uint(&writer, "approvals", sample->approvals);
        jwriter_key(&writer, "plugins");
        jwriter_begin_array(&writer);
        for (size_t i = 0; i < sample->plugins->len; i++)
                write_plugin(&writer, g_ptr_array_index(sample->plugins, i));
        jwriter_end_array(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}
