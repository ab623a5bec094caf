/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "common/sanitize.h"

#define WORD_SHOWN_BYTES_MAX 128u
#define TIMEOUT_SECONDS_MAX  (366.0 * 24 * 3600)

static const Option options[] = {
        { OPTION_HELP, 'h', "help", NULL, NULL, "Show this help, or that of the verb" },
        { OPTION_VERSION, 0, "version", NULL, NULL, "Show the version" },
        { OPTION_JSON, 'j', "json", NULL, NULL, "Print JSON and nothing else on standard output" },
        { OPTION_USER, 0, "user", NULL, NULL, "Talk to the service on the user bus (default)" },
        { OPTION_SYSTEM, 0, "system", NULL, NULL, "Talk to the service on the system bus" },
        { OPTION_ADDRESS, 0, "address", "ADDRESS", NULL,
                        "Talk to the service on the bus at this address (default: $CODEWHALE_BUS_ADDRESS)" },
        { OPTION_TIMEOUT, 0, "timeout", "SECONDS", NULL, "Give up after this time" },
        { OPTION_NO_PAGER, 0, "no-pager", NULL, NULL, "Do not send long text through a pager" },
        { OPTION_COLOR, 0, "color", "WHEN", NULL, "Use colours: auto (default), always or never" },
        { OPTION_WORKSPACE, 0, "workspace", "DIRECTORY", "list call run tools commands hooks prompt skills policy",
                        "Of the session; list: also the bundles in its .codewhale/plugins" },
        { OPTION_MODE, 0, "mode", "MODE", "call run tools commands hooks prompt skills policy",
                        "Of the session: agent, plan or operate" },
        { OPTION_POSTURE, 0, "posture", "POSTURE", "call run tools commands hooks prompt skills policy",
                        "Of the session: ask, auto-review, never or full-access" },
        { OPTION_MODEL, 0, "model", "NAME", "prompt", "What the model in templates stands for" },
        { OPTION_DEADLINE, 0, "deadline", "MILLISECONDS", "call run", "How long the plugin may take" },
        { OPTION_EXPECT, 0, "expect", "HASH", "install update", "Refuse bytes with another content hash" },
        { OPTION_ALLOW_NETWORK, 0, "allow-network", NULL, "install update",
                        "Fetch what lies elsewhere, without asking" },
        { OPTION_PREVIEW, 0, "preview", NULL, "install", "Show the review of what would be installed" },
        { OPTION_DIFF, 0, "diff", NULL, "review trust",
                        "With the lines that changed since the last review" },
        { OPTION_WATCH, 'w', "watch", NULL, "approve",
                        "Stay, and ask about every call that needs approval" },
        { OPTION_SCOPE, 0, "scope", "SCOPE", "approve",
                        "What the answer is for: once (default), session, or what the card offers" },
        { OPTION_DIGEST, 0, "digest", "HASH", "approve", "Answer only if the card still has this digest" },
        { OPTION_FOR, 0, "for", "TIME", "approve", "How long a grant lasts at most: 90s, 10m, 2h or 3d" },
        { OPTION_KIND, 0, "kind", "KIND", "decisions policy",
                        "decisions: call, core-call, command, card, answer, grant, trust, posture or attempt; policy check: "
                        "permissions, administrator, law, project or config" },
        { OPTION_SESSION, 0, "session", "SESSION", "decisions policy", "Only those in this session; policy: look at it" },
        { OPTION_FROM, 0, "from", "PLUGIN", "policy", "explain: this plugin would call a core tool" },
        { OPTION_PLUGIN, 0, "plugin", "PLUGIN", "decisions", "Only those about this plugin" },
        { OPTION_TOOL, 0, "tool", "TOOL", "decisions", "Only those about this tool" },
        { OPTION_OUTCOME, 0, "outcome", "OUTCOME", "decisions", "Only those with this outcome" },
        { OPTION_SINCE, 0, "since", "TIME", "decisions log",
                        "Only what is newer: 10m, 2h, 3d or 2026-01-31T12:00:00" },
        { OPTION_UNTIL, 0, "until", "TIME", "decisions log", "Only what is older" },
        { OPTION_LIMIT, 0, "limit", "N", "decisions", "At most this many (default 50)" },
        { OPTION_FOLLOW, 'f', "follow", NULL, "log", "Stay, and print what is new" },
        { OPTION_LINES, 'n', "lines", "N", "log top", "log: the last N lines; top: end after N views" },
        { OPTION_ONCE, 0, "once", NULL, "top", "Print one view and end" },
        { OPTION_INTERVAL, 0, "interval", "SECONDS", "top", "Between two views (default 2)" },
        { OPTION_SORT, 0, "sort", "BY", "top", "memory (default), cpu, calls or name" },
        { OPTION_DIR, 0, "dir", "DIRECTORY", "new", "Make it in there (default: here)" },
        { OPTION_TYPESCRIPT, 0, "typescript", NULL, "new", "In TypeScript" },
        { OPTION_ASK, 0, "ask", NULL, "dev", "Allow no call by itself: leave the cards to codewhalectl approve" },
        { OPTION_CONFIG, 0, "config", "FILE", "dev", "Add this to the service's config.toml: settings of the plugin" },
        { OPTION_NODE, 0, "node", "FILE", "dev", "The runtime to use (default: the first suitable one in PATH)" },
};

