/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/approve-watch.h"
#include "cli/approver.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"

static int print_cards(const Cli *cli, Table *table, JWriter *writer) {
        g_autofree char *json = jwriter_steal(writer, NULL);
        g_autoptr(GString) page = g_string_new(NULL);

        if (cli_has(cli, OPTION_JSON))
                return output_json(json);
        if (table_rows(table) == 0) {
                note_say("No cards are open.");
                return EXIT_STATUS_OK;
        }

        table_render(table, cli, output_columns(), page);
        (void) output_text(page->str);
        note_say("Look at one: codewhalectl approve ID. Answer them as they come: codewhalectl approve "
                 "--watch");
        return EXIT_STATUS_OK;
}

static int approve_list(Cli *cli) {
        static const char *const headings[] = { "CARD", "KIND", "WHAT", NULL };
        g_autoptr(Table) table = table_new(headings);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GArray) ids = NULL;
        g_auto(JWriter) writer = {};
        int r;

        r = approver_list(cli, &ids, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        jwriter_init(&writer);
        jwriter_begin_array(&writer);
        for (guint i = 0; i < ids->len; i++) {
                uint64_t id = g_array_index(ids, uint64_t, i);
                g_autofree char *number = g_strdup_printf("%" PRIu64, id), *json = NULL;
                g_auto(sd_bus_error) gone = SD_BUS_ERROR_NULL;
                g_autoptr(Card) card = NULL;

                r = approver_describe(cli, id, &card, &json, &gone);
                if (sd_bus_error_has_name(&gone, ERROR_NO_SUCH_APPROVAL))
                        continue; /* decided since we asked for the list */
                if (r < 0)
                        return failure_report(cli, r, &gone, number);
                jwriter_raw(&writer, json, strlen(json));
                table_add(table, (const char *[]){ number, card->kind, card->title });
        }
        jwriter_end_array(&writer);
        return print_cards(cli, table, &writer);
}

static int approve_show(Cli *cli, uint64_t id, const char *word) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        g_autoptr(Card) card = NULL;
        int r;

        r = approver_describe(cli, id, &card, &json, &error);
        if (r < 0)
                return failure_report(cli, r, &error, word);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        r = output_page(cli, card->page);
        for (guint i = 0; i < card->grants->len; i++) {
                const CardGrant *grant = card->grants->pdata[i];

                note_say("It may also be allowed with --scope=%s: %s", grant->scope, grant->words);
        }
        note_say("Answer with: codewhalectl approve %" PRIu64 " allow|deny --digest=%s", id, card->digest);
        return r;
}

/* The grant that was asked for. "session" is the narrowest that lasts for the session, whatever the card
 * calls it. */
static int choose_grant(const Cli *cli, const Card *card, const CardGrant **ret) {
        const char *scope = cli->options[OPTION_SCOPE];

        *ret = NULL;
        if (!scope || strcmp(scope, "once") == 0)
                return 0;

        *ret = card_find_grant(card, scope);
        if (!*ret && strcmp(scope, "session") == 0 && card->grants->len > 0)
                *ret = card->grants->pdata[0];
        return *ret ? 0 : -ENOENT;
}

static int refuse_scope(const Cli *cli, const Card *card) {
        g_autoptr(GString) offers = g_string_new("once");

        for (guint i = 0; i < card->grants->len; i++)
                g_string_append_printf(offers, ", %s", ((const CardGrant *) card->grants->pdata[i])->scope);
        return failure_usage(cli, "Card %" PRIu64 " does not offer --scope=%s, but: %s.", card->id,
                        cli->options[OPTION_SCOPE], offers->str);
}

/* One shot: become an approver for as long as the answer takes. */
static int approve_answer(Cli *cli, uint64_t id, const char *word, bool allow) {
        const char *digest = cli->options[OPTION_DIGEST], *span = cli->options[OPTION_FOR];
        const char *no_scope = allow ? NULL : cli->options[OPTION_SCOPE];
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const CardGrant *grant = NULL;
        g_autoptr(Card) card = NULL;
        uint64_t seconds = 0;
        int r;

        if (span && (when_parse_span(span, &seconds) < 0 || seconds > GRANT_SECONDS_MAX))
                return failure_usage(cli, "\"%s\" is no time for a grant; it is like 90s, 10m, 2h or 3d, at most 30d.", span);
        r = approver_describe(cli, id, &card, NULL, &error);
        if (r >= 0 && allow && choose_grant(cli, card, &grant) < 0)
                return refuse_scope(cli, card);
        if (r >= 0 && span && !grant)
                return failure_usage(cli, "--for goes with a --scope that lasts: only a grant has a time.");
        if (r >= 0)
                r = approver_register(cli, NULL, &error);
        if (r >= 0)
                r = approver_answer(cli, id, digest ? digest : card->digest, allow,
                                grant ? grant->scope : no_scope, seconds, &error);
        if (r < 0)
                return failure_report(cli, r, &error, word);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say("Card %" PRIu64 ": %s%s%s%s%s.", id, allow ? "allowed" : "denied", grant ? " " : "",
                        grant ? grant->words : "", grant && span ? ", for at most " : "", grant && span ? span : "");
        return EXIT_STATUS_OK;
}

static int start_watch(Cli *cli, int argc) {
        if (argc > 1)
                return failure_usage(cli, "approve --watch takes no card: it shows all of them.");
        if (cli_has(cli, OPTION_JSON))
                return failure_usage(cli, "approve --watch talks to a person. Programs register on the bus, "
                                          "or use: codewhalectl approve ID allow|deny");
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
                return failure_usage(cli, "approve --watch needs a terminal. Without one use: codewhalectl "
                                          "approve, and codewhalectl approve ID allow|deny");

        return approve_watch(cli);
}

int verb_approve(Cli *cli, int argc, char **argv) {
        bool answer = argc > 2, allow = answer && strcmp(argv[2], "allow") == 0;
        guint64 id = 0;

        if (!answer && (cli_has(cli, OPTION_SCOPE) || cli_has(cli, OPTION_DIGEST) || cli_has(cli, OPTION_FOR)))
                return failure_usage(cli, "--scope, --for and --digest go with an answer: approve ID allow.");
        if (cli_has(cli, OPTION_WATCH))
                return start_watch(cli, argc);
        if (argc == 1)
                return approve_list(cli);

        if (!g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXUINT64, &id, NULL))
                return failure_usage(cli, "\"%s\" is no card. Open ones: codewhalectl approve", argv[1]);
        if (answer && !allow && strcmp(argv[2], "deny") != 0)
                return failure_usage(cli, "An answer is allow or deny, not \"%s\".", argv[2]);
        if (answer && !allow && cli_has(cli, OPTION_SCOPE) && strcmp(cli->options[OPTION_SCOPE], "once") != 0 &&
                        strcmp(cli->options[OPTION_SCOPE], "session") != 0)
                return failure_usage(cli, "A denial is for once, or with --scope=session for this very call in its session.");

        return answer ? approve_answer(cli, id, argv[1], allow) : approve_show(cli, id, argv[1]);
}
