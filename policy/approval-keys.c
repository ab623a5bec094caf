/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/sha256.h"
#include "policy/approval-keys.h"
#include "policy/command.h"
#include "policy/operand.h"
#include "policy/tool-name.h"

void approval_keys_done(ApprovalKeys *keys) {
        g_clear_pointer(&keys->exact, g_free);
        g_clear_pointer(&keys->grouping, g_free);
        g_clear_pointer(&keys->any, g_free);
        keys->extension_origin = false;
}

char *arguments_hash(Jval arguments) {
        g_autofree char *canonical = jval_canonical(arguments);

        return sha256_hex(canonical, strlen(canonical));
}

/* Parts of a key are separated by ':' and '@'; neither may come from inside a part. */
static void append_part(GString *key, const char *part) {
        for (; *part != '\0'; part++) {
                unsigned char c = (unsigned char) *part;

                if (c == ':' || c == '@' || c == '%' || c < 0x21 || c == 0x7f)
                        g_string_append_printf(key, "%%%02x", c);
                else
                        g_string_append_c(key, (char) c);
        }
}

static int append_scope(GString *key, const BuildScope *scope) {
        if (!scope->plugin || !scope->content_hash || *scope->plugin == '\0' || *scope->content_hash == '\0')
                return -EINVAL;
        if (!scope->entry != !scope->selection || !scope->entry != !scope->boot)
                return -EINVAL;

        append_part(key, scope->plugin);
        g_string_append_c(key, '@');
        append_part(key, scope->content_hash);
        if (scope->entry) {
                g_string_append_c(key, ':');
                append_part(key, scope->entry);
                g_string_append_c(key, ':');
                append_part(key, scope->selection);
                g_string_append_c(key, ':');
                append_part(key, scope->boot);
        }
        return 0;
}

static int extension_keys(const ApprovalSubject *subject, const char *hash, ApprovalKeys *keys) {
        g_autoptr(GString) key = g_string_new("ext:");
        int r = append_scope(key, subject->build);

        if (r < 0)
                return r;
        g_string_append_c(key, ':');
        append_part(key, subject->tool);
        keys->any = g_strconcat(key->str, ":*", NULL);
        g_string_append_c(key, ':');
        g_string_append(key, hash);
        keys->exact = g_strdup(key->str);
        keys->grouping = g_strdup(key->str);
        return 0;
}

static char *shell_grouping(const char *exact, Jval arguments) {
        const char *text = jval_text(jval_member(arguments, "command"));
        g_autoptr(Command) command = text ? command_parse(text) : NULL;
        g_autofree char *family = command ? command_family(command) : NULL;

        return family ? g_strdup_printf("shell:%s", family) : g_strdup(exact);
}

static int compare_texts(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static char *patch_grouping(const char *exact, Jval arguments) {
        bool complete;
        g_autoptr(GPtrArray) paths = operand_paths("apply_patch", arguments, &complete);
        g_autoptr(GString) all = g_string_new(NULL);
        g_autofree char *hash = NULL;

        if (!complete || paths->len == 0)
                return g_strdup(exact);

        g_ptr_array_sort(paths, compare_texts);
        for (guint i = 0; i < paths->len; i++)
                g_string_append_printf(all, "%s\n", (char *) paths->pdata[i]);
        hash = sha256_hex(all->str, all->len);
        return g_strdup_printf("patch:%s", hash);
}

static void core_keys(const char *tool, Jval arguments, const char *hash, ApprovalKeys *keys) {
        g_autoptr(GString) name = g_string_new(NULL);
        g_autofree char *host = NULL;

        append_part(name, tool);
        switch (tool_category(tool)) {
        case CATEGORY_FILE_WRITE:
                keys->exact = g_strdup_printf("file:%s:%s", name->str, hash);
                keys->grouping = g_ascii_strcasecmp(tool, "apply_patch") == 0
                                                 ? patch_grouping(keys->exact, arguments)
                                                 : g_strdup(keys->exact);
                break;
        case CATEGORY_SHELL:
                keys->exact = g_strdup_printf("shell:%s:%s", name->str, hash);
                keys->grouping = shell_grouping(keys->exact, arguments);
                break;
        case CATEGORY_NETWORK:
                host = operand_host(arguments);
                keys->exact = host ? g_strdup_printf("net:%s", host)
                                   : g_strdup_printf("tool:%s:%s", name->str, hash);
                keys->grouping = g_strdup(keys->exact);
                break;
        default:
                keys->exact = g_strdup_printf("tool:%s:%s", name->str, hash);
                keys->grouping = g_strdup(keys->exact);
                keys->any = g_strdup_printf("tool:%s:*", name->str);
                break;
        }
}

static void prefix_key(char **key, const char *prefix) {
        char *longer = *key ? g_strdup_printf("%s:%s", prefix, *key) : NULL;

        g_free(*key);
        *key = longer;
}

static int nest_keys(const BuildScope *caller, ApprovalKeys *keys) {
        g_autoptr(GString) prefix = g_string_new("extcall:");
        int r = append_scope(prefix, caller);

        if (r < 0)
                return r;
        prefix_key(&keys->exact, prefix->str);
        prefix_key(&keys->grouping, prefix->str);
        prefix_key(&keys->any, prefix->str);
        keys->extension_origin = true;
        return 0;
}

int approval_keys_make(const ApprovalSubject *subject, Jval arguments, ApprovalKeys *ret) {
        g_auto(ApprovalKeys) keys = {};
        g_autofree char *hash = NULL;
        int r = 0;

        if (!subject->tool || *subject->tool == '\0')
                return -EINVAL;

        hash = arguments_hash(arguments);
        if (subject->build)
                r = extension_keys(subject, hash, &keys);
        else
                core_keys(subject->tool, arguments, hash, &keys);
        if (r >= 0 && subject->called_from)
                r = nest_keys(subject->called_from, &keys);
        if (r < 0)
                return r;

        *ret = keys;
        keys = (ApprovalKeys){};
        return 0;
}
