/* SPDX-License-Identifier: MIT */
#pragma once

/* One thing that a plugin registered: a tool, a command or a pre-execute listener. Its handle is never used again while the
 * service runs. Whoever keeps one across a return to the loop keeps a reference and asks registration_is_usable() again. */

#include "common/jdoc.h"
#include "policy/tool-name.h"
#include "schema/schema.h"
#include "service/owner.h"

typedef enum RegistrationKind {
        REGISTRATION_TOOL,
        REGISTRATION_COMMAND,
        REGISTRATION_HOOK,
        _REGISTRATION_KIND_MAX,
        _REGISTRATION_KIND_INVALID = -EINVAL,
} RegistrationKind;

typedef struct Registration {
        unsigned n_ref;
        uint64_t handle;
        RegistrationKind kind;
        Owner *owner;
        OwnerEntry *entry; /* of @owner; NULL when the owner has a single one and named none */
        bool withdrawn;
        bool listed;    /* it comes from a record */
        bool confirmed; /* and the activation registered the same */
        const char *gone; /* why it was withdrawn, when there is more to say than that; static */
        char *name;        /* of the tool or command; the event of a hook */
        char *folded;      /* the name in lower case: the key that must be unique */
        char *description; /* of a hook: its label */
        char *hint;        /* of a command; NULL when it takes no arguments */
        char *schema_text; /* of a tool, as it was registered */
        Schema *schema;    /* of a tool; NULL until it is used when a record lists it: registration_use_schema() */
} Registration;

Registration *registration_ref(Registration *registration);
Registration *registration_unref(Registration *registration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Registration, registration_unref)

/* Names that sessions have themselves and that nobody may register (4.2, 5.2). @commands NULL: not known yet. */
typedef struct RegistrationNames {
        NativeNames *tools, *commands;
} RegistrationNames;

/**
 * registration_new() - from the spec of a registry/register message, checked by the rules of its kind (4.1, 4.2, 4.8)
 * @spec:        shape-checked
 * @taken:       what tools and commands may not be called
 * @judged:      a tool's schema compiled when this was recorded: it waits for its first use
 * @ret_refusal: why it was refused, for the author; a new string, set only with -EPERM
 *
 * Return: 0 or -EPERM.
 */
int registration_new(
                RegistrationKind kind, Owner *owner, OwnerEntry *entry, Jval spec, const RegistrationNames *taken, bool judged,
                Registration **ret, char **ret_refusal);

/**
 * registration_compile_schema() - the arguments' schema of a tool, by the rules for one: an object at its root, at most
 * TOOL_SCHEMA_BYTES_MAX, nothing from outside (5.1, O05)
 *
 * Return: as schema_compile().
 */
int registration_compile_schema(const char *text, size_t size, Schema **ret, sd_bus_error *reterr);

/**
 * registration_use_schema() - the compiled schema of a tool, for judging arguments
 * @ret: borrowed from @tool; NULL when it has none
 *
 * A compiled schema takes many times the memory of its text, and of most tools that are listed none is called.
 * Return: 0; -errno with ERROR_EXECUTION_FAILED in @reterr when what was recorded does not compile any more.
 */
int registration_use_schema(Registration *tool, const Schema **ret, sd_bus_error *reterr);

/** registration_is_same() - whether two of one owner and entry say the same to callers */
bool registration_is_same(const Registration *a, const Registration *b);

/** registration_is_usable() - it is registered, and its owner and entry are active, or all three are known from a record */
bool registration_is_usable(const Registration *registration);
