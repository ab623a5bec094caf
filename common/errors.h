/* SPDX-License-Identifier: MIT */
#pragma once

/* Every error name that this service puts on the bus, one per outcome. Callers may rely on them: a name is never reused
 * for another meaning. The texts beside them are for people and always valid UTF-8 (errors_set() sees to that). */

#include <systemd/sd-bus.h>

#define ERROR_PREFIX "org.codewhale.Extensions.Error."

/* The caller's mistake */
#define ERROR_INVALID_ARGUMENTS   ERROR_PREFIX "InvalidArguments"   /* not JSON, or against the tool's schema */
#define ERROR_INVALID_OPTION      ERROR_PREFIX "InvalidOption"      /* unknown or ill-typed entry of a{sv} options */
#define ERROR_TOO_LARGE           ERROR_PREFIX "TooLarge"           /* a size limit of limits.h */
#define ERROR_LIMIT_EXCEEDED      ERROR_PREFIX "LimitExceeded"      /* a count limit of limits.h */
#define ERROR_BUSY                ERROR_PREFIX "Busy"               /* this client has too much in flight */
#define ERROR_NO_SUCH_PLUGIN      ERROR_PREFIX "NoSuchPlugin"
#define ERROR_AMBIGUOUS_PLUGIN    ERROR_PREFIX "AmbiguousPlugin"
#define ERROR_NO_SUCH_TOOL        ERROR_PREFIX "NoSuchTool"
#define ERROR_NO_SUCH_COMMAND     ERROR_PREFIX "NoSuchCommand"
#define ERROR_NO_SUCH_SESSION     ERROR_PREFIX "NoSuchSession"
#define ERROR_NO_SUCH_REQUEST     ERROR_PREFIX "NoSuchRequest"
#define ERROR_NO_SUCH_APPROVAL    ERROR_PREFIX "NoSuchApproval"
#define ERROR_NO_SUCH_GRANT       ERROR_PREFIX "NoSuchGrant"
#define ERROR_NO_SUCH_DECISION    ERROR_PREFIX "NoSuchDecision"
#define ERROR_NO_SUCH_KEY         ERROR_PREFIX "NoSuchKey"
#define ERROR_NO_SUCH_SKILL       ERROR_PREFIX "NoSuchSkill"
#define ERROR_STALE_SELECTION     ERROR_PREFIX "StaleSelection"     /* a skill that was chosen before its plugin was started again */
#define ERROR_NOT_SUPPORTED       ERROR_PREFIX "NotSupported"
#define ERROR_ACCESS_DENIED       ERROR_PREFIX "AccessDenied"       /* this connection may not use the service, or not this object */

/* Bundles and trust */
#define ERROR_INVALID_MANIFEST     ERROR_PREFIX "InvalidManifest"
#define ERROR_INVALID_BUNDLE       ERROR_PREFIX "InvalidBundle"       /* device, budget, bad path, damaged archive */
#define ERROR_PATH_TRAVERSAL       ERROR_PREFIX "PathTraversal"       /* a name in an archive leads out of it */
#define ERROR_LINK_FOUND           ERROR_PREFIX "LinkFound"           /* a bundle or archive holds a link */
#define ERROR_NO_BUNDLE            ERROR_PREFIX "NoBundle"            /* a source holds no manifest */
#define ERROR_SEVERAL_BUNDLES      ERROR_PREFIX "SeveralBundles"      /* a source holds more than one */
#define ERROR_INVALID_TOKEN        ERROR_PREFIX "InvalidToken"        /* a trust token that is no token */
#define ERROR_CONTENT_CHANGED      ERROR_PREFIX "ContentChanged"      /* the bytes differ from what was reviewed */
#define ERROR_CAPABILITIES_CHANGED ERROR_PREFIX "CapabilitiesChanged" /* what it asks for differs */
#define ERROR_NOT_TRUSTED          ERROR_PREFIX "NotTrusted"
#define ERROR_NOT_ACTIVE           ERROR_PREFIX "NotActive"           /* disabled, inapplicable, unsupported or not staged */
#define ERROR_STILL_ENABLED        ERROR_PREFIX "StillEnabled"        /* uninstall of an enabled bundle */
#define ERROR_ALREADY_INSTALLED    ERROR_PREFIX "AlreadyInstalled"
#define ERROR_NOT_INSTALLED_BY_US  ERROR_PREFIX "NotInstalledByUs"    /* no installer marker */
#define ERROR_NOT_AUTHORIZED       ERROR_PREFIX "NotAuthorized"       /* a personal act that nobody confirmed */
#define ERROR_STATE_INVALID        ERROR_PREFIX "StateInvalid"        /* the state file cannot be trusted */
#define ERROR_NETWORK_APPROVAL     ERROR_PREFIX "NetworkApproval"     /* the source is elsewhere and nobody said to fetch it */
#define ERROR_NETWORK_DENIED       ERROR_PREFIX "NetworkDenied"       /* the configuration forbids to fetch anything */
#define ERROR_DOWNLOAD_FAILED      ERROR_PREFIX "DownloadFailed"      /* not there, not to be trusted, too slow */

