/* SPDX-License-Identifier: MIT */

/* What lies on the disk: a storage record, and lines of the decision log told as a story. */

#include <string.h>

#include "fuzz.h"
#include "storage/decision-log.h"
#include "storage/record-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *key = NULL, *value = NULL, *again = NULL, *story = NULL;
        char name[RECORD_NAME_CHARS + 1];
        const char *begin = NULL;
        size_t value_size = 0, again_size = 0;

        record_file_name("k", 1, name);
        if (record_decode(name, (const char *) data, size, &key, &value, &value_size) == 0) {
                MUST(strcmp(key, "k") == 0);
                g_free(key);
                key = NULL;
                again = record_encode("k", 1, value, value_size, &again_size);
                g_free(value);
                value = NULL;
                MUST(record_decode(name, again, again_size, &key, &value, &value_size) == 0);
        } else if (record_value_check((const char *) data, size, &begin, &value_size) == 0) {
                again = record_encode("k", 1, begin, value_size, &again_size);
                MUST(record_decode(name, again, again_size, &key, &value, &value_size) == 0);
        }

        if (decision_story((const char *) data, size, &story) == 0)
                MUST(g_utf8_validate(story, -1, NULL));
        return 0;
}
