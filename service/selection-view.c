/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "service/selection-view.h"

int session_open(
                SessionTable *table, Registry *registry, const char *client, const SessionOptions *options, Session **ret,
                sd_bus_error *reterr) {
        int r = session_table_open(table, client, options, ret, reterr);

        if (r < 0)
                return r;
        r = registry_know_tools(registry, (const char *const *) options->lists.native_tools);
        if (r >= 0 && options->lists.builtin_commands)
                r = registry_know_commands(registry, (const char *const *) options->lists.builtin_commands);
        if (r >= 0)
                return 0;

        session_close(*ret);
        return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "No more names of native tools and commands can be kept: %u are known.",
                          TOOLS_MAX);
}

static const char *entry_path(const Registration *registration) {
        return registration->entry ? registration->entry->path : NULL;
}

static bool chosen(const Selection *selection, const Registration *registration) {
        return selection_has(selection, owner_get_plugin(registration->owner), entry_path(registration));
}

/* ---- one name ---- */

typedef struct Search {
        const Selection *selection;
        Registration *first;    /* of those that the session chose */
        Registration *second;
        Registration *foreign;  /* one that it did not */
} Search;

static void look_at(Registration *registration, void *userdata) {
        Search *search = userdata;

        if (!chosen(search->selection, registration))
                search->foreign = registration;
        else if (!search->first)
                search->first = registration;
        else
                search->second = registration;
}

/* Why the session can't have what the search found; NULL when it can. */
static char *search_refusal(const Search *search) {
        const Registration *found = search->first ?: search->foreign;
        const Plugin *plugin = owner_get_plugin(found->owner);
        const char *shadow;

        if (!search->first && !selection_sees(search->selection, plugin))
                return g_strdup_printf("'%s' of %s belongs to another workspace than this session", found->name,
                                       plugin_get_id(plugin));
        if (!search->first)
                return g_strdup_printf("this session does not use the plugin %s, whose '%s' it is", plugin_get_name(plugin),
                                       found->name);
        shadow = selection_shadow(search->selection, found->kind, found->folded);
        if (shadow)
                return g_strdup_printf("%s has the name '%s', so that of %s is not used", shadow, found->name,
                                       plugin_get_name(plugin));
        if (search->second)
                return g_strdup_printf("two entries of %s offer '%s', and this session uses both", plugin_get_name(plugin),
                                       found->name);
        return NULL;
}

int selection_find(
                const Selection *selection, Registry *registry, RegistrationKind kind, const char *name, Registration **ret,
                sd_bus_error *reterr) {
        Search search = { .selection = selection };
        g_autofree char *refusal = NULL;

        registry_foreach_named(registry, kind, name, look_at, &search);
        if (!search.first && !search.foreign)
                return -ENODATA;

        refusal = search_refusal(&search);
        if (refusal)
                return errors_set(reterr, kind == REGISTRATION_TOOL ? ERROR_NO_SUCH_TOOL : ERROR_NO_SUCH_COMMAND,
                                  "There is no %s '%s' here: %s.", kind == REGISTRATION_TOOL ? "tool" : "command", name, refusal);
        *ret = search.first;
        return 0;
}

/* ---- all of them ---- */

typedef struct Walk {
        const Selection *selection;
        Registry *registry;
        void (*each)(Registration *registration, void *userdata);
        void (*each_hidden)(const Registration *registration, const char *why, void *userdata);
        void *userdata;
} Walk;

static void walk_one(Registration *registration, void *userdata) {
        const Walk *walk = userdata;
        Search search = { .selection = walk->selection };
        g_autofree char *refusal = NULL;

        if (registration->kind == REGISTRATION_HOOK && selection_hears(walk->selection, registration))
                walk->each(registration, walk->userdata);
        if (registration->kind == REGISTRATION_HOOK || !chosen(walk->selection, registration))
                return;

        registry_foreach_namesake(walk->registry, registration, look_at, &search);
        refusal = search_refusal(&search);
        if (!refusal && walk->each)
                walk->each(registration, walk->userdata);
        else if (refusal && walk->each_hidden)
                walk->each_hidden(registration, refusal, walk->userdata);
}

void selection_foreach(
                const Selection *selection, Registry *registry, RegistrationKind kind,
                void (*each)(Registration *registration, void *userdata), void *userdata) {
        Walk walk = { .selection = selection, .registry = registry, .each = each, .userdata = userdata };

        registry_foreach(registry, kind, walk_one, &walk);
}

void selection_foreach_hidden(
                const Selection *selection, Registry *registry,
                void (*each)(const Registration *registration, const char *why, void *userdata), void *userdata) {
        Walk walk = { .selection = selection, .registry = registry, .each_hidden = each, .userdata = userdata };

        registry_foreach(registry, REGISTRATION_TOOL, walk_one, &walk);
        registry_foreach(registry, REGISTRATION_COMMAND, walk_one, &walk);
}

bool selection_hears(const Selection *selection, const Registration *listener) {
        return selection_sees(selection, owner_get_plugin(listener->owner));
}
