/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/failure.h"
#include "cli/nearest.h"
#include "cli/verbs.h"

#define VERBS_MAX 64u

static const Verb verbs[] = {
        { "Bundles", "list", "", 0, 0, false, verb_list, "Show known bundles and their state", NULL },
        { NULL, "show", "PLUGIN", 1, 1, false, verb_show, "Show all facts about one bundle", NULL },
        { NULL, "validate", "[FOLDER]", 0, 1, false, verb_validate, "Check a folder as if it were installed",
                        "Changes nothing. Ends with 7 when the folder is no valid bundle. FOLDER is . if it "
                        "is not given." },
        { NULL, "schema", "check FILE [INSTANCE]", 2, 3, false, verb_schema,
                        "Judge a JSON Schema as the registration of a tool would",
                        "And an instance as a call would judge it. Ends with 2 when one of them will not do." },
        { NULL, "install", "FOLDER|ARCHIVE|ADDRESS", 1, 1, false, verb_install,
                        "Copy a bundle into your plugins",
                        "The bundle is then disabled and not trusted: nothing of it runs.\n"
                        "ADDRESS is one of a tar archive (https://HOST/PATH), or github:OWNER/REPOSITORY[@REF]. "
                        "You are asked before\n"
                        "anything is fetched. --preview shows what would be installed, and how to install "
                        "exactly that." },
        { NULL, "update", "PLUGIN", 1, 1, false, verb_update, "Ask the source of a bundle for newer bytes",
                        "Other bytes are put in place of the old ones and are new to everybody: review and "
                        "trust them again.\n"
                        "For bundles that were fetched; one from a folder is uninstalled and installed again." },
        { NULL, "review", "PLUGIN", 1, 1, false, verb_review, "Show what a bundle is and asks for", NULL },
        { NULL, "trust", "PLUGIN [TOKEN]", 1, 2, false, verb_trust, "Trust exactly what a review showed",
                        "TOKEN stands in the review. Without it the review is shown and nothing is trusted. "
                        "Trusting runs nothing: the\n"
                        "bundle is disabled until you enable it. This is a person's act: the service may "
                        "ask you to confirm it." },
        { NULL, "enable", "PLUGIN", 1, 1, false, verb_enable, "Let a trusted bundle run",
                        "Waits until it was activated or has failed. What nobody trusted is not enabled; "
                        "its review is shown." },
        { NULL, "disable", "PLUGIN", 1, 1, false, verb_disable, "Stop a bundle and keep the trust in it",
                        NULL },
        { NULL, "revoke", "PLUGIN", 1, 1, false, verb_revoke,
                        "Take the trust in a bundle back; it stops at once", NULL },
        { NULL, "uninstall", "PLUGIN", 1, 1, false, verb_uninstall,
                        "Delete a disabled bundle; what it stored is kept", NULL },
        { NULL, "reload", "", 0, 0, false, verb_reload, "Read the configuration and all bundles again",
                        "Grants no trust. Plugins that had failed are tried again." },

        { "Use", "tools", "[TOOL]", 0, 1, false, verb_tools, "Show the tools, or all about one", NULL },
        { NULL, "call", "TOOL [JSON|@FILE|-|KEY=VALUE...]", 1, VERB_WORDS_ANY, false, verb_call,
                        "Call a tool and print its answer",
                        "Arguments are one JSON object: typed, from a file, or from standard input (-); or "
                        "its members as KEY=VALUE.\n"
                        "A VALUE is text where the tool's schema says so, else what it looks like: "
                        "label=first increment=false n=3.\n"
                        "KEY:=JSON takes the value as JSON in any case.\n"
                        "A person may be asked first; that may take as long as it takes. Ctrl-C cancels the "
                        "call." },
        { NULL, "commands", "", 0, 0, false, verb_commands, "Show the commands", NULL },
        { NULL, "run", "COMMAND [TEXT...]", 1, VERB_WORDS_ANY, true, verb_run_command,
                        "Run a command and print its answer",
                        "All after COMMAND is its text, options too: codewhalectl --json run COMMAND "
                        "TEXT." },
        { NULL, "hooks", "", 0, 0, false, verb_hooks, "Show who is asked before a tool runs", NULL },
        { NULL, "prompt", "", 0, 0, false, verb_prompt, "Print what plugins add to the prompt",
                        "Templates are filled in for this directory, and for --model." },
        { NULL, "skills", "[SKILL]", 0, 1, false, verb_skills, "Show the skills, or all of one",
                        "SKILL is PLUGIN:NAME. Its instructions are read and compared with what was "
                        "reviewed." },
        { NULL, "storage", "list|get|delete|repair|usage PLUGIN [KEY]", 2, 3, false, verb_storage,
                        "Look at what a plugin stored",
                        "list PLUGIN        its keys\n"
                        "get PLUGIN KEY     one value, as JSON\n"
                        "delete PLUGIN KEY  remove one record, a damaged one too\n"
                        "repair PLUGIN      move damaged records aside\n"
                        "usage PLUGIN       how much there is and may be" },
        { NULL, "sessions", "", 0, 0, false, verb_sessions, "Show the open sessions", NULL },

        { "Decisions", "approve", "[CARD [allow|deny]]", 0, 2, false, verb_approve,
                        "Show and answer questions to a person",
                        "Without arguments: the open cards. With a CARD: all about it. With an answer: give "
                        "it.\n"
                        "With --watch: stay in this terminal and ask about every call as it comes. Keys: y "
                        "allow once,\n"
                        "s and t allow for the session what the card offers, n deny, d deny this very call for the "
                        "session,\n"
                        "f show the full arguments, q quit. A key counts only when it is pressed alone, after the card was there; "
                        "typed-ahead\n"
                        "and pasted text is no answer." },
        { NULL, "approvers", "", 0, 0, false, verb_approvers, "Show who may answer cards now", NULL },
        { NULL, "grants", "[ID|revoke ID|revoke all]", 0, 2, false, verb_grants,
                        "Show or end what was allowed beyond one call",
                        "Without arguments: all of them. With an ID: all about one. A revoked grant answers no call from "
                        "then on." },
        { NULL, "why", "CALL", 1, 1, false, verb_why, "Tell how a call came to its outcome", NULL },
        { NULL, "policy", "show|check|explain", 1, VERB_WORDS_ANY, false, verb_policy,
                        "Show, check and explain the rules that calls are decided by",
                        "show                    what is in force, and in which file and line it stands\n"
                        "check [FILE]            what is wrong with a file of rules; FILE is your "
                        "permissions.toml if it is not given.\n"
                        "                        Ends with 2 when it can't be used\n"
                        "explain TOOL [JSON|@FILE|-|KEY=VALUE...]\n"
                        "                        what would become of a call, layer by layer; nothing is run "
                        "and nobody is asked\n"
                        "With --workspace the rules of that directory count too. See "
                        "codewhale-permissions(5)." },
        { NULL, "decisions", "", 0, 0, false, verb_decisions, "Show the latest decisions", NULL },

        { "Authors", "new", "NAME", 1, 1, false, verb_new, "Write a bundle to start from",
                        "A folder with a manifest, a module, types for the editor, a test and a README. "
                        "Nothing is installed." },
        { NULL, "dev", "[FOLDER]", 0, 1, false, verb_dev, "Run a bundle from its folder while you change it",
                        "In a service of its own, with a home and a bus in a temporary folder; nothing of yours is "
                        "touched.\n"
                        "Every change of the folder installs, trusts and enables the bundle again; what it stored "
                        "stays. Shows\n"
                        "its log, what it registers and its calls, and says how to call it from another terminal. "
                        "Calls are\n"
                        "allowed by themselves unless --ask is given. Ctrl-C ends it and removes all of it. FOLDER is "
                        ". if it is\n"
                        "not given." },

        { "Service", "status", "", 0, 0, false, verb_status, "Show the state of the service", NULL },
        { NULL, "doctor", "", 0, 0, false, verb_doctor, "Look for what could keep extensions from running",
                        "Ends with 1 when a check failed." },
        { NULL, "log", "PLUGIN", 1, 1, false, verb_log, "Show what a plugin wrote",
                        "Runs journalctl for the units of its host." },
        { NULL, "top", "", 0, 0, false, verb_top, "Watch plugins, what they use, and open cards",
                        "A screen that is drawn again and again; keys: m, c, l and n sort by memory, "
                        "processor, calls and name,\n"
                        "space draws now, q quits. Without a terminal, with --once or with --json: one view. "
                        "All of it are\n"
                        "properties of the plugins' objects on the bus." },
        { NULL, "monitor", "", 0, 0, false, verb_monitor, "Print the service's signals as they come", NULL },
        { NULL, "help", "[VERB]", 0, 1, false, verb_help, "Show this help, or that of a verb", NULL },
        { NULL, NULL, NULL, 0, 0, false, NULL, NULL, NULL },
};

