/* SPDX-License-Identifier: MIT */
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/scaffold.h"
#include "cli/verbs.h"
#include "common/cleanup.h"
#include "common/jwriter.h"

static int print_json(const char *name, const char *folder) {
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "name", name);
        jwriter_member_string(&writer, "folder", folder);
        jwriter_end_object(&writer);
        json = jwriter_steal(&writer, NULL);
        return output_json(json);
}

/* The only verb that does not talk to the service: there is nothing yet that it could know of. */
int verb_new(Cli *cli, int argc, char **argv) {
        const char *name = argv[1], *parent = cli->options[OPTION_DIR], *wrong = scaffold_check_name(name);
        g_autofree char *folder = g_canonicalize_filename(name, parent), *failed = NULL, *shown = NULL,
                        *quoted = NULL, *text = NULL;
        int r;

        (void) argc;

        if (wrong)
                return failure_usage(cli, "The name of a bundle %s.", wrong);
        r = scaffold_write(folder, name, cli_has(cli, OPTION_TYPESCRIPT), &failed);
        if (r == -EEXIST)
                return failure_say("%s is there already; nothing was changed.", failed);
        if (r < 0)
                return failure_say("%s: %s", failed, g_strerror(-r));
        if (cli_has(cli, OPTION_JSON))
                return print_json(name, folder);

        shown = parent ? g_strdup(folder) : g_strdup(name);
        quoted = failure_quote(shown);
        text = g_strdup_printf("Wrote %s. Run it while you change it: codewhalectl dev %s\n"
                               "Test it without the service: cd %s && node --test\n",
                        quoted, quoted, quoted);
        return output_text(text);
}
