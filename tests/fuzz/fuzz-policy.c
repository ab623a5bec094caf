/* SPDX-License-Identifier: MIT */

/* The readers of permission files: any text as permissions.toml, auto-review table, law or project wish.
 * What is accepted must decide the same twice, and a law or a wish that was accepted must not have loosened
 * anything. */

#include <string.h>

#include "common/cleanup.h"
#include "common/toml-reader.h"
#include "fuzz.h"
#include "policy/decision.h"
#include "policy/policy-set.h"
#include "policy/repository-law.h"

static Verdict decide(const PolicySet *set, const RepositoryLaw *law, const char *tool, Jval arguments,
                bool nested) {
        const DecisionInput input = {
                .session = "s",
                .kind = TOOL_CORE,
                .tool = tool,
                .caller_plugin = nested ? "caller" : NULL,
                .workspace = "/w",
                .requirement = REQUIREMENT_SUGGEST,
                .arguments = arguments,
                .rules = set ? set->rules : NULL,
                .review = set ? set->review : NULL,
                .admission = set ? set->admission : NULL,
                .law = law,
        };
        g_auto(Decision) decision = {};

        decision_make(&input, &decision);
        return decision.verdict;
}

static void judge_all(const PolicySet *set, const RepositoryLaw *law) {
        static const char *const tools[] = { "bash", "write", "read", "web_fetch", "other" };
        static const char arguments[] = "{\"command\":\"git status && sudo make install > "
                                        "deploy/x\",\"path\":\"src/../deploy/a\"}";
        g_autoptr(Jdoc) doc = NULL;

        MUST(jdoc_parse(arguments, strlen(arguments), NULL, &doc, NULL) == 0);
        for (size_t i = 0; i < G_N_ELEMENTS(tools); i++)
                for (int nested = 0; nested < 2; nested++) {
                        Verdict verdict = decide(set, law, tools[i], jdoc_root(doc), nested);

                        MUST(verdict == decide(set, law, tools[i], jdoc_root(doc), nested));
                        if (law)
                                MUST(verdict >= decide(set, NULL, tools[i], jdoc_root(doc), nested));
                }
}

static void read_document(Jval document) {
        g_autoptr(PolicySet) set = policy_set_new();
        g_autoptr(RepositoryLaw) law = repository_law_new();
        g_auto(ProjectWish) wish = {};
        g_auto(sd_bus_error) set_error = SD_BUS_ERROR_NULL, law_error = SD_BUS_ERROR_NULL,
                             wish_error = SD_BUS_ERROR_NULL;

        if (policy_set_load(set, RULE_USER, document, &set_error) >= 0)
                judge_all(set, NULL);
        else {
                MUST(set_error.message);
                (void) policy_file_line("[[rule]]\n[[rule]]\n", set_error.message);
        }
        if (repository_law_load(law, document, &law_error) >= 0)
                judge_all(NULL, law);
        if (project_wish_load(document, &wish, &wish_error) < 0)
                MUST(wish_error.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL, from_toml = NULL;
        g_autofree TomlPlace *places = NULL;
        size_t n_places;
        TomlError error;

        if (jdoc_parse((const char *) data, size, NULL, &doc, NULL) >= 0)
                read_document(jdoc_root(doc));
        else if (toml_read((const char *) data, size, &json, &places, &n_places, &error) >= 0) {
                MUST(jdoc_parse(json, strlen(json), NULL, &from_toml, NULL) != -ENOMEM);
                if (from_toml)
                        read_document(jdoc_root(from_toml));
        }
        return 0;
}
