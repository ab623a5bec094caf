/* SPDX-License-Identifier: MIT */
#pragma once

/* Which JavaScript runtime the hosts run on (contract 3.1, 3.2): found by looking where the configuration or PATH says,
 * judged by running it, and pinned once a host spoke with it. */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "common/jwriter.h"

typedef enum RuntimeKind {
        RUNTIME_NODE,
        RUNTIME_BUN,
        RUNTIME_AUTO, /* in configuration only */
        _RUNTIME_KIND_MAX,
        _RUNTIME_KIND_INVALID = -EINVAL,
} RuntimeKind;

const char *runtime_kind_to_string(RuntimeKind kind);
RuntimeKind runtime_kind_from_string(const char *word);

typedef struct Runtime {
        RuntimeKind kind;
        char *path;    /* absolute, canonical */
        char *version; /* without the v, such as 24.22.3 */
        unsigned major, minor, patch;
} Runtime;

typedef struct RuntimeConfig {
        RuntimeKind kind;
        const char *node; /* NULL, or the only candidate */
        const char *bun;
        const char *search_path; /* as PATH */
        const char *bun_install; /* NULL, or where Bun was installed ($BUN_INSTALL); ~/.bun otherwise */
} RuntimeConfig;

/** runtime_version_parse() - "v24.22.3" into numbers; -EINVAL for anything else */
int runtime_version_parse(const char *text, unsigned ret[static 3]);

/** runtime_version_meets_floor() - ^22.19 || >=24 for Node, >=1.4 for Bun (H12) */
bool runtime_version_meets_floor(RuntimeKind kind, const unsigned version[static 3]);

/**
 * runtime_candidates() - absolute paths that may be run to ask for their version, in order (H11)
 * @config:      RUNTIME_NODE or RUNTIME_BUN
 * @directory:   the current working directory
 * @home:        the home directory
 * @ret_skipped: NULL, or what was passed over and why, one line each
 *
 * Relative entries, anything inside a node_modules folder and anything inside the working directory is never a candidate;
 * the last rule is off when the working directory is / or contains the home. Return: a NULL-terminated list.
 */
char **runtime_candidates(const RuntimeConfig *config, const char *directory, const char *home, GPtrArray *ret_skipped);

typedef struct RuntimeSelector RuntimeSelector;

/* @runtime is NULL when none is suitable; @why then says what was found, skipped and needed. Both live during the call. */
typedef void (*RuntimeSelected)(const Runtime *runtime, const char *why, void *userdata);

/** runtime_selector_new() - remembers copies of the configuration; runs nothing yet */
RuntimeSelector *runtime_selector_new(sd_event *event, const RuntimeConfig *config);
RuntimeSelector *runtime_selector_free(RuntimeSelector *selector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RuntimeSelector, runtime_selector_free)

/**
 * runtime_selector_select() - choose, by running candidates with --version and an empty environment
 * @selected: called once, possibly before this returns when the choice is known
 *
 * RUNTIME_AUTO looks for Bun first, then for Node, and keeps why it is not Bun. What was chosen is kept; a failed search is
 * made anew each time.
 */
void runtime_selector_select(RuntimeSelector *selector, RuntimeSelected selected, void *userdata);

/** runtime_selector_forget() - @selected with this userdata will not be called any more */
void runtime_selector_forget(RuntimeSelector *selector, void *userdata);

/** runtime_selector_reset() - forget the choice unless it is pinned, with a new configuration; for reload */
void runtime_selector_reset(RuntimeSelector *selector, const RuntimeConfig *config);

/** runtime_selector_pin() - a host completed its handshake: keep to this runtime while the service lives */
void runtime_selector_pin(RuntimeSelector *selector);

/**
 * runtime_selector_fail() - a host could not be brought up with this kind of runtime
 * @ret_first: whether this is the first time, so that it is said once
 *
 * A choice that is not pinned is forgotten.
 *
 * Return: true when another kind is to be tried: the choice was automatic, Bun, and never completed a handshake. From then
 * on it is Node, for as long as the service runs or until it is reloaded.
 */
bool runtime_selector_fail(RuntimeSelector *selector, RuntimeKind kind, const char *reason, bool *ret_first);

/** runtime_selector_describe() - what is chosen and why, as a JSON object */
void runtime_selector_describe(const RuntimeSelector *selector, JWriter *writer);
