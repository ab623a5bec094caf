/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/call-arguments.h"
#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"

bool call_arguments_are_pairs(char **words, int n) {
        return n > 0 && words[0][0] != '{' && words[0][0] != '@' && strcmp(words[0], "-") != 0;
}

/* Reads all there is, a pipe too, up to the limit. */
static int read_input(int fd, char **ret, size_t *ret_size) {
        g_autoptr(GByteArray) data = g_byte_array_new();
        guint8 part[16384];

        for (;;) {
                ssize_t n = read(fd, part, sizeof part);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                if (data->len + (size_t) n > CALL_ARGUMENTS_BYTES_MAX)
                        return -EFBIG;
                g_byte_array_append(data, part, (guint) n);
        }

        *ret_size = data->len;
        g_byte_array_append(data, (const guint8 *) "", 1);
        *ret = (char *) g_byte_array_free(g_steal_pointer(&data), FALSE);
        return 0;
}

static int read_source(const char *word, char **ret, size_t *ret_size, char **ret_error) {
        _cleanup_close_ int opened = -EBADF;
        int fd = STDIN_FILENO, r = 0;

        if (word[0] == '@') {
                fd = opened = open(word + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY);
                r = fd < 0 ? -errno : 0;
        }
        if (r >= 0)
                r = read_input(fd, ret, ret_size);
        if (r == -EFBIG)
                *ret_error = g_strdup_printf(
                                "Arguments may have at most %zu bytes.", CALL_ARGUMENTS_BYTES_MAX);
        else if (r < 0)
                *ret_error = g_strdup_printf("Cannot read %s: %s.",
                                word[0] == '@' ? word + 1 : "standard input", g_strerror(-r));

        return r;
}

/* The object as it is; read here only to say where it is wrong before anything was sent. */
static int take_json(const char *text, size_t size, char **ret, char **ret_error) {
        JdocLimits limits = { CALL_ARGUMENTS_BYTES_MAX, JSON_DEPTH_MAX, JSON_NODES_MAX };
        g_autoptr(Jdoc) doc = NULL;
        JdocError where = {};
        int r;

        r = jdoc_parse(text, size, &limits, &doc, &where);
        if (r < 0) {
                *ret_error = g_strdup_printf("The arguments are not JSON: %s at line %zu, column %zu.",
                                where.message ? where.message : g_strerror(-r), where.line, where.column);
                return -EINVAL;
        }
        if (!jval_is(jdoc_root(doc), J_OBJECT)) {
                *ret_error = g_strdup_printf("The arguments must be one JSON object, not %s.",
                                jtype_to_string(jval_type(jdoc_root(doc))));
                return -EINVAL;
        }

        *ret = g_strndup(text, size);
        return 0;
}

static bool is_string_only(Jval schema, const char *key, size_t key_size) {
        Jval type = jval_member(jval_member_n(jval_member(schema, "properties"), key, key_size), "type");

        if (jval_is(type, J_ARRAY) && jval_length(type) == 1)
                type = jval_element(type, 0);
        return jval_equals_text(type, "string");
}

static bool is_json(const char *text) {
        g_autoptr(Jdoc) doc = NULL;

        return jdoc_parse(text, strlen(text), NULL, &doc, NULL) >= 0;
}

static int refuse_word(
                const char *format_begin, const char *word, const char *format_end, char **ret_error) {
        g_autofree char *shown = sanitize_line(word, 128, NULL);

        *ret_error = g_strconcat(format_begin, shown, format_end, NULL);
        return -EINVAL;
}

static int add_pair(const char *word, Jval schema, GHashTable *seen, JWriter *writer, char **ret_error) {
        const char *equals = strchr(word, '=');
        bool explicit_json = equals && equals > word && equals[-1] == ':';
        size_t key_size = equals ? (size_t) (equals - word) - explicit_json : 0;
        const char *value = equals ? equals + 1 : NULL;
        char *key;

        if (key_size == 0)
                return refuse_word("\"", word,
                                "\" is no KEY=VALUE. Arguments are JSON, @FILE, - or KEY=VALUE.", ret_error);

        key = g_strndup(word, key_size);
        if (!g_hash_table_add(seen, key))
                return refuse_word("\"", key, "\" is given twice.", ret_error);
        if (explicit_json && !is_json(value))
                return refuse_word("What stands behind \"", key, ":=\" is not JSON.", ret_error);

        jwriter_key(writer, key);
        if (explicit_json || (!is_string_only(schema, key, key_size) && is_json(value)))
                jwriter_raw(writer, value, strlen(value));
        else
                jwriter_string(writer, value);
        return 0;
}

static int build_pairs(char **words, int n, Jval schema, char **ret, char **ret_error) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autofree char *text = NULL;
        g_auto(JWriter) writer = {};
        size_t size;
        int r;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        for (int i = 0; i < n; i++) {
                r = add_pair(words[i], schema, seen, &writer, ret_error);
                if (r < 0)
                        return r;
        }
        jwriter_end_object(&writer);

        text = jwriter_steal(&writer, &size);
        return take_json(text, size, ret, ret_error);
}

int call_arguments_build(char **words, int n, Jval schema, char **ret, char **ret_error) {
        g_autofree char *text = NULL;
        size_t size = 0;
        int r;

        if (n == 0) {
                *ret = g_strdup("{}");
                return 0;
        }
        if (call_arguments_are_pairs(words, n))
                return build_pairs(words, n, schema, ret, ret_error);
        if (n > 1)
                return refuse_word("Nothing may follow \"", words[0],
                                "\": arguments are one JSON object, or KEY=VALUE.", ret_error);
        if (words[0][0] == '{')
                return take_json(words[0], strlen(words[0]), ret, ret_error);

        r = read_source(words[0], &text, &size, ret_error);
        return r < 0 ? r : take_json(text, size, ret, ret_error);
}
