/* SPDX-License-Identifier: MIT */

/* Judges what another program asks: a line {"draft":"7","schema":…,"data":[…]} is answered by a line [1,0,2] of verdicts, or
 * by the reason why the schema was refused. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "schema/schema.h"

static void answer(Jval question, JWriter *writer) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        SchemaOptions options = { .bytes_max = 1 << 20 };
        g_autoptr(Schema) schema = NULL;
        JIter iter = jval_iterate(jval_member(question, "data"));
        Jval data;
        size_t size;
        const char *text = jval_source(jval_member(question, "schema"), &size);

        if (!text || schema_draft_from_string(jval_text(jval_member(question, "draft")) ?: "", &options.draft) < 0)
                g_error("no question");
        if (schema_compile(text, size, &options, &schema, &error) < 0) {
                jwriter_string(writer, error.message);
                return;
        }
        jwriter_begin_array(writer);
        while (jiter_next(&iter, NULL, &data))
                jwriter_int(writer, schema_validate(schema, data));
        jwriter_end_array(writer);
}

int main(void) {
        g_autofree char *line = NULL;
        size_t room = 0;
        ssize_t size;

        while ((size = getline(&line, &room, stdin)) > 0) {
                JdocLimits limits = { .bytes_max = SIZE_MAX, .depth_max = 1000, .nodes_max = SIZE_MAX };
                g_auto(JWriter) writer = {};
                g_autofree char *text = NULL;
                g_autoptr(Jdoc) doc = NULL;
                JdocError error;

                if (jdoc_parse(line, (size_t) size, &limits, &doc, &error) < 0)
                        g_error("byte %zu: %s", error.byte, error.message);
                jwriter_init(&writer);
                answer(jdoc_root(doc), &writer);
                text = jwriter_steal(&writer, NULL);
                puts(text);
                fflush(stdout);
        }
        return 0;
}
