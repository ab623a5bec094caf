/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "policy/auto-review.h"
#include "policy/tool-name.h"

#define COMMAND_PREFIX "command:"

typedef struct ReviewRule {
        char *text;
        char **words; /* NULL for a tool's pattern */
        char *at;     /* the place in its file; NULL when it has none */
} ReviewRule;

struct AutoReview {
        GPtrArray *blocks; /* ReviewRule */
        GPtrArray *vouches;
};

static const char *const finding_table[_REVIEW_FINDING_MAX] = {
        [REVIEW_NOTHING] = "nothing",
        [REVIEW_SAFE] = "safe",
        [REVIEW_PUBLISH] = "publish",
        [REVIEW_DESTRUCTIVE] = "destructive",
        [REVIEW_BLOCKED] = "blocked",
};

/* Programs that only read, whatever their arguments. */
static const char *const reading_programs[] = {
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "pwd",
        "echo",
        "grep",
        "egrep",
        "fgrep",
        "stat",
        "file",
        "du",
        "df",
        "id",
        "whoami",
        "uname",
        "basename",
        "dirname",
        "realpath",
        "true",
        "false",
        "cmp",
        "cut",
        "uptime",
        "which",
};

/* Verbs of git that only read; an option that writes a file or runs a program spoils it. */
static const char *const reading_git[] = { "status", "log", "diff", "show", "blame", "rev-parse", "ls-files",
        "shortlog" };
static const char *const spoiling_git[] = { "--output", "-o", "--ext-diff", "--textconv", "-O",
        "--open-files-in-pager" };

static const char *const publishing[] = {
        "git push",
        "npm publish",
        "pnpm publish",
        "yarn publish",
        "cargo publish",
        "gem push",
        "twine upload",
        "docker push",
        "podman push",
        "gh release",
        "gh pr",
        "kubectl apply",
        "helm upgrade",
        "terraform apply",
        "dput",
        "mvn deploy",
        "poetry publish",
};

static const char *const destroying[] = {
        "mkfs",
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "wipefs",
        "blkdiscard",
        "shred",
        "fdisk",
        "sfdisk",
        "parted",
        "shutdown",
        "reboot",
        "poweroff",
        "halt",
        "git push --force",
        "git push -f",
        "git reset --hard",
        "git clean -fdx",
        "dropdb",
        "terraform destroy",
        "kubectl delete",
};

const char *review_finding_to_string(ReviewFinding finding) {
        return finding >= 0 && finding < _REVIEW_FINDING_MAX ? finding_table[finding] : NULL;
}

static void review_rule_free(void *data) {
        ReviewRule *rule = data;

        g_strfreev(rule->words);
        g_free(rule->text);
        g_free(rule->at);
        g_free(rule);
}

AutoReview *auto_review_new(void) {
        AutoReview *review = g_new0(AutoReview, 1);

        review->blocks = g_ptr_array_new_with_free_func(review_rule_free);
        review->vouches = g_ptr_array_new_with_free_func(review_rule_free);
        return review;
}

AutoReview *auto_review_free(AutoReview *review) {
        if (!review)
                return NULL;

        g_ptr_array_unref(review->blocks);
        g_ptr_array_unref(review->vouches);
        g_free(review);
        return NULL;
}

static int add_rule(GPtrArray *rules, const char *text, const char *at) {
        g_auto(GStrv) words = NULL;
        ReviewRule *rule;

        if (*text == '\0' || strlen(text) > RULE_PATTERN_BYTES_MAX)
                return -EINVAL;
        if (rules->len >= RULES_MAX)
                return -ENOBUFS;
        if (g_str_has_prefix(text, COMMAND_PREFIX)) {
                words = command_words(text + strlen(COMMAND_PREFIX));
                if (!words)
                        return -EINVAL;
        }

        rule = g_new0(ReviewRule, 1);
        rule->text = g_strdup(text);
        rule->at = g_strdup(at);
        rule->words = g_steal_pointer(&words);
        g_ptr_array_add(rules, rule);
        return 0;
}

int auto_review_block(AutoReview *review, const char *rule, const char *at) {
        return add_rule(review->blocks, rule, at);
}

int auto_review_vouch(AutoReview *review, const char *rule, const char *at) {
        return add_rule(review->vouches, rule, at);
}

