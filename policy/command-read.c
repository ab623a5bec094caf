/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "policy/command-words.h"

/* Words of the shell's grammar that may stand before a command. */
static const char *const grammar_words[] = {
        "{",
        "}",
        "!",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "coproc",
};

static bool is_grammar_word(const char *word) {
        for (size_t i = 0; i < G_N_ELEMENTS(grammar_words); i++)
                if (strcmp(word, grammar_words[i]) == 0)
                        return true;

        return false;
}

typedef struct Reader {
        Command *command;
        CommandSegment *segment; /* being filled */
        GString *word;           /* being filled; NULL between words */
        bool word_dynamic;
        bool word_quoted;
        bool next_is_target; /* the word after a redirection */
        unsigned depth;
        unsigned *words_left;
} Reader;

static void command_read(
                Command *command, const char *text, size_t size, unsigned depth, unsigned *words_left);

static CommandSegment *segment_new(void) {
        CommandSegment *segment = g_new0(CommandSegment, 1);

        segment->words = g_ptr_array_new_with_free_func(g_free);
        return segment;
}

static void segment_free(void *data) {
        CommandSegment *segment = data;

        if (!segment)
                return;
        g_ptr_array_unref(segment->words);
        g_free(segment);
}

static void reader_open_word(Reader *reader) {
        if (!reader->word)
                reader->word = g_string_new(NULL);
}

static void reader_end_word(Reader *reader) {
        char *word;

        if (!reader->word)
                return;

        word = g_string_free(g_steal_pointer(&reader->word), FALSE);
        if (*reader->words_left == 0) {
                reader->command->unclear = reader->command->cut = true;
                g_free(word);
        } else if (reader->next_is_target) {
                (*reader->words_left)--;
                g_ptr_array_add(reader->command->targets, word);
        } else if (reader->segment->words->len == 0 && !reader->word_quoted && is_grammar_word(word)) {
                reader->command->chained = true;
                g_free(word);
        } else {
                (*reader->words_left)--;
                /* A computed program name could be anything. */
                if (reader->word_dynamic && reader->segment->words->len == 0)
                        reader->command->unclear = true;
                reader->segment->dynamic |= reader->word_dynamic;
                g_ptr_array_add(reader->segment->words, word);
        }
        reader->word_dynamic = reader->word_quoted = reader->next_is_target = false;
}

static void reader_end_segment(Reader *reader) {
        reader_end_word(reader);
        if (reader->segment->words->len == 0)
                return;

        if (reader->command->segments->len >= COMMAND_SEGMENTS_MAX) {
                reader->command->unclear = reader->command->cut = true;
                g_ptr_array_set_size(reader->segment->words, 0);
                return;
        }
        g_ptr_array_add(reader->command->segments, reader->segment);
        reader->segment = segment_new();
}

/* The place of the parenthesis that closes the one before @at; 0 when there is none. Knows quotes and
 * escapes. */
static size_t find_closing(const char *text, size_t size, size_t at) {
        unsigned open = 1;
        char quote = '\0';

        for (; at < size; at++) {
                char c = text[at];

                if (c == '\\' && quote != '\'')
                        at++;
                else if (quote != '\0')
                        quote = c == quote ? '\0' : quote;
                else if (c == '\'' || c == '"' || c == '`')
                        quote = c;
                else if (c == '(')
                        open++;
                else if (c == ')' && --open == 0)
                        return at;
        }
        return 0;
}

static size_t find_backtick(const char *text, size_t size, size_t at) {
        for (; at < size; at++) {
                if (text[at] == '\\')
                        at++;
                else if (text[at] == '`')
                        return at;
        }
        return 0;
}

/* Reads the commands between @begin and @end and goes on behind @end; 0 for @end means there is no end. */
static size_t reader_nested(Reader *reader, const char *text, size_t begin, size_t end, size_t size) {
        reader->command->chained = true;
        reader_open_word(reader);
        reader->word_dynamic = true;
        if (end == 0) {
                reader->command->unclear = true;
                return size;
        }
        command_read(reader->command, text + begin, end - begin, reader->depth + 1, reader->words_left);
        return end + 1;
}

/* A dollar sign, unquoted or in double quotes. */
static size_t reader_dollar(Reader *reader, const char *text, size_t at, size_t size) {
        if (at + 1 < size && text[at + 1] == '(')
                return reader_nested(reader, text, at + 2, find_closing(text, size, at + 2), size);

        reader_open_word(reader);
        /* A dollar before a quote is a quoting style of its own, with escapes that we don't decode. */
        if (at + 1 < size && (text[at + 1] == '\'' || text[at + 1] == '"'))
                reader->command->unclear = true;
        reader->word_dynamic = true;
        g_string_append_c(reader->word, '$');
        return at + 1;
}

static size_t reader_double_quote(Reader *reader, const char *text, size_t at, size_t size) {
        reader_open_word(reader);
        reader->word_quoted = true;
        for (at++; at < size && text[at] != '"';) {
                if (text[at] == '$')
                        at = reader_dollar(reader, text, at, size);
                else if (text[at] == '`')
                        at = reader_nested(reader, text, at + 1, find_backtick(text, size, at + 1), size);
                else {
                        if (text[at] == '\\' && at + 1 < size && strchr("\"\\$`\n", text[at + 1]))
                                at++;
                        g_string_append_c(reader->word, text[at++]);
                }
        }
        if (at >= size)
                reader->command->unclear = true;
        return at + 1;
}

static size_t reader_single_quote(Reader *reader, const char *text, size_t at, size_t size) {
        const char *end = memchr(text + at + 1, '\'', size - at - 1);

        reader_open_word(reader);
        reader->word_quoted = true;
        if (!end) {
                reader->command->unclear = true;
                return size;
        }
        g_string_append_len(reader->word, text + at + 1, end - (text + at + 1));
        return (size_t) (end - text) + 1;
}

