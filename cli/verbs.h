/* SPDX-License-Identifier: MIT */
#pragma once

/* The table of verbs: what each is called, takes and does. One file per verb holds the function. */

#include <stdbool.h>

#include "cli/cli.h"

#define VERB_WORDS_ANY -1

typedef struct Verb {
        const char *group; /* the heading in --help that it begins; NULL: the one above goes on */
        const char *name;
        const char *arguments; /* as --help shows them */
        int words_min;         /* words after the verb */
        int words_max;         /* VERB_WORDS_ANY: no limit */
        bool literal;          /* what follows its first word is text, options included */
        int (*run)(Cli *cli, int argc,
                        char **argv); /* argv[0] is the verb, argv[argc] NULL; returns an ExitStatus */
        const char *help;             /* one line */
        const char *more;             /* NULL, or what VERB --help says beyond that */
} Verb;

/** verb_find() - a verb by name; NULL when there is none */
const Verb *verb_find(const char *name);

/** verb_is_literal() - whether a verb passes all after its first word on as text */
bool verb_is_literal(const char *name);

/** verbs_all() - the table, ended by an entry without a name */
const Verb *verbs_all(void);

/** verb_run() - check the number of words and run the verb; prints what is wrong. Returns an ExitStatus */
int verb_dev(Cli *cli, int argc, char **argv);
int verb_new(Cli *cli, int argc, char **argv);
int verb_top(Cli *cli, int argc, char **argv);
int verb_run(Cli *cli, int argc, char **argv);

/** verb_refuse_unknown() - say that there is no such verb, and which one may be meant; returns
 * EXIT_STATUS_USAGE */
int verb_refuse_unknown(const Cli *cli, const char *name);

int verb_status(Cli *cli, int argc, char **argv);
int verb_list(Cli *cli, int argc, char **argv);
int verb_show(Cli *cli, int argc, char **argv);
int verb_schema(Cli *cli, int argc, char **argv);
int verb_validate(Cli *cli, int argc, char **argv);
int verb_install(Cli *cli, int argc, char **argv);
int verb_review(Cli *cli, int argc, char **argv);
int verb_trust(Cli *cli, int argc, char **argv);
int verb_enable(Cli *cli, int argc, char **argv);
int verb_disable(Cli *cli, int argc, char **argv);
int verb_revoke(Cli *cli, int argc, char **argv);
int verb_update(Cli *cli, int argc, char **argv);
int verb_uninstall(Cli *cli, int argc, char **argv);
int verb_reload(Cli *cli, int argc, char **argv);
int verb_tools(Cli *cli, int argc, char **argv);
int verb_call(Cli *cli, int argc, char **argv);
int verb_commands(Cli *cli, int argc, char **argv);
int verb_run_command(Cli *cli, int argc, char **argv);
int verb_hooks(Cli *cli, int argc, char **argv);
int verb_prompt(Cli *cli, int argc, char **argv);
int verb_skills(Cli *cli, int argc, char **argv);
int verb_storage(Cli *cli, int argc, char **argv);
int verb_sessions(Cli *cli, int argc, char **argv);
int verb_approvers(Cli *cli, int argc, char **argv);
int verb_approve(Cli *cli, int argc, char **argv);
int verb_grants(Cli *cli, int argc, char **argv);
int verb_why(Cli *cli, int argc, char **argv);
int verb_decisions(Cli *cli, int argc, char **argv);
int verb_policy(Cli *cli, int argc, char **argv);
int verb_log(Cli *cli, int argc, char **argv);
int verb_doctor(Cli *cli, int argc, char **argv);
int verb_monitor(Cli *cli, int argc, char **argv);
int verb_help(Cli *cli, int argc, char **argv);
