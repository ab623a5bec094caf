/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "schema/schema.h"

static int read_file(const char *path, size_t bytes_max, char **ret, size_t *ret_size, sd_bus_error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        int r = fd < 0 ? -errno : safe_read_fd(fd, bytes_max, ret, ret_size);

        if (r == -EFBIG)
                (void) errors_set(reterr, ERROR_TOO_LARGE, "%s: more than %zu bytes", path, bytes_max);
        else if (r < 0)
                (void) errors_set(reterr, ERROR_IO, "%s: %s", path, strerror(-r));
        return r;
}

static int check_instance(const Schema *schema, const char *path, char **ret_text, sd_bus_error *reterr) {
        g_autofree char *text = NULL, *reasons = NULL;
        g_autoptr(Jdoc) doc = NULL;
        JdocError error;
        size_t size;
        int r;

        r = read_file(path, CALL_ARGUMENTS_BYTES_MAX, &text, &size, reterr);
        if (r < 0)
                return r;
        r = jdoc_parse(text, size, NULL, &doc, &error);
        if (r < 0) {
                *ret_text = g_strdup_printf("%s:%zu:%zu: %s", path, error.line, error.column, error.message);
                return r;
        }
        reasons = schema_explain(schema, jdoc_root(doc));
        *ret_text = reasons ? g_strdup_printf("%s: not valid: %s", path, reasons) : g_strdup_printf("%s: valid", path);
        return reasons ? -EINVAL : 0;
}

int schema_check_file(const char *schema_path, const char *instance_path, char **ret_text, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(Schema) schema = NULL;
        g_autofree char *text = NULL;
        size_t size;
        int r;

        r = read_file(schema_path, TOOL_SCHEMA_BYTES_MAX, &text, &size, reterr);
        if (r < 0)
                return r;
        r = schema_compile(text, size, NULL, &schema, &error);
        if (r < 0) {
                *ret_text = g_strdup_printf("%s: %s", schema_path, error.message);
                return r;
        }
        if (instance_path)
                return check_instance(schema, instance_path, ret_text, reterr);

        *ret_text = g_strdup_printf("%s: a schema of draft %s", schema_path, schema_draft_to_string(schema_draft(schema)));
        return 0;
}
