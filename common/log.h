/* SPDX-License-Identifier: MIT */
#pragma once

/* The daemon's log. It goes to the journal with structured fields when the journal listens, else to standard error.
 * Level and target can be changed while running (org.freedesktop.LogControl1). Never put a secret, ticket or token here. */

#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

typedef enum LogTarget {
        LOG_TARGET_AUTO, /* journal when standard error is connected to it, else console */
        LOG_TARGET_JOURNAL,
        LOG_TARGET_CONSOLE,
        LOG_TARGET_NULL,
        _LOG_TARGET_MAX,
        _LOG_TARGET_INVALID = -22,
} LogTarget;

const char *log_target_to_string(LogTarget target);
LogTarget log_target_from_string(const char *word);
void log_set_target(LogTarget target);
LogTarget log_get_target(void);

/* Levels are those of syslog(3); words as LogControl1 has them: emerg alert crit err warning notice info debug. */
const char *log_level_to_string(int level);
int log_level_from_string(const char *word); /* -EINVAL for an unknown word */
void log_set_level(int level);
int log_get_level(void);

void log_write(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * log_from_plugin() - a line that a plugin wrote through its logger
 * @unit: its host's unit
 *
 * Goes into the journal as a line of that unit, where 'codewhalectl log' looks for it, also when our own lines go elsewhere; and
 * to where those go.
 */
void log_from_plugin(int level, const char *plugin_id, const char *unit, const char *text);

/**
 * log_plugin() - a message about one plugin, with its id and an id of the kind of message for the catalog
 * @message_id: 32 hex digits from messages.h; NULL for none
 * @plugin_id:  becomes CODEWHALE_PLUGIN=
 * @unit:       NULL, or the host's unit; becomes CODEWHALE_UNIT=
 */
void log_plugin(int level, const char *message_id, const char *plugin_id, const char *unit, const char *format, ...)
                __attribute__((format(printf, 5, 6)));

/* One more field of a journal entry; without a value it is left out. */
typedef struct LogField {
        const char *name; /* "CODEWHALE_CALL=" */
        const char *value;
} LogField;

/**
 * log_record() - something that is recorded elsewhere too, for those who read the journal
 * @fields: at most LOG_FIELDS_MAX
 *
 * On a console it shows up at debug level only: there it would bury everything else.
 */
#define LOG_FIELDS_MAX 16u
void log_record(int level, const char *message_id, const LogField *fields, size_t n, const char *format, ...)
                __attribute__((format(printf, 5, 6)));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_notice(...) log_write(LOG_NOTICE, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERR, __VA_ARGS__)