G_STATIC_ASSERT(G_N_ELEMENTS(options) == _OPTION_MAX);

const Option *options_table(size_t *ret_n) {
        *ret_n = G_N_ELEMENTS(options);
        return options;
}

bool option_is_for(const Option *option, const char *verb) {
        g_auto(GStrv) words = NULL;

        if (!option->verbs)
                return true;
        if (!verb)
                return false;

        words = g_strsplit(option->verbs, " ", -1);
        return g_strv_contains((const char *const *) words, verb);
}

static const Option *option_find(const char *name, size_t name_size) {
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (strlen(options[i].name) == name_size && memcmp(options[i].name, name, name_size) == 0)
                        return &options[i];

        return NULL;
}

static const Option *option_find_letter(char letter) {
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (options[i].letter != 0 && options[i].letter == letter)
                        return &options[i];

        return NULL;
}

static int refuse_unknown(const char *name, size_t name_size, char **ret_error) {
        g_autofree char *word = g_strndup(name, name_size);
        g_autofree char *shown = sanitize_line(word, WORD_SHOWN_BYTES_MAX, NULL);
        const char *names[_OPTION_MAX + 1] = { NULL };
        const char *near;

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                names[i] = options[i].name;

        near = nearest_word(word, names);
        *ret_error = near ? g_strdup_printf("There is no option --%s. Did you mean --%s?", shown, near)
                          : g_strdup_printf("There is no option --%s. codewhalectl --help lists them.",
                                            shown);
        return -EINVAL;
}

/* What is parsed and how far */
typedef struct Parser {
        char **argv;
        int argc, at;
        const char **values;
        const char *given[_OPTION_MAX]; /* as it was written, for errors */
        GPtrArray *words;
        char **ret_error;
} Parser;

/* Takes the value that belongs to an option: @attached, or the next word. */
static int parser_set(Parser *parser, const Option *option, const char *attached) {
        const char *value = "";

        if (!option->argument && attached) {
                *parser->ret_error = g_strdup_printf("--%s takes no value.", option->name);
                return -EINVAL;
        }
        if (option->argument && attached)
                value = attached;
        else if (option->argument) {
                if (parser->at + 1 >= parser->argc) {
                        *parser->ret_error = g_strdup_printf("--%s needs a value: --%s=%s.", option->name,
                                        option->name, option->argument);
                        return -EINVAL;
                }
                value = parser->argv[++parser->at];
        }

        /* Of two that exclude each other the last one counts. */
        if (option->id == OPTION_USER || option->id == OPTION_SYSTEM)
                parser->values[OPTION_USER] = parser->values[OPTION_SYSTEM] = NULL;
        parser->values[option->id] = value;
        return 0;
}

static int parser_take_long(Parser *parser, const char *text) {
        const char *equals = strchr(text, '=');
        size_t size = equals ? (size_t) (equals - text) : strlen(text);
        const Option *option = option_find(text, size);

        if (!option)
                return refuse_unknown(text, size, parser->ret_error);
        return parser_set(parser, option, equals ? equals + 1 : NULL);
}

/* A cluster such as -jf; the value of one that takes any may be attached: -n20. */
static int parser_take_short(Parser *parser, const char *text) {
        for (const char *letter = text; *letter; letter++) {
                const Option *option = option_find_letter(*letter);
                int r;

                if (!option) {
                        g_autofree char *shown = sanitize_line(text, WORD_SHOWN_BYTES_MAX, NULL);

                        *parser->ret_error = g_strdup_printf(
                                        "There is no option -%s. codewhalectl --help lists them.", shown);
                        return -EINVAL;
                }
                r = parser_set(parser, option, option->argument && letter[1] ? letter + 1 : NULL);
                if (r < 0)
                        return r;
                if (option->argument)
                        break;
        }

        return 0;
}