/* The outcome of a call */
#define ERROR_REFUSED_BY_POLICY ERROR_PREFIX "RefusedByPolicy" /* a rule, mode, posture or the refused list */
#define ERROR_DENIED            ERROR_PREFIX "Denied"          /* a person said no */
#define ERROR_TIMED_OUT         ERROR_PREFIX "TimedOut"        /* nobody answered the card in time */
#define ERROR_NO_APPROVER       ERROR_PREFIX "NoApprover"      /* nobody is there to ask */
#define ERROR_WITHDRAWN         ERROR_PREFIX "Withdrawn"       /* the card was taken back */
#define ERROR_CANCELLED         ERROR_PREFIX "Cancelled"       /* by the caller, or the plugin was withdrawn */
#define ERROR_HOOK_DENIED       ERROR_PREFIX "HookDenied"      /* a pre-execute listener said no */
#define ERROR_HOOK_FAILED       ERROR_PREFIX "HookFailed"      /* a pre-execute listener could not be asked */
#define ERROR_EXECUTION_FAILED  ERROR_PREFIX "ExecutionFailed" /* the plugin's code threw or answered nonsense */
#define ERROR_DEADLINE_EXCEEDED ERROR_PREFIX "DeadlineExceeded" /* the plugin did not answer in time */
#define ERROR_HOST_UNAVAILABLE  ERROR_PREFIX "HostUnavailable" /* the host is down; the text says why */
#define ERROR_SANDBOX_REFUSED   ERROR_PREFIX "SandboxRefused"  /* a wall does not hold; the text names it */

/* Approvals */
#define ERROR_ALREADY_DECIDED ERROR_PREFIX "AlreadyDecided"
#define ERROR_DIGEST_MISMATCH ERROR_PREFIX "DigestMismatch"
#define ERROR_NOT_APPROVER    ERROR_PREFIX "NotApprover"
#define ERROR_OWN_APPROVAL    ERROR_PREFIX "OwnApproval" /* a requester answering its own card */

/* Storage */
#define ERROR_CORRUPT        ERROR_PREFIX "Corrupt"
#define ERROR_QUOTA_EXCEEDED ERROR_PREFIX "QuotaExceeded"
#define ERROR_IO             ERROR_PREFIX "IO"

/**
 * errors_set() - fill in an error for the bus, with a text that a stranger may have coloured
 * @reterr: the error to set; NULL is allowed and only maps the name
 * @name:   one of the names above
 * @format: the text; the result is made valid UTF-8 and control characters are escaped
 *
 * sd_bus_error_setf() would pass on bytes that make the bus disconnect the sender, so every text that quotes a file, a
 * plugin or a client goes through here. Longer texts than ERROR_TEXT_BYTES_MAX are cut with an ellipsis.
 *
 * Return: the negative errno that belongs to @name (never 0).
 */
int errors_set(sd_bus_error *reterr, const char *name, const char *format, ...)
                __attribute__((format(printf, 3, 4)));

/**
 * errors_register() - make sd-bus translate our error names to errno values and back; call once, before any bus
 *
 * Return: 0 or a negative errno.
 */
int errors_register(void);

/**
 * errors_to_errno() - the negative errno of one of our error names
 * @name: a D-Bus error name
 *
 * Return: the mapped value, -EIO for names that are not ours.
 */
int errors_to_errno(const char *name);