static size_t reader_redirection(Reader *reader, const char *text, size_t at, size_t size) {
        bool here_document = text[at] == '<' && at + 1 < size && text[at + 1] == '<';

        /* The digits right before it are a descriptor, no word. */
        if (reader->word && !reader->word_quoted &&
                        strspn(reader->word->str, "0123456789") == reader->word->len)
                (void) g_string_free(g_steal_pointer(&reader->word), TRUE);
        reader_end_word(reader);
        reader->command->chained = true;
        if (here_document)
                reader->command->unclear = true;

        while (at < size && strchr("<>&|", text[at]))
                at++;
        if (at < size && text[at] == '(')
                return reader_nested(reader, text, at + 1, find_closing(text, size, at + 1), size);
        reader->next_is_target = true;
        return at;
}

static size_t reader_comment(const char *text, size_t at, size_t size) {
        const char *end = memchr(text + at, '\n', size - at);

        return end ? (size_t) (end - text) : size;
}

static size_t reader_plain(Reader *reader, const char *text, size_t at, size_t size) {
        reader_open_word(reader);
        if (text[at] == '\\') {
                reader->word_quoted = true;
                if (at + 1 >= size) {
                        reader->command->unclear = true;
                        return size;
                }
                if (text[at + 1] != '\n')
                        g_string_append_c(reader->word, text[at + 1]);
                return at + 2;
        }
        /* Globs, home directories and brace lists are words that the shell makes up. */
        if (strchr("*?[~{", text[at]) && !(text[at] == '{' && reader->word->len == 0 && at + 1 < size &&
                                                         strchr(" \t\n", text[at + 1])))
                reader->word_dynamic = true;
        g_string_append_c(reader->word, text[at]);
        return at + 1;
}

static size_t reader_step(Reader *reader, const char *text, size_t at, size_t size) {
        char c = text[at];

        if (c == ' ' || c == '\t') {
                reader_end_word(reader);
                return at + 1;
        }
        if (c == '\n' || strchr(";&|()", c)) {
                reader_end_segment(reader);
                /* A line end after the last command separates nothing. */
                if (c != '\n' || strspn(text + at, " \t\n") < size - at)
                        reader->command->chained = true;
                return at + 1;
        }
        if (c == '#' && !reader->word)
                return reader_comment(text, at, size);
        if (c == '<' || c == '>')
                return reader_redirection(reader, text, at, size);
        if (c == '\'')
                return reader_single_quote(reader, text, at, size);
        if (c == '"')
                return reader_double_quote(reader, text, at, size);
        if (c == '`')
                return reader_nested(reader, text, at + 1, find_backtick(text, size, at + 1), size);
        if (c == '$')
                return reader_dollar(reader, text, at, size);
        return reader_plain(reader, text, at, size);
}

static void command_read(
                Command *command, const char *text, size_t size, unsigned depth, unsigned *words_left) {
        Reader reader = {
                .command = command,
                .segment = segment_new(),
                .depth = depth,
                .words_left = words_left,
        };

        if (depth > COMMAND_NESTING_MAX || memchr(text, '\0', size))
                command->unclear = command->cut = true;
        else
                for (size_t at = 0; at < size;)
                        at = reader_step(&reader, text, at, size);

        reader_end_segment(&reader);
        segment_free(reader.segment);
}

/* A text that a shell is told to run is commands too. Options are read as such and do no harm. */
static void command_read_shell_texts(Command *command, unsigned *words_left) {
        for (size_t i = 0; i < command->segments->len && i < COMMAND_SEGMENTS_MAX; i++) {
                CommandSegment *segment = command->segments->pdata[i];
                bool inside = false;

                for (size_t at = command_segment_program(segment); at < segment->words->len; at++) {
                        const char *word = segment->words->pdata[at];

                        if (inside && strpbrk(word, " \t\n;&|<>$`")) {
                                command->chained = true;
                                command_read(command, word, strlen(word), 1, words_left);
                        }
                        inside |= command_word_is_shell(word);
                }
        }
}

/* One of 64 bits for how a word begins. */
static uint64_t word_bit(const char *word) {
        unsigned second = word[0] == '\0' || word[1] == ' ' ? 0 : (unsigned char) word[1];

        return UINT64_C(1) << (((unsigned char) word[0] * 31u + second) & 63);
}

static void command_note_words(Command *command) {
        for (size_t i = 0; i < command->segments->len; i++) {
                const CommandSegment *segment = command->segments->pdata[i];

                for (size_t at = 0; at < segment->words->len; at++) {
                        command->words_seen |= word_bit(segment->words->pdata[at]);
                        command->words_seen |= word_bit(command_program_name(segment->words->pdata[at]));
                }
        }
}

bool command_may_run(const Command *command, const char *text) {
        return command->words_seen & word_bit(text);
}

Command *command_parse(const char *text) {
        Command *command = g_new0(Command, 1);
        unsigned words_left = COMMAND_WORDS_MAX;
        size_t size = strlen(text);

        command->segments = g_ptr_array_new_with_free_func(segment_free);
        command->targets = g_ptr_array_new_with_free_func(g_free);
        if (size > COMMAND_BYTES_MAX) {
                command->unclear = command->cut = true;
                return command;
        }

        command_read(command, text, size, 0, &words_left);
        command_read_shell_texts(command, &words_left);
        command_note_words(command);
        if (command->segments->len != 1)
                command->chained = true;
        return command;
}

Command *command_free(Command *command) {
        if (!command)
                return NULL;

        g_ptr_array_unref(command->segments);
        g_ptr_array_unref(command->targets);
        g_free(command);
        return NULL;
}
