/* SPDX-License-Identifier: MIT */
#define SD_JOURNAL_SUPPRESS_LOCATION 1

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/sanitize.h"

static int current_level = LOG_INFO;
static LogTarget current_target = LOG_TARGET_AUTO;

static const char *const log_target_table[_LOG_TARGET_MAX] = {
        [LOG_TARGET_AUTO] = "auto",
        [LOG_TARGET_JOURNAL] = "journal",
        [LOG_TARGET_CONSOLE] = "console",
        [LOG_TARGET_NULL] = "null",
};

static const char *const log_level_table[] = {
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
};

const char *log_target_to_string(LogTarget target) {
        return target >= 0 && target < _LOG_TARGET_MAX ? log_target_table[target] : NULL;
}

LogTarget log_target_from_string(const char *word) {
        for (int i = 0; i < _LOG_TARGET_MAX; i++)
                if (g_strcmp0(word, log_target_table[i]) == 0)
                        return i;

        return _LOG_TARGET_INVALID;
}

void log_set_target(LogTarget target) {
        current_target = target;
}

LogTarget log_get_target(void) {
        return current_target;
}

const char *log_level_to_string(int level) {
        return level >= 0 && level < (int) G_N_ELEMENTS(log_level_table) ? log_level_table[level] : NULL;
}

int log_level_from_string(const char *word) {
        for (size_t i = 0; i < G_N_ELEMENTS(log_level_table); i++)
                if (g_strcmp0(word, log_level_table[i]) == 0)
                        return (int) i;

        return -EINVAL;
}

void log_set_level(int level) {
        current_level = level;
}

int log_get_level(void) {
        return current_level;
}

/* JOURNAL_STREAM names device and inode of the stream when standard error leads into the journal (systemd.exec(5)). */
static bool stderr_is_journal(void) {
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat status;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &status) == 0 &&
                        status.st_dev == device && status.st_ino == inode;
}

static bool to_journal(void) {
        return current_target == LOG_TARGET_JOURNAL || (current_target == LOG_TARGET_AUTO && stderr_is_journal());
}

/* On the console a line break would let a stranger's text pass for a message of ours. */
static void log_to_console(int level, const char *plugin_id, const char *text) {
        g_autofree char *clean = sanitize_line(text, LOG_TEXT_BYTES_MAX, NULL);
        g_autofree char *owner = plugin_id ? sanitize_line(plugin_id, LOG_TEXT_BYTES_MAX, NULL) : NULL;

        (void) fprintf(stderr, "<%d>%s%s%s\n", level, owner ? owner : "", owner ? ": " : "", clean);
}

/* @fields: all but the first three, which every entry has */
static void log_to_journal(int level, const char *message_id, const LogField *fields, size_t n, const char *text) {
        g_autofree char *clean = sanitize_block(text, LOG_TEXT_BYTES_MAX, NULL);
        char priority[] = { (char) ('0' + level), '\0' };
        const LogField common[] = { { "MESSAGE=", clean }, { "PRIORITY=", priority }, { "MESSAGE_ID=", message_id } };
        char *lines[G_N_ELEMENTS(common) + LOG_FIELDS_MAX];
        struct iovec vectors[G_N_ELEMENTS(lines)];
        int used = 0;

        assert(n <= LOG_FIELDS_MAX);
        for (size_t i = 0; i < G_N_ELEMENTS(common) + n; i++) {
                const LogField *field = i < G_N_ELEMENTS(common) ? &common[i] : &fields[i - G_N_ELEMENTS(common)];

                if (!field->value)
                        continue;
                lines[used] = g_strconcat(field->name, field->value, NULL);
                vectors[used] = (struct iovec) { lines[used], strlen(lines[used]) };
                used++;
        }
        (void) sd_journal_sendv(vectors, used);
        while (used > 0)
                g_free(lines[--used]);
}

static void log_send(int level, const char *message_id, const char *plugin_id, const char *unit, const char *text) {
        if (current_target == LOG_TARGET_NULL)
                return;
        if (to_journal()) {
                const LogField fields[] = { { "CODEWHALE_PLUGIN=", plugin_id }, { "CODEWHALE_UNIT=", unit } };

                log_to_journal(level, message_id, fields, G_N_ELEMENTS(fields), text);
        }
        else
                log_to_console(level, plugin_id, text);
}

void log_write(int level, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        if (level > current_level)
                return;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        log_send(level, NULL, NULL, NULL, text);
}

void log_plugin(int level, const char *message_id, const char *plugin_id, const char *unit, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        if (level > current_level)
                return;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        log_send(level, message_id, plugin_id, unit, text);
}

/* USER_UNIT= is how journalctl knows lines about a unit of the user's manager, the other one how of the system's. */
void log_from_plugin(int level, const char *plugin_id, const char *unit, const char *text) {
        const LogField fields[] = {
                { "CODEWHALE_PLUGIN=", plugin_id }, { "CODEWHALE_UNIT=", unit }, { "USER_UNIT=", unit }, { "OBJECT_SYSTEMD_UNIT=", unit },
        };

        if (level > current_level || current_target == LOG_TARGET_NULL)
                return;

        log_to_journal(level, NULL, fields, G_N_ELEMENTS(fields), text);
        if (!to_journal())
                log_to_console(level, plugin_id, text);
}

void log_record(int level, const char *message_id, const LogField *fields, size_t n, const char *format, ...) {
        g_autofree char *text = NULL;
        bool journal = to_journal();
        va_list arguments;

        if (current_target == LOG_TARGET_NULL || (journal ? level : LOG_DEBUG) > current_level)
                return;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        if (journal)
                log_to_journal(level, message_id, fields, n, text);
        else
                log_to_console(LOG_DEBUG, NULL, text);
}