static int load_list(GPtrArray *rules, const char *where, Jval list, PolicyDocument *document) {
        JIter iter = jval_iterate(list);
        Jval key, item;
        int r = 0;

        if (!jval_is(list, J_ARRAY))
                return policy_document_refuse(document, list, "auto_review.%s: must be a list of texts.", where);

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *at = policy_document_place(document, item);
                const char *text = jval_text(item);
                int added = text ? add_rule(rules, text, at) : -EINVAL;

                if (added == -ENOBUFS)
                        return policy_document_limit(document, item, "auto_review.%s: there may be at most %u entries.",
                                                     where, RULES_MAX);
                if (added < 0)
                        r = policy_document_refuse(document, item,
                                                   "auto_review.%s: each entry must be a tool's pattern, or \"command:\" and the "
                                                   "first words of one plain command.", where);
        }
        return r;
}

int auto_review_load(AutoReview *review, Jval table, PolicyDocument *document) {
        g_autoptr(AutoReview) loaded = auto_review_new();
        JIter iter = jval_iterate(table);
        Jval key, item;
        int r = 0;

        if (jval_is(table, J_ABSENT))
                return 0;
        if (!jval_is(table, J_OBJECT))
                return policy_document_refuse(document, table, "auto_review: must be a table.");
        while (jiter_next(&iter, &key, &item)) {
                int loaded_r;

                if (jval_equals_text(key, "block"))
                        loaded_r = load_list(loaded->blocks, "block", item, document);
                else if (jval_equals_text(key, "allow"))
                        loaded_r = load_list(loaded->vouches, "allow", item, document);
                else
                        loaded_r = policy_document_refuse(document, key,
                                                          "auto_review: only \"block\" and \"allow\" are known.");
                if (r >= 0)
                        r = loaded_r;
        }
        if (r < 0)
                return r;

        g_ptr_array_extend_and_steal(review->blocks, g_steal_pointer(&loaded->blocks));
        g_ptr_array_extend_and_steal(review->vouches, g_steal_pointer(&loaded->vouches));
        loaded->blocks = g_ptr_array_new();
        loaded->vouches = g_ptr_array_new();
        return 0;
}

