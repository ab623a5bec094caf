/* SPDX-License-Identifier: MIT */

/* The reader of config.toml: any text. A mistake has a place in the text and words without any of its values; what was
 * accepted is within its limits. */

#include <string.h>

#include "common/cleanup.h"
#include "common/address.h"
#include "common/toml-reader.h"
#include "fuzz.h"
#include "service/config-read.h"

static void check_mistakes(const PolicyDocument *document, size_t n_lines) {
        for (size_t i = 0; document->mistakes && i < document->mistakes->len; i++) {
                const PolicyMistake *mistake = g_ptr_array_index(document->mistakes, i);

                MUST(mistake->line <= n_lines);
                MUST((mistake->line == 0) == (mistake->column == 0));
                MUST(g_utf8_validate(mistake->text, -1, NULL));
        }
}

static void check_values(const Config *config) {
        AddressPrefix prefix;

        MUST(config->tasks >= 16 && config->tasks <= 4096);
        MUST(config->posture >= 0 && config->posture < _POSTURE_MAX);
        MUST(config->network >= 0 && config->network < _NETWORK_POLICY_MAX);
        MUST(config->runtime >= 0 && config->runtime < _RUNTIME_KIND_MAX);
        MUST(!config->node || config->node[0] == '/');
        for (size_t i = 0; config->web_fetch_private && config->web_fetch_private[i]; i++)
                MUST(address_prefix_parse(config->web_fetch_private[i], &prefix) == 0);
}

/* As policy_file_parse(), but in this process, where a fault of the reader shows; the service reads in a child. */
static bool parse(PolicyFile *file, const char *text, size_t size) {
        g_autofree TomlPlace *places = NULL;
        TomlError error = {};
        size_t n_places;

        file->has_secrets = true;
        if (toml_read(text, size, &file->json, &places, &n_places, &error) < 0)
                return false;
        file->lines = toml_lines_new(places, n_places);
        file->document.lines = file->lines;
        return jdoc_parse(file->json, strlen(file->json), NULL, &file->doc, NULL) >= 0;
}

static void read_config(const char *text, size_t size) {
        g_autoptr(PolicyFile) file = policy_file_new("config.toml");
        g_autoptr(Config) config = config_new();
        size_t n_lines = 1;

        for (size_t i = 0; i < size; i++)
                n_lines += text[i] == '\n';
        if (!parse(file, text, size))
                return;
        (void) config_read(config, file);
        check_mistakes(&file->document, n_lines);
        if (file->document.error >= 0)
                check_values(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        read_config((const char *) data, size);
        return 0;
}
