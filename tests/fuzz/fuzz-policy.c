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

static void check(const PolicyDocument *document, int r) {
        g_autofree char *words = policy_document_words(document);

        MUST(r == document->error);
        MUST((r < 0) == (words != NULL));
        MUST(!words || g_utf8_validate(words, -1, NULL));
}

static void read_document(Jval root) {
        g_autoptr(PolicySet) set = policy_set_new();
        g_autoptr(RepositoryLaw) law = repository_law_new();
        g_auto(ProjectWish) wish = {};
        g_auto(PolicyDocument) document = { .file = "permissions.toml" },
                               law_document = document, wish_document = document;
        int r = policy_set_load(set, RULE_USER, root, &document);

        check(&document, r);
        if (r >= 0) {
                g_auto(JWriter) writer = {};

                jwriter_init(&writer);
                jwriter_begin_object(&writer);
                policy_set_write(set, &writer);
                jwriter_end_object(&writer);
                judge_all(set, NULL);
        }
        r = repository_law_load(law, root, &law_document);
        check(&law_document, r);
        if (r >= 0)
                judge_all(NULL, law);
        r = project_wish_load(root, &wish, &wish_document);
        check(&wish_document, r);
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
