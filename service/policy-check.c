/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/errors.h"
#include "policy/policy-set.h"
#include "policy/repository-law.h"
#include "service/config-read.h"
#include "service/policy-explain.h"
#include "service/policy-file.h"

/* Each reads the whole of a document and returns how many entries it has. */
static size_t read_permissions(RuleSource source, PolicyFile *file) {
        g_autoptr(PolicySet) set = policy_set_new();

        (void) policy_set_load(set, source, policy_file_root(file), &file->document);
        return rule_set_length(set->rules);
}

static size_t read_user(PolicyFile *file) {
        return read_permissions(RULE_USER, file);
}

static size_t read_administrator(PolicyFile *file) {
        return read_permissions(RULE_ADMIN, file);
}

static size_t read_law(PolicyFile *file) {
        g_autoptr(RepositoryLaw) law = repository_law_new();

        (void) repository_law_load(law, policy_file_root(file), &file->document);
        return jval_length(jval_member(policy_file_root(file), "protect")) + jval_length(jval_member(policy_file_root(file), "tools"));
}

static size_t read_project(PolicyFile *file) {
        g_auto(ProjectWish) wish = {};

        (void) project_wish_load(policy_file_root(file), &wish, &file->document);
        return wish.has_posture + (wish.denied != NULL);
}

static size_t read_config(PolicyFile *file) {
        g_autoptr(Config) config = config_new();

        return config_read(config, file);
}

static const struct {
        const char *kind;
        size_t (*read)(PolicyFile *file);
        bool has_secrets;
} kinds[] = {
        { "permissions", read_user, false },
        { "administrator", read_administrator, false },
        { "law", read_law, false },
        { "project", read_project, false },
        { "config", read_config, true },
};

int policy_check(const char *kind, const char *text, size_t size, char **ret_json, sd_bus_error *reterr) {
        g_autoptr(PolicyFile) file = policy_file_new(kind);
        g_auto(JWriter) writer = {};
        size_t entries = 0, i = 0;

        while (i < G_N_ELEMENTS(kinds) && !g_str_equal(kinds[i].kind, kind))
                i++;
        if (i == G_N_ELEMENTS(kinds))
                return errors_set(reterr, ERROR_INVALID_OPTION,
                                  "There is no kind '%s'; known are permissions, administrator, law, project and config.", kind);
        file->has_secrets = kinds[i].has_secrets;
        if (policy_file_parse(file, text, size) >= 0)
                entries = kinds[i].read(file);
        policy_file_forget(file);

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_boolean(&writer, "valid", file->document.error >= 0);
        jwriter_member_string(&writer, "kind", kind);
        jwriter_member_uint(&writer, "entries", entries);
        jwriter_key(&writer, "mistakes");
        policy_file_write_mistakes(file, &writer);
        jwriter_member_uint(&writer, "dropped", file->document.dropped);
        jwriter_end_object(&writer);
        *ret_json = jwriter_steal(&writer, NULL);
        return 0;
}
