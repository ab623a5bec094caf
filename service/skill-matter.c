/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <libfyaml.h>
#include <string.h>

#include "common/limits.h"
#include "service/skill-matter.h"

#define FENCE "---"

typedef struct fy_document FyDocument;

static void document_destroy(FyDocument *document) {
        fy_document_destroy(document);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FyDocument, document_destroy)

SkillMatter *skill_matter_free(SkillMatter *matter) {
        if (!matter)
                return NULL;

        g_free(matter->name);
        g_free(matter->description);
        g_free(matter->argument_hint);
        g_free(matter->when_to_use);
        g_strfreev(matter->aliases_for);
        g_strfreev(matter->languages);
        g_strfreev(matter->localized);
        g_strfreev(matter->warnings);
        g_free(matter);
        return NULL;
}

static int refuse(char **ret_reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(char **ret_reason, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        *ret_reason = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        return -EBADMSG;
}

/* ---- the two fences ---- */

/* The line at @at without its end; @ret_next is where the following one begins. */
static size_t line_at(const char *at, const char *end, const char **ret_next) {
        const char *newline = memchr(at, '\n', (size_t) (end - at));
        size_t length = (size_t) ((newline ?: end) - at);

        *ret_next = newline ? newline + 1 : end;
        return length > 0 && at[length - 1] == '\r' ? length - 1 : length;
}

static bool is_fence(const char *line, size_t length) {
        return length == strlen(FENCE) && memcmp(line, FENCE, length) == 0;
}

static int find_matter(const char *text, size_t size, const char **ret_begin, const char **ret_end, size_t *ret_body, char **ret_reason) {
        const char *end = text + size, *at = text, *next;
        size_t length = line_at(at, end, &next);

        if (!is_fence(at, length))
                return refuse(ret_reason, "it does not begin with front matter (a line of three dashes)");

        *ret_begin = next;
        for (at = next; at < end; at = next) {
                length = line_at(at, end, &next);
                if (!is_fence(at, length))
                        continue;
                *ret_end = at;
                *ret_body = (size_t) (next - text);
                return 0;
        }
        return refuse(ret_reason, "its front matter does not end");
}

/* ---- values ---- */

static bool is_plain_word(struct fy_node *node, const char *const *words) {
        size_t length;
        const char *text = fy_node_get_scalar(node, &length);

        for (size_t i = 0; text && fy_node_get_style(node) == FYNS_PLAIN && words[i]; i++)
                if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
                        return true;
        return false;
}

static bool is_null(struct fy_node *node) {
        static const char *const words[] = { "null", "Null", "NULL", "~", "", NULL };

        return !node || is_plain_word(node, words);
}

/* A text on one line or more; no control characters but tab and newline */
static int read_text(const char *key, struct fy_node *node, char **ret, char **ret_reason) {
        g_autofree char *copy = NULL;
        const char *text;
        size_t length;

        if (!node || fy_node_is_alias(node) || !fy_node_is_scalar(node) || is_null(node))
                return refuse(ret_reason, "its %s is no text", key);
        text = fy_node_get_scalar(node, &length);
        if (!text || memchr(text, '\0', length))
                return refuse(ret_reason, "its %s is no text", key);

        copy = g_strndup(text, length);
        for (const char *at = copy; *at; at = g_utf8_next_char(at))
                if (g_unichar_iscntrl(g_utf8_get_char(at)) && *at != '\t' && *at != '\n')
                        return refuse(ret_reason, "its %s holds control characters", key);
        g_strstrip(copy);
        if (copy[0] == '\0')
                return refuse(ret_reason, "its %s is blank", key);

        g_free(*ret);
        *ret = g_steal_pointer(&copy);
        return 0;
}

static int read_boolean(const char *key, struct fy_node *node, bool *ret, char **ret_reason) {
        static const char *const yes[] = { "true", "True", "TRUE", NULL };
        static const char *const no[] = { "false", "False", "FALSE", NULL };

        if (!node || fy_node_is_alias(node) || !fy_node_is_scalar(node))
                return refuse(ret_reason, "its %s is neither true nor false", key);
        if (is_plain_word(node, yes))
                *ret = true;
        else if (is_plain_word(node, no))
                *ret = false;
        else
                return refuse(ret_reason, "its %s is neither true nor false", key);
        return 0;
}

static void strv_add(char ***list, char *text) {
        size_t length = *list ? g_strv_length(*list) : 0;

        *list = g_renew(char *, *list, length + 2);
        (*list)[length] = text;
        (*list)[length + 1] = NULL;
}

static int read_list(const char *key, struct fy_node *node, char ***ret, char **ret_reason) {
        struct fy_node *item;
        void *iter = NULL;
        int r;

        if (node && !fy_node_is_alias(node) && fy_node_is_sequence(node)) {
                while ((item = fy_node_sequence_iterate(node, &iter))) {
                        char *text = NULL;

                        if (*ret && g_strv_length(*ret) >= SKILL_LIST_MAX)
                                return refuse(ret_reason, "its %s has more than %u items", key, SKILL_LIST_MAX);
                        r = read_text(key, item, &text, ret_reason);
                        if (r < 0)
                                return r;
                        strv_add(ret, text);
                }
                return 0;
        }

        char *text = NULL;
        r = read_text(key, node, &text, ret_reason);
        if (r >= 0)
                strv_add(ret, text);
        return r;
}

/* ---- keys ---- */

static int read_invocation(SkillMatter *matter, const char *key, struct fy_node *node, char **ret_reason) {
        g_autofree char *word = NULL;
        int r = read_text(key, node, &word, ret_reason);

        if (r < 0)
                return r;
        if (strcmp(word, "explicit-only") == 0)
                matter->model = false;
        else if (strcmp(word, "model+user") != 0)
                return refuse(ret_reason, "its invocation is neither \"model+user\" nor \"explicit-only\"");
        return 0;
}

static int read_disabled(SkillMatter *matter, const char *key, struct fy_node *node, char **ret_reason) {
        bool disabled = false;
        int r = read_boolean(key, node, &disabled, ret_reason);

        if (disabled)
                matter->model = false;
        return r;
}

static bool is_language(const char *tag) {
        size_t length = strlen(tag);

        if (length < 2 || length > SKILL_LANGUAGE_CHARS_MAX)
                return false;
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_isalnum(tag[i]) && tag[i] != '-' && tag[i] != '_')
                        return false;
        return true;
}

