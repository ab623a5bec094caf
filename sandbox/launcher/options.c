/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/launcher/options.h"

typedef struct Option {
        const char *name;
        size_t words; /* offset of its Words */
} Option;

static const Option options[] = {
        { "--not-namespace=", offsetof(Options, namespaces) },
        { "--socket=", offsetof(Options, sockets) },
        { "--abstract=", offsetof(Options, abstract) },
        { "--hidden=", offsetof(Options, hidden) },
        { "--read=", offsetof(Options, read) },
        { "--execute=", offsetof(Options, execute) },
        { "--write=", offsetof(Options, write) },
        { "--work=", offsetof(Options, work) },
        { "--run=", offsetof(Options, run) },
        { "--keep=", offsetof(Options, keep) },
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

static const char *after(const char *argument, const char *name) {
        size_t size = strlen(name);

        return strncmp(argument, name, size) == 0 ? argument + size : NULL;
}

static bool take_word(Options *parsed, const char *argument) {
        for (size_t i = 0; i < N_OPTIONS; i++) {
                const char *word = after(argument, options[i].name);
                Words *words = (Words *) ((char *) parsed + options[i].words);

                if (!word || !*word)
                        continue;
                words->words[words->n++] = word;
                return true;
        }

        return false;
}

static bool take_service(Options *parsed, const char *argument) {
        const char *word = after(argument, "--service=");
        char *end;
        long pid;

        if (!word)
                return false;
        pid = strtol(word, &end, 10);
        if (end == word || *end || pid <= 0)
                return false;

        parsed->service = (pid_t) pid;
        return true;
}

/* Every list can hold the whole command line: no list needs to grow. */
static int allocate(Options *parsed, int argc) {
        for (size_t i = 0; i < N_OPTIONS; i++) {
                Words *words = (Words *) ((char *) parsed + options[i].words);

                words->words = calloc((size_t) argc, sizeof(char *));
                if (!words->words)
                        return -ENOMEM;
        }

        return 0;
}

static int parse(Options *parsed, int argc, char **argv, const char **ret_wrong) {
        int i;

        for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
                if (strcmp(argv[i], "--probe") == 0)
                        parsed->probe = true;
                else if (strcmp(argv[i], "--without=landlock") == 0)
                        parsed->without_landlock = true;
                else if (!take_word(parsed, argv[i]) && !take_service(parsed, argv[i])) {
                        *ret_wrong = argv[i];
                        return -EINVAL;
                }
        }
        if (i < argc)
                parsed->command = argv + i + 1;
        if (!parsed->service) {
                *ret_wrong = "--service= is missing";
                return -EINVAL;
        }
        if (!parsed->probe && (!parsed->command || !parsed->command[0] || parsed->command[0][0] != '/')) {
                *ret_wrong = "no absolute path of a runtime after --";
                return -EINVAL;
        }

        return 0;
}

int options_parse(int argc, char **argv, Options *ret, const char **ret_wrong) {
        Options parsed = { .service = 0 };
        int r;

        r = allocate(&parsed, argc + 1);
        if (r >= 0)
                r = parse(&parsed, argc, argv, ret_wrong);
        if (r < 0) {
                options_done(&parsed);
                return r;
        }

        *ret = parsed;
        return 0;
}

void options_done(Options *parsed) {
        for (size_t i = 0; i < N_OPTIONS; i++)
                free(((Words *) ((char *) parsed + options[i].words))->words);
        *parsed = (Options){ .service = 0 };
}
