/* SPDX-License-Identifier: MIT */
#pragma once

/* A registry and owners of two real plugins that lie in a home nobody else writes to: "one" has two entries, "two" one. */

#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "fixture.h"
#include "service/builtin-commands.h"
#include "service/plugin-set.h"
#include "service/registry.h"
#include "service/selection-view.h"

typedef struct Registered {
        char *folder;
        CodewhaleHome *home;
        PluginSet *set;
        Registry *registry;
        Owner *one, *two;
        unsigned changes[_REGISTRATION_KIND_MAX];
} Registered;

void registered_up(Registered *registered, const void *data);
void registered_down(Registered *registered, const void *data);

/** registered_owner() - a further activation of a plugin; owned by the caller */
Owner *registered_owner(Registered *registered, const char *plugin);

/** registered_activate() - an owner and all of its entries become active */
void registered_activate(Owner *owner);

/** registered_propose() - as a message of the host would; the handle, or 0 and the refusal (a new string) */
uint64_t registered_propose(
                Registered *registered, Owner *owner, size_t entry, const char *kind, const char *spec, char **ret_refusal);

/* The handle, or 0 when it was refused */
uint64_t registered_tool(Registered *registered, Owner *owner, size_t entry, const char *name);
uint64_t registered_command(Registered *registered, Owner *owner, const char *name);

/** registered_find() - what a session with these lists (NULL: none) finds under the name of a tool or command */
Registration *registered_find(
                Registered *registered, const SelectionLists *lists, RegistrationKind kind, const char *name, sd_bus_error *reterr);

#define assert_refused(registered, owner, kind, spec, word)                                         \
        do {                                                                                        \
                g_autofree char *said = NULL;                                                       \
                g_assert_cmpuint(registered_propose(registered, owner, 0, kind, spec, &said), ==, 0); \
                g_test_message("%s", said);                                                         \
                g_assert_nonnull(strstr(said, word));                                               \
        } while (0)

#define REGISTERED_TEST(path, function) g_test_add(path, Registered, NULL, registered_up, function, registered_down)