static bool parser_is_literal(const Parser *parser) {
        return parser->words->len >= 2 && verb_is_literal(parser->words->pdata[0]);
}

static int parser_run(Parser *parser) {
        bool literal = false;
        int r;

        for (parser->at = 1; parser->at < parser->argc; parser->at++) {
                char *word = parser->argv[parser->at];

                if (!g_utf8_validate(word, -1, NULL)) {
                        g_autofree char *shown = sanitize_line(word, WORD_SHOWN_BYTES_MAX, NULL);

                        *parser->ret_error = g_strdup_printf(
                                        "\"%s\" is not UTF-8, and only that travels on the bus.", shown);
                        return -EINVAL;
                }
                if (literal || parser_is_literal(parser) || word[0] != '-' || word[1] == '\0')
                        g_ptr_array_add(parser->words, word);
                else if (strcmp(word, "--") == 0)
                        literal = true;
                else {
                        r = word[1] == '-' ? parser_take_long(parser, word + 2)
                                           : parser_take_short(parser, word + 1);
                        if (r < 0)
                                return r;
                }
        }

        return 0;
}

static int check_belongs(const char *const *values, const char *verb, char **ret_error) {
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
                g_autofree char *list = NULL;

                if (!values[i] || option_is_for(&options[i], verb) || values[OPTION_HELP])
                        continue;

                list = g_strdelimit(g_strdup(options[i].verbs), " ", ',');
                *ret_error = g_strdup_printf("--%s is not for %s; it goes with: %s.", options[i].name,
                                verb ? verb : "codewhalectl alone", list);
                return -EINVAL;
        }

        return 0;
}

int options_parse(int argc, char **argv, const char **values, char ***ret_words, int *ret_n,
                char **ret_error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        Parser parser = {
                .argv = argv, .argc = argc, .values = values, .words = words, .ret_error = ret_error
        };
        const char *verb;
        int r;

        r = parser_run(&parser);
        if (r < 0)
                return r;

        verb = words->len > 0 ? words->pdata[0] : NULL;
        if (!verb || verb_find(verb)) {
                r = check_belongs(values, verb, ret_error);
                if (r < 0)
                        return r;
        }

        *ret_n = (int) words->len;
        g_ptr_array_add(words, NULL);
        *ret_words = (char **) g_ptr_array_free(g_steal_pointer(&words), FALSE);
        return 0;
}

static int apply_timeout(Cli *cli, char **ret_error) {
        const char *text = cli->options[OPTION_TIMEOUT];
        char *end = NULL;
        double seconds;

        if (!text)
                return 0;

        seconds = g_ascii_strtod(text, &end);
        if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0 ||
                        seconds > TIMEOUT_SECONDS_MAX) {
                *ret_error = g_strdup(
                                "--timeout takes a number of seconds greater than 0, such as 30 or 0.5.");
                return -EINVAL;
        }

        cli->timeout_usec = MAX((uint64_t) (seconds * 1e6), 1);
        return 0;
}

static int apply_color(Cli *cli, bool terminal, char **ret_error) {
        const char *when = cli->options[OPTION_COLOR], *no_color = g_getenv("NO_COLOR");

        if (!when || strcmp(when, "auto") == 0)
                cli->colour = terminal && !(no_color && *no_color) &&
                              g_strcmp0(g_getenv("TERM"), "dumb") != 0;
        else if (strcmp(when, "always") == 0)
                cli->colour = true;
        else if (strcmp(when, "never") == 0)
                cli->colour = false;
        else {
                *ret_error = g_strdup("--color takes auto, always or never.");
                return -EINVAL;
        }

        if (cli_has(cli, OPTION_JSON))
                cli->colour = false;
        return 0;
}

int options_apply(Cli *cli, bool terminal, char **ret_error) {
        int r = apply_timeout(cli, ret_error);

        return r < 0 ? r : apply_color(cli, terminal, ret_error);
}

int option_number(const Cli *cli, OptionId id, guint64 min, guint64 max, guint64 fallback, guint64 *ret,
                char **ret_error) {
        assert(id >= 0 && id < _OPTION_MAX);

        if (!cli->options[id]) {
                *ret = fallback;
                return 0;
        }
        if (!g_ascii_string_to_unsigned(cli->options[id], 10, min, max, ret, NULL)) {
                *ret_error = g_strdup_printf("--%s takes a whole number from %" G_GUINT64_FORMAT
                                             " to %" G_GUINT64_FORMAT ".",
                                options[id].name, min, max);
                return -EINVAL;
        }

        return 0;
}
