/* SPDX-License-Identifier: MIT */
#include "interface-list.h"

#include <stdbool.h>
#include <string.h>

#define EMITS "org.freedesktop.DBus.Property.EmitsChangedSignal"

typedef struct Parse {
        InterfaceList *list;
        char *interface;
        char *member_name;
        GString *member; /* the line so far */
        bool property;
        const char *emits;
        bool comment; /* since the last element */
} Parse;

static const char *attribute(const char **names, const char **values, const char *wanted) {
        for (size_t i = 0; names[i]; i++)
                if (strcmp(names[i], wanted) == 0)
                        return values[i];

        return "";
}

static void begin_member(Parse *parse, const char *element, const char **names, const char **values) {
        const char *name = attribute(names, values, "name");

        parse->member = g_string_new(NULL);
        g_string_append_printf(parse->member, "%s %s", element, name);
        parse->member_name = g_strdup(name);
        parse->property = strcmp(element, "property") == 0;
        parse->emits = "true";
        if (parse->property)
                g_string_append_printf(parse->member, " %s %s", attribute(names, values, "type"), attribute(names, values, "access"));
        if (!parse->comment)
                g_ptr_array_add(parse->list->undocumented, g_strconcat(parse->interface, ".", name, NULL));
}

static void add_annotation(Parse *parse, const char **names, const char **values) {
        const char *name = attribute(names, values, "name"), *value = attribute(names, values, "value");

        if (strcmp(name, EMITS) == 0)
                parse->emits = g_intern_string(value);
        else
                g_string_append_printf(parse->member, " %s=%s", name, value);
}

static void on_start(GMarkupParseContext *context, const char *element, const char **names, const char **values,
                void *userdata, GError **reterr) {
        Parse *parse = userdata;

        (void) context;
        (void) reterr;
        if (strcmp(element, "interface") == 0) {
                parse->interface = g_strdup(attribute(names, values, "name"));
                g_hash_table_insert(parse->list->interfaces, g_strdup(parse->interface), g_ptr_array_new_with_free_func(g_free));
                if (!parse->comment)
                        g_ptr_array_add(parse->list->undocumented, g_strdup(parse->interface));
        } else if (strcmp(element, "arg") == 0) {
                const char *direction = attribute(names, values, "direction");

                g_string_append_printf(parse->member, " %s:%s:%s", direction[0] ? direction : "-", attribute(names, values, "type"),
                                attribute(names, values, "name"));
        } else if (strcmp(element, "annotation") == 0)
                add_annotation(parse, names, values);
        else if (parse->interface)
                begin_member(parse, element, names, values);
        parse->comment = false;
}

static void end_member(Parse *parse) {
        GPtrArray *lines = g_hash_table_lookup(parse->list->interfaces, parse->interface);

        if (parse->property)
                g_string_append_printf(parse->member, " emits=%s", parse->emits);
        g_ptr_array_add(lines, g_string_free(parse->member, FALSE));
        parse->member = NULL;
        g_clear_pointer(&parse->member_name, g_free);
}

static void on_end(GMarkupParseContext *context, const char *element, void *userdata, GError **reterr) {
        Parse *parse = userdata;

        (void) context;
        (void) reterr;
        if (strcmp(element, "interface") == 0)
                g_clear_pointer(&parse->interface, g_free);
        else if (strcmp(element, "method") == 0 || strcmp(element, "property") == 0 || strcmp(element, "signal") == 0)
                end_member(parse);
}

static void on_passthrough(GMarkupParseContext *context, const char *text, size_t size, void *userdata, GError **reterr) {
        Parse *parse = userdata;

        (void) context;
        (void) reterr;
        if (g_str_has_prefix(text, "<!--") && size > strlen("<!-- ab -->"))
                parse->comment = true;
}

static int compare_lines(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static void drop_lines(void *lines) {
        g_ptr_array_unref(lines);
}

InterfaceList *interface_list_parse(const char *xml) {
        static const GMarkupParser parser = {
                .start_element = on_start, .end_element = on_end, .passthrough = on_passthrough,
        };
        InterfaceList *list = g_new0(InterfaceList, 1);
        Parse parse = { .list = list };
        g_autoptr(GMarkupParseContext) context = NULL;
        g_autoptr(GError) error = NULL;
        GHashTableIter iter;
        void *lines;

        list->interfaces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, drop_lines);
        list->undocumented = g_ptr_array_new_with_free_func(g_free);
        context = g_markup_parse_context_new(&parser, 0, &parse, NULL);
        g_assert_true(g_markup_parse_context_parse(context, xml, -1, &error));
        g_assert_true(g_markup_parse_context_end_parse(context, &error));

        g_hash_table_iter_init(&iter, list->interfaces);
        while (g_hash_table_iter_next(&iter, NULL, &lines))
                g_ptr_array_sort(lines, compare_lines);
        return list;
}

InterfaceList *interface_list_free(InterfaceList *list) {
        if (!list)
                return NULL;

        g_hash_table_unref(list->interfaces);
        g_ptr_array_unref(list->undocumented);
        g_free(list);
        return NULL;
}

char *interface_list_lines(const InterfaceList *list, const char *interface) {
        GPtrArray *lines = g_hash_table_lookup(list->interfaces, interface);
        GString *text = g_string_new(NULL);

        if (!lines) {
                g_string_free(text, TRUE);
                return NULL;
        }
        for (size_t i = 0; i < lines->len; i++)
                g_string_append_printf(text, "%s\n", (char *) g_ptr_array_index(lines, i));
        return g_string_free(text, FALSE);
}