static void write_list(const GPtrArray *rules, JWriter *writer) {
        jwriter_begin_array(writer);
        for (guint i = 0; i < rules->len; i++) {
                const ReviewRule *rule = rules->pdata[i];

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "rule", rule->text);
                if (rule->at)
                        jwriter_member_string(writer, "at", rule->at);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void auto_review_write(const AutoReview *review, JWriter *writer) {
        jwriter_key(writer, "block");
        write_list(review->blocks, writer);
        jwriter_key(writer, "allow");
        write_list(review->vouches, writer);
}

/* ---- the floor ---- */

static bool is_one_of(const char *word, const char *const *list, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (strcmp(word, list[i]) == 0)
                        return true;

        return false;
}

static bool git_is_read_only(const GPtrArray *words) {
        if (words->len < 2 || !is_one_of(words->pdata[1], reading_git, G_N_ELEMENTS(reading_git)))
                return false;

        for (guint i = 2; i < words->len; i++)
                for (size_t k = 0; k < G_N_ELEMENTS(spoiling_git); k++)
                        if (g_str_has_prefix(words->pdata[i], spoiling_git[k]))
                                return false;
        return true;
}

bool auto_review_command_is_read_only(const Command *command) {
        const GPtrArray *words;

        if (!command_is_plain(command))
                return false;

        words = ((const CommandSegment *) command->segments->pdata[0])->words;
        if (strcmp(words->pdata[0], "git") == 0)
                return git_is_read_only(words);
        return is_one_of(words->pdata[0], reading_programs, G_N_ELEMENTS(reading_programs));
}

static const char *runs_any(const Command *command, const char *const *list, size_t length) {
        for (size_t i = 0; i < length; i++) {
                g_auto(GStrv) words = NULL;

                if (!command_may_run(command, list[i]))
                        continue;
                words = g_strsplit(list[i], " ", -1);
                if (command_runs(command, words))
                        return list[i];
        }
        return NULL;
}

/* rm that recurses into a root, a home or everything: the flags may stand anywhere and in any spelling. */
static bool removes_everything(const CommandSegment *segment) {
        static const char *const targets[] = { "/", "/*", "~", "~/", "~/*", "$HOME", "$HOME/", "$HOME/*",
                ".", "..", "*", "./*" };
        bool removes = false, recursive = false, everything = false;

        for (guint i = 0; i < segment->words->len; i++) {
                const char *word = segment->words->pdata[i];
                const char *name = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;

                removes |= strcmp(name, "rm") == 0;
                if (!removes)
                        continue;
                recursive |= strcmp(word, "--recursive") == 0 ||
                             (word[0] == '-' && word[1] != '-' && strpbrk(word, "rR"));
                everything |= is_one_of(word, targets, G_N_ELEMENTS(targets));
        }
        return removes && recursive && everything;
}

/* dd, or a redirection, onto a disk. */
static bool overwrites_device(const Command *command) {
        for (guint i = 0; i < command->targets->len; i++) {
                const char *target = command->targets->pdata[i];

                if (g_str_has_prefix(target, "/dev/") && !g_str_equal(target, "/dev/null") &&
                                !g_str_equal(target, "/dev/stdout") && !g_str_equal(target, "/dev/stderr") &&
                                !g_str_has_prefix(target, "/dev/fd/") && !g_str_equal(target, "/dev/tty"))
                        return true;
        }
        for (guint i = 0; i < command->segments->len; i++) {
                const CommandSegment *segment = command->segments->pdata[i];

                for (guint k = 0; k < segment->words->len; k++)
                        if (g_str_has_prefix(segment->words->pdata[k], "of=/dev/") &&
                                        !g_str_equal(segment->words->pdata[k], "of=/dev/null"))
                                return true;
        }
        return false;
}

static const char *destroys(const Command *command) {
        for (guint i = 0; i < command->segments->len; i++)
                if (removes_everything(command->segments->pdata[i]))
                        return "it removes a whole tree of everything";
        if (overwrites_device(command))
                return "it writes onto a device";
        if (runs_any(command, destroying, G_N_ELEMENTS(destroying)))
                return "it destroys what can't be brought back";
        return NULL;
}

static const ReviewRule *match_rules(const GPtrArray *rules, const ReviewSubject *subject, bool vouch) {
        for (guint i = 0; i < rules->len; i++) {
                const ReviewRule *rule = rules->pdata[i];
                bool hit;

                if (!rule->words)
                        hit = tool_pattern_means(rule->text, subject->policy_name);
                else if (!subject->command)
                        hit = false;
                else if (vouch)
                        hit = command_is_plain(subject->command) &&
                              command_segment_begins(subject->command->segments->pdata[0], rule->words);
                else
                        hit = command_runs(subject->command, rule->words);
                if (hit)
                        return rule;
        }
        return NULL;
}

static ReviewFinding find_in_floor(const ReviewSubject *subject, const char **ret_why) {
        const char *why = subject->command ? destroys(subject->command) : NULL;

        if (why) {
                *ret_why = why;
                return REVIEW_DESTRUCTIVE;
        }
        if (subject->command && runs_any(subject->command, publishing, G_N_ELEMENTS(publishing))) {
                *ret_why = "it publishes";
                return REVIEW_PUBLISH;
        }
        return REVIEW_NOTHING;
}

ReviewFinding auto_review_find(const AutoReview *review, const ReviewSubject *subject, const char **ret_why,
                const char **ret_at) {
        const ReviewRule *rule = review ? match_rules(review->blocks, subject, false) : NULL;
        ReviewFinding finding = rule ? REVIEW_BLOCKED : find_in_floor(subject, ret_why);

        if (finding == REVIEW_NOTHING && review) {
                rule = match_rules(review->vouches, subject, true);
                if (rule)
                        finding = REVIEW_SAFE;
        }
        if (rule)
                *ret_why = rule->text;
        if (ret_at)
                *ret_at = rule ? rule->at : NULL;
        if (finding != REVIEW_NOTHING)
                return finding;

        if (subject->category == CATEGORY_SAFE ||
                        (subject->command && auto_review_command_is_read_only(subject->command))) {
                *ret_why = "it is proven to read only";
                return REVIEW_SAFE;
        }
        *ret_why = "";
        return REVIEW_NOTHING;
}
