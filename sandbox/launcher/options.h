/* SPDX-License-Identifier: MIT */
#pragma once

/* The launcher's command line. It is told everything; it decides nothing.
 *
 *   codewhale-host-launcher OPTION... -- RUNTIME [ARGUMENT]...
 *
 *   --not-namespace=KIND:ID  a namespace that must not be ours: "user:4026531837"
 *   --service=PID            the service: it must be out of reach
 *   --socket=PATH            must not be connectable
 *   --abstract=NAME          the same for an abstract socket
 *   --hidden=PATH            must not be there
 *   --read=PATH --execute=PATH --write=PATH
 *                            what the runtime may touch, and how; what is missing is skipped
 *   --work=PATH --run=PATH   somebody's own folder that the runtime may change; with the latter it may execute
 *                            what is in it, too. No trial file is made there.
 *   --keep=NAME              a variable of the environment that the runtime gets; all others are dropped
 *   --without=landlock       don't use Landlock, as on a kernel that has none (for tests)
 *   --probe                  report, wait for the word, and end
 *
 * or, outside of any sandbox, with nothing else: --lifeline (sandbox/lifeline.h). */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct Words {
        const char **words;
        size_t n;
} Words;

typedef struct Options {
        Words namespaces;
        Words sockets;
        Words abstract;
        Words hidden;
        Words read;
        Words execute;
        Words write;
        Words work;
        Words run;
        Words keep;
        pid_t service;
        bool without_landlock;
        bool probe;
        char **command; /* NULL at the end; what follows "--" */
} Options;

/** options_parse() - 0, or -EINVAL with the argument that is wrong in @ret_wrong; all texts are borrowed
 * from @argv */
int options_parse(int argc, char **argv, Options *ret, const char **ret_wrong);

/** options_done() - give back the lists */
void options_done(Options *options);
