/* SPDX-License-Identifier: MIT */
#pragma once

/* The interfaces in an introspection text as lines that can be compared: names, directions, types, names of arguments,
 * access and the annotations that matter. */

#include <glib.h>

typedef struct InterfaceList {
        GHashTable *interfaces; /* name -> GPtrArray of lines, sorted */
        GPtrArray *undocumented; /* "interface.member" of each member without a comment in front */
} InterfaceList;

InterfaceList *interface_list_parse(const char *xml);
InterfaceList *interface_list_free(InterfaceList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(InterfaceList, interface_list_free)

/** interface_list_lines() - one interface as a text of sorted lines; NULL when it is not there */
char *interface_list_lines(const InterfaceList *list, const char *interface);
