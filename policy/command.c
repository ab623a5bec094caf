/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "policy/command-words.h"

/* Programs whose arguments name another program to run. */
static const char *const carriers[] = {
        "sudo",
        "doas",
        "env",
        "nohup",
        "nice",
        "time",
        "command",
        "exec",
        "builtin",
        "xargs",
        "stdbuf",
        "setsid",
        "timeout",
        "ionice",
        "watch",
        "busybox",
        "chroot",
        "find",
        "parallel",
        "flock",
        "script",
        "strace",
        "unshare",
        "nsenter",
        "ssh",
        "su",
        "runuser",
        "systemd-run",
        "trap",
};

/* Programs that take a text and run it as commands. */
static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "eval", "su", "ssh",
        "watch" };

/* Programs that run whatever code they are given: one grant for their name would be a grant for everything.
 */
static const char *const interpreters[] = {
        "python",
        "python2",
        "python3",
        "node",
        "bun",
        "deno",
        "perl",
        "ruby",
        "php",
        "lua",
        "awk",
        "gawk",
        "sed",
        "make",
        "tclsh",
        "Rscript",
        "gdb",
        "vim",
        "emacs",
        "psql",
        "sqlite3",
};

/* Programs whose first word says what they do. */
static const char *const multi_commands[] = {
        "git",
        "cargo",
        "npm",
        "pnpm",
        "yarn",
        "go",
        "docker",
        "podman",
        "kubectl",
        "systemctl",
        "apt",
        "apt-get",
        "pip",
        "pip3",
        "gh",
        "meson",
        "journalctl",
        "codewhalectl",
        "dnf",
        "brew",
};

static bool is_one_of(const char *word, const char *const *list, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (strcmp(word, list[i]) == 0)
                        return true;

        return false;
}
#define IS_ONE_OF(word, list) is_one_of((word), (list), G_N_ELEMENTS(list))

const char *command_program_name(const char *word) {
        const char *slash = strrchr(word, '/');

        return slash ? slash + 1 : word;
}

static bool is_assignment(const char *word) {
        size_t length = 0;

        while (g_ascii_isalnum(word[length]) || word[length] == '_')
                length++;
        return length > 0 && !g_ascii_isdigit(word[0]) &&
               (word[length] == '=' || g_str_has_prefix(word + length, "+="));
}

/* The first word that is no assignment. */
size_t command_segment_program(const CommandSegment *segment) {
        size_t at = 0;

        while (at < segment->words->len && is_assignment(segment->words->pdata[at]))
                at++;
        return at;
}

bool command_word_is_shell(const char *word) {
        return IS_ONE_OF(command_program_name(word), shells);
}

static bool words_begin_at(const CommandSegment *segment, size_t at, char *const *prefix) {
        for (size_t i = 0; prefix[i]; i++) {
                const char *word;

                if (at + i >= segment->words->len)
                        return false;
                word = segment->words->pdata[at + i];
                if (strcmp(word, prefix[i]) != 0 &&
                                !(i == 0 && strcmp(command_program_name(word), prefix[0]) == 0))
                        return false;
        }
        return prefix[0] != NULL;
}

bool command_segment_begins(const CommandSegment *segment, char *const *prefix) {
        return words_begin_at(segment, 0, prefix);
}

static bool segment_runs(const CommandSegment *segment, char *const *prefix) {
        bool carried = false;

        for (size_t at = command_segment_program(segment); at < segment->words->len; at++) {
                if (words_begin_at(segment, at, prefix))
                        return true;
                carried |= IS_ONE_OF(command_program_name(segment->words->pdata[at]), carriers) ||
                           IS_ONE_OF(command_program_name(segment->words->pdata[at]), shells);
                if (!carried)
                        return false;
        }
        return false;
}

bool command_runs(const Command *command, char *const *prefix) {
        if (!prefix[0] || !command_may_run(command, prefix[0]))
                return false;

        for (size_t i = 0; i < command->segments->len; i++)
                if (segment_runs(command->segments->pdata[i], prefix))
                        return true;

        return false;
}

bool command_is_plain(const Command *command) {
        const CommandSegment *segment;

        if (command->unclear || command->chained || command->segments->len != 1)
                return false;

        segment = command->segments->pdata[0];
        return !segment->dynamic && !is_assignment(segment->words->pdata[0]);
}

char *command_family(const Command *command) {
        const CommandSegment *segment;
        const char *program, *second;

        if (!command_is_plain(command))
                return NULL;

        segment = command->segments->pdata[0];
        program = segment->words->pdata[0];
        /* A program by path is another program than the one of that name. */
        if (strchr(program, '/') || IS_ONE_OF(program, carriers) || IS_ONE_OF(program, shells) ||
                        IS_ONE_OF(program, interpreters))
                return NULL;
        if (!IS_ONE_OF(program, multi_commands))
                return g_strdup(program);

        second = segment->words->len > 1 ? segment->words->pdata[1] : NULL;
        /* An option before the verb can change everything, as `git -c` does. */
        return second && second[0] != '-' ? g_strdup_printf("%s %s", program, second) : NULL;
}

char **command_words(const char *text) {
        g_autoptr(Command) command = command_parse(text);
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        const CommandSegment *segment;

        if (command->unclear || command->chained || command->segments->len != 1)
                return NULL;

        segment = command->segments->pdata[0];
        for (size_t i = 0; i < segment->words->len; i++)
                g_strv_builder_add(builder, segment->words->pdata[i]);
        return g_strv_builder_end(builder);
}