G_STATIC_ASSERT(G_N_ELEMENTS(verbs) <= VERBS_MAX);

const Verb *verbs_all(void) {
        return verbs;
}

const Verb *verb_find(const char *name) {
        for (const Verb *verb = verbs; verb->name; verb++)
                if (strcmp(verb->name, name) == 0)
                        return verb;

        return NULL;
}

bool verb_is_literal(const char *name) {
        const Verb *verb = verb_find(name);

        return verb && verb->literal;
}

int verb_refuse_unknown(const Cli *cli, const char *name) {
        const char *names[VERBS_MAX] = { NULL };
        const char *near;

        for (size_t i = 0; verbs[i].name; i++)
                names[i] = verbs[i].name;

        near = nearest_word(name, names);
        if (near)
                return failure_usage(cli, "There is no verb \"%s\". Did you mean %s?", name, near);
        return failure_usage(cli, "There is no verb \"%s\". codewhalectl --help lists them.", name);
}

int verb_run(Cli *cli, int argc, char **argv) {
        const Verb *verb = verb_find(argv[0]);
        int words = argc - 1;

        if (!verb)
                return verb_refuse_unknown(cli, argv[0]);

        cli->verb = verb->name;
        if (words < verb->words_min)
                return failure_usage(cli, "%s needs more: %s %s.", verb->name, verb->name, verb->arguments);
        if (verb->words_max != VERB_WORDS_ANY && words > verb->words_max)
                return failure_usage(cli, "%s takes no \"%s\".", verb->name, argv[verb->words_max + 1]);

        return verb->run(cli, argc, argv);
}