static int read_localized(SkillMatter *matter, const char *key, struct fy_node *node, char **ret_reason) {
        const char *tag = strchr(key, '_') + 1;
        char *text = NULL;
        int r;

        if (!is_language(tag))
                return refuse(ret_reason, "its %s names no language", key);
        if (matter->languages && g_strv_length(matter->languages) >= SKILL_LIST_MAX)
                return refuse(ret_reason, "it has descriptions in more than %u languages", SKILL_LIST_MAX);
        r = read_text(key, node, &text, ret_reason);
        if (r < 0)
                return r;
        strv_add(&matter->languages, g_strdup(tag));
        strv_add(&matter->localized, text);
        return 0;
}

static int read_key(SkillMatter *matter, const char *key, struct fy_node *value, char **ret_reason) {
        static const char *const without_effect[] = { "allowed-tools", "model", "context", "agent", NULL };

        if (strcmp(key, "name") == 0)
                return read_text(key, value, &matter->name, ret_reason);
        if (strcmp(key, "description") == 0)
                return read_text(key, value, &matter->description, ret_reason);
        if (strcmp(key, "argument-hint") == 0)
                return read_text(key, value, &matter->argument_hint, ret_reason);
        if (strcmp(key, "when_to_use") == 0)
                return read_text(key, value, &matter->when_to_use, ret_reason);
        if (strcmp(key, "aliases-for") == 0)
                return read_list(key, value, &matter->aliases_for, ret_reason);
        if (strcmp(key, "invocation") == 0)
                return read_invocation(matter, key, value, ret_reason);
        if (strcmp(key, "disable-model-invocation") == 0)
                return read_disabled(matter, key, value, ret_reason);
        if (strcmp(key, "user-invocable") == 0)
                return read_boolean(key, value, &matter->user, ret_reason);
        if (g_str_has_prefix(key, "description_"))
                return read_localized(matter, key, value, ret_reason);
        if (g_strv_contains(without_effect, key))
                strv_add(&matter->warnings, g_strdup_printf("%s has no effect here: a skill is given nothing by what it says", key));
        return 0;
}

