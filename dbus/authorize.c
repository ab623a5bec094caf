/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "dbus/authorize.h"
#include "dbus/paths.h"

typedef struct MethodRule {
        const char *interface;
        const char *member;
        AuthorizeAction action;
} MethodRule;

static const MethodRule method_rules[] = {
        { INTERFACE_ROOT,      "Describe",      AUTHORIZE_READ     },
        { INTERFACE_ROOT,      "Doctor",        AUTHORIZE_READ     },
        { INTERFACE_ROOT,      "OpenChannel",   AUTHORIZE_USE      },
        { INTERFACE_ROOT,      "Reload",        AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "List",          AUTHORIZE_READ     },
        { INTERFACE_PLUGINS,   "Describe",      AUTHORIZE_READ     },
        { INTERFACE_PLUGINS,   "Validate",      AUTHORIZE_READ     },
        { INTERFACE_PLUGINS,   "Review",        AUTHORIZE_READ     },
        { INTERFACE_PLUGINS,   "Preview",       AUTHORIZE_MANAGE   }, /* it may fetch something */
        { INTERFACE_PLUGINS,   "Install",       AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "Update",        AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "Trust",         AUTHORIZE_PERSONAL },
        { INTERFACE_PLUGINS,   "Enable",        AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "Disable",       AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "Revoke",        AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGINS,   "Uninstall",     AUTHORIZE_MANAGE   },
        { INTERFACE_PLUGIN,    "Describe",      AUTHORIZE_READ     },
        { INTERFACE_PLUGIN,    "Usage",         AUTHORIZE_READ     },
        { INTERFACE_TOOLS,     "List",          AUTHORIZE_READ     },
        { INTERFACE_TOOLS,     "Describe",      AUTHORIZE_READ     },
        { INTERFACE_TOOLS,     "Call",          AUTHORIZE_USE      },
        { INTERFACE_TOOLS,     "CallBytes",     AUTHORIZE_USE      },
        { INTERFACE_TOOLS,     "CallFd",        AUTHORIZE_USE      },
        { INTERFACE_TOOLS,     "Start",         AUTHORIZE_USE      },
        { INTERFACE_TOOLS,     "CheckSchema",   AUTHORIZE_READ     },
        { INTERFACE_COMMANDS,  "List",          AUTHORIZE_READ     },
        { INTERFACE_COMMANDS,  "Run",           AUTHORIZE_USE      },
        { INTERFACE_COMMANDS,  "Start",         AUTHORIZE_USE      },
        { INTERFACE_HOOKS,     "List",          AUTHORIZE_READ     },
        { INTERFACE_PROMPT,    "Snapshot",      AUTHORIZE_USE      },
        { INTERFACE_SKILLS,    "List",          AUTHORIZE_READ     },
        { INTERFACE_SKILLS,    "Describe",      AUTHORIZE_READ     },
        { INTERFACE_SKILLS,    "Load",          AUTHORIZE_USE      },
        { INTERFACE_SKILLS,    "LoadFd",        AUTHORIZE_USE      },
        { INTERFACE_STORAGE,   "List",          AUTHORIZE_READ     },
        { INTERFACE_STORAGE,   "Get",           AUTHORIZE_READ     },
        { INTERFACE_STORAGE,   "Usage",         AUTHORIZE_READ     },
        { INTERFACE_STORAGE,   "Delete",        AUTHORIZE_MANAGE   },
        { INTERFACE_STORAGE,   "Repair",        AUTHORIZE_MANAGE   },
        { INTERFACE_SESSIONS,  "Open",          AUTHORIZE_USE      },
        { INTERFACE_SESSIONS,  "List",          AUTHORIZE_READ     },
        { INTERFACE_SESSIONS,  "RegisterCore",  AUTHORIZE_USE      },
        { INTERFACE_SESSIONS,  "UnregisterCore", AUTHORIZE_USE     },
        { INTERFACE_SESSION,   "Close",         AUTHORIZE_USE      },
        { INTERFACE_SESSION,   "SetPosture",    AUTHORIZE_PERSONAL },
        { INTERFACE_SESSION,   "SetMode",       AUTHORIZE_USE      },
        { INTERFACE_SESSION,   "Hidden",        AUTHORIZE_READ     },
        { INTERFACE_APPROVALS, "Register",      AUTHORIZE_ANSWER   },
        { INTERFACE_APPROVALS, "Unregister",    AUTHORIZE_ANSWER   },
        { INTERFACE_APPROVALS, "List",          AUTHORIZE_READ     },
        { INTERFACE_APPROVALS, "ListApprovers", AUTHORIZE_READ     },
        { INTERFACE_APPROVALS, "Describe",      AUTHORIZE_READ     },
        { INTERFACE_APPROVALS, "Answer",        AUTHORIZE_ANSWER   },
        { INTERFACE_APPROVAL,  "Answer",        AUTHORIZE_ANSWER   },
        { INTERFACE_APPROVAL,  "OpenArguments", AUTHORIZE_READ     },
        { INTERFACE_GRANTS,    "List",          AUTHORIZE_READ     },
        { INTERFACE_GRANTS,    "Describe",      AUTHORIZE_READ     },
        { INTERFACE_GRANTS,    "Revoke",        AUTHORIZE_MANAGE   },
        { INTERFACE_DECISIONS, "Query",         AUTHORIZE_READ     },
        { INTERFACE_DECISIONS, "Get",           AUTHORIZE_READ     },
        { INTERFACE_POLICY,    "Show",          AUTHORIZE_READ     },
        { INTERFACE_POLICY,    "Check",         AUTHORIZE_READ     },
        { INTERFACE_POLICY,    "Explain",       AUTHORIZE_READ     },
        { INTERFACE_REQUEST,   "Close",         AUTHORIZE_USE      },
};

AuthorizeAction authorize_find(const char *interface, const char *member) {
        for (size_t i = 0; i < sizeof(method_rules) / sizeof(method_rules[0]); i++)
                if (strcmp(method_rules[i].interface, interface) == 0 && strcmp(method_rules[i].member, member) == 0)
                        return method_rules[i].action;

        return _AUTHORIZE_ACTION_INVALID;
}

int authorize_call(const Caller *caller, const char *interface, const char *member, sd_bus_error *reterr) {
        (void) caller;

        if (!interface || !member || authorize_find(interface, member) < 0)
                return errors_set(reterr, ERROR_ACCESS_DENIED, "Method %s.%s has no rule that allows it.",
                                interface ?: "?", member ?: "?");

        return 1;
}
