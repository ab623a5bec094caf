/* SPDX-License-Identifier: MIT */
#pragma once

/* What an extension may ask the core for, and how hard it is to get (contract 6.5, 6.6, 5.6.2). By name and
 * by what the call says; names are folded (case, aliases, actions) before they are looked up. */

#include <errno.h>
#include <stdbool.h>

#include "common/jdoc.h"
#include "policy/decision.h"

/**
 * core_call_refused() - whether a nested call is on the refused list
 * @name:         as it was called
 * @input:        its arguments
 * @is_extension: the name is registered by an extension, own or foreign
 * @ret_why:      NULL, or a static text
 *
 * Ask before planning, and again after a hook rewrote the input.
 */
bool core_call_refused(const char *name, Jval input, bool is_extension, const char **ret_why);

typedef enum CoreCallClass {
        CORE_CALL_AUTO_ELIGIBLE, /* read-only and local: no request when planning asks nothing */
        CORE_CALL_ORDINARY,
        CORE_CALL_FORCED, /* shell, network: a person every time, no grant counts */
        _CORE_CALL_CLASS_MAX,
        _CORE_CALL_CLASS_INVALID = -EINVAL,
} CoreCallClass;

const char *core_call_class_to_string(CoreCallClass class);

/**
 * core_call_classify() - how hard a nested call is to get
 * @capabilities: what the registered tool declares
 */
CoreCallClass core_call_classify(const char *name, Jval input, ToolCapabilities capabilities);

/** core_call_auto_names() - the policy names that are auto-eligible, ending in NULL */
const char *const *core_call_auto_names(void);