static int read_mapping(SkillMatter *matter, struct fy_node *root, char **ret_reason) {
        struct fy_node_pair *pair;
        void *iter = NULL;

        if (!root || !fy_node_is_mapping(root))
                return refuse(ret_reason, "its front matter is no mapping of keys to values");

        while ((pair = fy_node_mapping_iterate(root, &iter))) {
                g_autofree char *key = NULL, *ignored = NULL;
                int r;

                if (read_text("key", fy_node_pair_key(pair), &key, &ignored) < 0)
                        return refuse(ret_reason, "its front matter has a key that is no text");
                r = read_key(matter, key, fy_node_pair_value(pair), ret_reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- the whole ---- */

static bool is_name(const char *name) {
        size_t length = strlen(name);

        if (length > SKILL_NAME_CHARS_MAX || !g_ascii_isalnum(name[0]))
                return false;
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_isalnum(name[i]) && name[i] != '-' && name[i] != '_')
                        return false;
        return true;
}

static size_t length_of(char **list) {
        size_t bytes = 0;

        for (size_t i = 0; list && list[i]; i++)
                bytes += strlen(list[i]);
        return bytes;
}

static int check_matter(SkillMatter *matter, size_t size, char **ret_reason) {
        if (!matter->name)
                return refuse(ret_reason, "its front matter has no name");
        if (!matter->description)
                return refuse(ret_reason, "its front matter has no description");
        if (!is_name(matter->name))
                return refuse(ret_reason, "its name is not a letter or digit and then at most %u letters, digits, '_' or '-'",
                              SKILL_NAME_CHARS_MAX - 1);
        if (!matter->model && !matter->user)
                return refuse(ret_reason, "neither a model nor a person may choose it");

        matter->kept = size - matter->body + strlen(matter->name) + strlen(matter->description) +
                        strlen(matter->argument_hint ?: "") + strlen(matter->when_to_use ?: "") + length_of(matter->aliases_for) +
                        length_of(matter->localized);
        return 0;
}

static void say_nothing(struct fy_diag *diag, void *user, const char *text, size_t size) {
        (void) diag;
        (void) user;
        (void) text;
        (void) size;
}

/* The library would print its complaints; what an author needs is in the refusal. */
static FyDocument *build_document(const char *text, size_t size) {
        struct fy_diag_cfg quiet;
        struct fy_diag *diag;
        FyDocument *document;

        fy_diag_cfg_default(&quiet);
        quiet.fp = NULL;
        quiet.output_fn = say_nothing;
        diag = fy_diag_create(&quiet);
        const struct fy_parse_cfg config = {
                .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE, .diag = diag,
        };

        document = fy_document_build_from_string(&config, text, size);
        fy_diag_unref(diag);
        return document;
}

static bool is_blank(const char *text, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (!g_ascii_isspace(text[i]))
                        return false;
        return true;
}

int skill_matter_parse(const char *text, size_t size, SkillMatter **ret, char **ret_reason) {
        g_autoptr(SkillMatter) matter = g_new0(SkillMatter, 1);
        g_autoptr(FyDocument) document = NULL;
        const char *begin = text, *end = text;
        int r;

        if (size > SKILL_FILE_BYTES_MAX)
                return refuse(ret_reason, "it is larger than %zu bytes", SKILL_FILE_BYTES_MAX);
        if (memchr(text, '\0', size) || !g_utf8_validate(text, (gssize) size, NULL))
                return refuse(ret_reason, "it is not UTF-8 text");
        r = find_matter(text, size, &begin, &end, &matter->body, ret_reason);
        if (r < 0)
                return r;
        if ((size_t) (end - begin) > SKILL_MATTER_BYTES_MAX)
                return refuse(ret_reason, "its front matter is larger than %zu bytes", SKILL_MATTER_BYTES_MAX);

        matter->model = matter->user = true;
        if (is_blank(begin, (size_t) (end - begin)))
                return refuse(ret_reason, "its front matter is no mapping of keys to values");
        document = build_document(begin, (size_t) (end - begin));
        if (!document)
                return refuse(ret_reason, "its front matter is not YAML, or has a key twice");
        r = read_mapping(matter, fy_document_root(document), ret_reason);
        if (r >= 0)
                r = check_matter(matter, size, ret_reason);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&matter);
        return 0;
}
