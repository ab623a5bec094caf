/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"

static const sd_bus_error_map error_map[] = {
        SD_BUS_ERROR_MAP(ERROR_INVALID_ARGUMENTS,    EINVAL),
        SD_BUS_ERROR_MAP(ERROR_INVALID_OPTION,       EINVAL),
        SD_BUS_ERROR_MAP(ERROR_TOO_LARGE,            E2BIG),
        SD_BUS_ERROR_MAP(ERROR_LIMIT_EXCEEDED,       ENOBUFS),
        SD_BUS_ERROR_MAP(ERROR_BUSY,                 EBUSY),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_PLUGIN,       ENOENT),
        SD_BUS_ERROR_MAP(ERROR_AMBIGUOUS_PLUGIN,     ENOTUNIQ),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_TOOL,         ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_COMMAND,      ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_SESSION,      ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_REQUEST,      ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_APPROVAL,     ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_GRANT,        ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_DECISION,     ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_KEY,          ENOENT),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_SKILL,        ENOENT),
        SD_BUS_ERROR_MAP(ERROR_STALE_SELECTION,      ESTALE),
        SD_BUS_ERROR_MAP(ERROR_NOT_SUPPORTED,        EOPNOTSUPP),
        SD_BUS_ERROR_MAP(ERROR_ACCESS_DENIED,        EACCES),
        SD_BUS_ERROR_MAP(ERROR_INVALID_MANIFEST,     EBADMSG),
        SD_BUS_ERROR_MAP(ERROR_INVALID_BUNDLE,       EBADMSG),
        SD_BUS_ERROR_MAP(ERROR_PATH_TRAVERSAL,       EXDEV),
        SD_BUS_ERROR_MAP(ERROR_LINK_FOUND,           ELOOP),
        SD_BUS_ERROR_MAP(ERROR_NO_BUNDLE,            ENOMEDIUM),
        SD_BUS_ERROR_MAP(ERROR_SEVERAL_BUNDLES,      ENOTUNIQ),
        SD_BUS_ERROR_MAP(ERROR_INVALID_TOKEN,        EINVAL),
        SD_BUS_ERROR_MAP(ERROR_CONTENT_CHANGED,      ESTALE),
        SD_BUS_ERROR_MAP(ERROR_CAPABILITIES_CHANGED, ESTALE),
        SD_BUS_ERROR_MAP(ERROR_NOT_TRUSTED,          EKEYREJECTED),
        SD_BUS_ERROR_MAP(ERROR_NOT_ACTIVE,           ENODEV),
        SD_BUS_ERROR_MAP(ERROR_STILL_ENABLED,        EBUSY),
        SD_BUS_ERROR_MAP(ERROR_ALREADY_INSTALLED,    EEXIST),
        SD_BUS_ERROR_MAP(ERROR_NOT_INSTALLED_BY_US,  EPERM),
        SD_BUS_ERROR_MAP(ERROR_NOT_AUTHORIZED,       EPERM),
        SD_BUS_ERROR_MAP(ERROR_STATE_INVALID,        EUCLEAN),
        SD_BUS_ERROR_MAP(ERROR_NETWORK_APPROVAL,     EPERM),
        SD_BUS_ERROR_MAP(ERROR_NETWORK_DENIED,       EACCES),
        SD_BUS_ERROR_MAP(ERROR_DOWNLOAD_FAILED,      ENETUNREACH),
        SD_BUS_ERROR_MAP(ERROR_REFUSED_BY_POLICY,    EPERM),
        SD_BUS_ERROR_MAP(ERROR_DENIED,               EACCES),
        SD_BUS_ERROR_MAP(ERROR_TIMED_OUT,            ETIMEDOUT),
        SD_BUS_ERROR_MAP(ERROR_NO_APPROVER,          ENOLINK),
        SD_BUS_ERROR_MAP(ERROR_WITHDRAWN,            ECANCELED),
        SD_BUS_ERROR_MAP(ERROR_CANCELLED,            ECANCELED),
        SD_BUS_ERROR_MAP(ERROR_HOOK_DENIED,          EACCES),
        SD_BUS_ERROR_MAP(ERROR_HOOK_FAILED,          EIO),
        SD_BUS_ERROR_MAP(ERROR_EXECUTION_FAILED,     EREMOTEIO),
        SD_BUS_ERROR_MAP(ERROR_DEADLINE_EXCEEDED,    ETIME),
        SD_BUS_ERROR_MAP(ERROR_HOST_UNAVAILABLE,     EHOSTDOWN),
        SD_BUS_ERROR_MAP(ERROR_SANDBOX_REFUSED,      EPERM),
        SD_BUS_ERROR_MAP(ERROR_ALREADY_DECIDED,      EALREADY),
        SD_BUS_ERROR_MAP(ERROR_DIGEST_MISMATCH,      ESTALE),
        SD_BUS_ERROR_MAP(ERROR_NOT_APPROVER,         EPERM),
        SD_BUS_ERROR_MAP(ERROR_OWN_APPROVAL,         EPERM),
        SD_BUS_ERROR_MAP(ERROR_CORRUPT,              EBADMSG),
        SD_BUS_ERROR_MAP(ERROR_QUOTA_EXCEEDED,       EDQUOT),
        SD_BUS_ERROR_MAP(ERROR_IO,                   EIO),
        SD_BUS_ERROR_MAP_END
};

int errors_register(void) {
        return sd_bus_error_add_map(error_map);
}

int errors_to_errno(const char *name) {
        for (const sd_bus_error_map *entry = error_map; entry->name; entry++)
                if (g_strcmp0(entry->name, name) == 0)
                        return -entry->code;

        return -EIO;
}

int errors_set(sd_bus_error *reterr, const char *name, const char *format, ...) {
        g_autofree char *text = NULL, *clean = NULL;
        va_list arguments;

        if (!reterr)
                return errors_to_errno(name);

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        clean = sanitize_line(text, ERROR_TEXT_BYTES_MAX, NULL);
        (void) sd_bus_error_set(reterr, name, clean);
        return errors_to_errno(name);
}
