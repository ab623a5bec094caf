/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/sha256.h"
#include "service/service.h"

/* Reading one skill for a session (contract 4.5). Instructions travel by value: what a finished turn used is the caller's, and
 * nothing that happens here later changes it. */

#define RECEIPT_DOMAIN "codewhale-skill-selection-v1"

typedef struct Found {
        Plugin *plugin; /* a reference */
        const SkillRoot *root;
        const Skill *skill;
} Found;

static int find(Service *service, const Session *session, const char *name, Found *ret, sd_bus_error *reterr) {
        static const SelectionLists none;
        g_autoptr(Selection) implicit = NULL;

        if (!session)
                (void) selection_new(&none, "", &implicit, NULL);
        return skill_registry_find(registry_get_skills(service->registry), session ? session->selection : implicit, name,
                                   &ret->root, &ret->skill, reterr);
}

/* Looking at the bytes may end the plugin and with it what was found, so it is found again afterwards. */
static int find_verified(Service *service, const Session *session, const char *name, Found *ret, sd_bus_error *reterr) {
        uint64_t generation;
        int r = find(service, session, name, ret, reterr);

        if (r < 0)
                return r;
        ret->plugin = plugin_ref(owner_get_plugin(ret->root->owner));
        generation = owner_get_state_generation(ret->root->owner);
        r = plugin_set_verify(service->plugins, ret->plugin, generation, reterr);
        if (r >= 0)
                r = find(service, session, name, ret, reterr);
        if (r < 0)
                ret->plugin = plugin_unref(ret->plugin);
        return r;
}

/* Names exactly this registration of exactly these bytes for exactly this session. It is no secret and opens nothing: it only
 * tells whether what was chosen still is what is there. */
static char *make_receipt(const Session *session, const Found *found) {
        Sha256 *hash = sha256_new();
        char *receipt;

        sha256_update_text(hash, RECEIPT_DOMAIN);
        sha256_update_text(hash, session ? session->id : "");
        sha256_update_u64(hash, owner_get_generation(found->root->owner));
        sha256_update_u64(hash, found->root->handle);
        sha256_update_text(hash, found->root->entry->path);
        sha256_update_text(hash, found->skill->path);
        sha256_update_text(hash, found->skill->sha256);
        receipt = sha256_finish_hex(hash);
        sha256_free(hash);
        return receipt;
}

static char *skill_to_json(const Session *session, const Found *found, const char *instructions, size_t size) {
        g_autofree char *receipt = make_receipt(session, found);
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        skill_write(found->skill, &writer);
        jwriter_member_string(&writer, "plugin", plugin_get_id(found->plugin));
        jwriter_member_string(&writer, "entry", found->root->entry->path);
        jwriter_member_string(&writer, "root", found->root->path);
        jwriter_member_string(&writer, "receipt", receipt);
        if (instructions) {
                jwriter_key(&writer, "instructions");
                jwriter_string_n(&writer, instructions, size);
        }
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

int service_describe_skill(Service *service, const Session *session, const char *name, char **ret_json, sd_bus_error *reterr) {
        Found found = {};
        int r = find_verified(service, session, name, &found, reterr);

        if (r < 0)
                return r;
        *ret_json = skill_to_json(session, &found, NULL, 0);
        plugin_unref(found.plugin);
        return 0;
}

static int check_load(const Session *session, const Found *found, const SkillLoad *load, sd_bus_error *reterr) {
        g_autofree char *receipt = make_receipt(session, found);
        const SkillMatter *matter = found->skill->matter;

        if (load->receipt && strcmp(load->receipt, receipt) != 0)
                return errors_set(reterr, ERROR_STALE_SELECTION,
                                  "The skill '%s' was chosen before its plugin was started or changed; choose it again.",
                                  found->skill->qualified);
        if (load->by_model ? !matter->model : !matter->user)
                return errors_set(reterr, ERROR_REFUSED_BY_POLICY, "The skill '%s' is only for a %s to choose.",
                                  found->skill->qualified, load->by_model ? "person" : "model");
        return 0;
}

static int read_instructions(const Session *session, const Found *found, char **ret_json, sd_bus_error *reterr) {
        g_autofree char *text = NULL;
        size_t size, body = found->skill->matter->body;
        int r = skill_read(found->plugin, found->skill->path, found->skill->sha256, &text, &size);

        if (r == -EBADMSG || r == -ESTALE)
                return errors_set(reterr, ERROR_CONTENT_CHANGED, "The file of the skill '%s' is not the reviewed one any more.",
                                  found->skill->qualified);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The file of the skill '%s' can't be read: %s.", found->skill->qualified,
                                  g_strerror(-r));

        *ret_json = skill_to_json(session, found, text + body, size - body);
        return 0;
}

int service_load_skill(Service *service, const Session *session, const SkillLoad *load, char **ret_json, sd_bus_error *reterr) {
        Found found = {};
        int r = find_verified(service, session, load->name, &found, reterr);

        if (r < 0)
                return r;
        r = check_load(session, &found, load, reterr);
        if (r >= 0)
                r = read_instructions(session, &found, ret_json, reterr);
        plugin_unref(found.plugin);
        return r;
}
