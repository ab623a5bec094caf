/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/sha256.h"
#include "storage/record-file.h"

#define RECORD_VERSION 1
#define RECORD_SUFFIX  ".json"

int record_key_check(const char *key, size_t size) {
        if (!key || size == 0 || size > STORAGE_KEY_BYTES_MAX || memchr(key, '\0', size) ||
                        !g_utf8_validate(key, (gssize) size, NULL))
                return -EINVAL;

        return 0;
}

void record_file_name(const char *key, size_t size, char ret[static RECORD_NAME_CHARS + 1]) {
        g_autofree char *hash = sha256_hex(key, size);

        memcpy(ret, hash, SHA256_HEX_CHARS);
        memcpy(ret + SHA256_HEX_CHARS, RECORD_SUFFIX, sizeof RECORD_SUFFIX);
}

int record_name_check(const char *name) {
        if (strlen(name) != RECORD_NAME_CHARS || strcmp(name + SHA256_HEX_CHARS, RECORD_SUFFIX) != 0)
                return -EINVAL;

        return strspn(name, "0123456789abcdef") == SHA256_HEX_CHARS ? 0 : -EINVAL;
}

int record_value_check(const char *json, size_t size, const char **ret_begin, size_t *ret_size) {
        static const JdocLimits limits = {
                .bytes_max = RECORD_FILE_BYTES_MAX,
                .depth_max = JSON_DEPTH_MAX,
                .nodes_max = STORAGE_VALUE_BYTES_MAX,
        };
        g_autoptr(Jdoc) doc = NULL;
        size_t value_size;
        const char *value;

        if (!json)
                return -EINVAL;
        /* Before it is read: what is far too long need not be JSON to be too long. */
        if (size > RECORD_FILE_BYTES_MAX)
                return -EDQUOT;
        if (jdoc_parse(json, size, &limits, &doc, NULL) < 0)
                return -EINVAL;

        value = jval_source(jdoc_root(doc), &value_size);
        if (value_size > STORAGE_VALUE_BYTES_MAX)
                return -EDQUOT;

        *ret_begin = value;
        *ret_size = value_size;
        return 0;
}

char *record_encode(
                const char *key, size_t key_size, const char *value, size_t value_size, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "version", RECORD_VERSION);
        jwriter_key(&writer, "key");
        jwriter_string_n(&writer, key, key_size);
        jwriter_key(&writer, "value");
        jwriter_raw(&writer, value, value_size);
        jwriter_end_object(&writer);
        g_string_append_c(writer.out, '\n');
        return jwriter_steal(&writer, ret_size);
}

int record_decode(const char *name, const char *data, size_t size, char **ret_key, char **ret_value,
                size_t *ret_value_size) {
        /* The envelope is one level around a value that may use them all. */
        static const JdocLimits limits = {
                .bytes_max = RECORD_FILE_BYTES_MAX,
                .depth_max = JSON_DEPTH_MAX + 1,
                .nodes_max = RECORD_FILE_BYTES_MAX,
        };
        g_autoptr(Jdoc) doc = NULL;
        char expected[RECORD_NAME_CHARS + 1];
        size_t key_size, value_size;
        const char *key, *value;
        uint64_t version;
        Jval root;

        if (size == 0 || data[size - 1] != '\n' || jdoc_parse(data, size, &limits, &doc, NULL) < 0)
                return -EBADMSG;
        root = jdoc_root(doc);
        if (!jval_is(root, J_OBJECT) || jval_length(root) != 3)
                return -EBADMSG;
        if (jval_uint64(jval_member(root, "version"), &version) < 0 || version != RECORD_VERSION)
                return -EBADMSG;

        key = jval_string(jval_member(root, "key"), &key_size);
        value = jval_source(jval_member(root, "value"), &value_size);
        if (!value || record_key_check(key, key ? key_size : 0) < 0 || value_size > STORAGE_VALUE_BYTES_MAX)
                return -EBADMSG;
        record_file_name(key, key_size, expected);
        if (strcmp(expected, name) != 0)
                return -EBADMSG;

        if (ret_key)
                *ret_key = g_strndup(key, key_size);
        if (ret_value)
                *ret_value = g_strndup(value, value_size);
        *ret_value_size = value_size;
        return 0;
}
