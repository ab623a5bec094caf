/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "prompt/interpolation.h"
#include "prompt/section.h"

int section_id_check(const char *id) {
        size_t length;

        if (!id || !g_ascii_islower(id[0]))
                return -EINVAL;

        for (length = 1; id[length] != '\0'; length++)
                if (length >= PROMPT_ID_CHARS_MAX ||
                                !(g_ascii_islower(id[length]) || g_ascii_isdigit(id[length]) ||
                                                id[length] == '_' || id[length] == '-'))
                        return -EINVAL;
        return 0;
}

/* What Unicode calls white space, and what shows nothing at all. */
static bool is_blank(gunichar c) {
        return g_unichar_isspace(c) || g_unichar_iszerowidth(c) || g_unichar_type(c) == G_UNICODE_FORMAT;
}

static const char *text_fault(const char *text, size_t size) {
        bool blank = true;

        if (memchr(text, '\0', size) || !g_utf8_validate(text, (gssize) size, NULL))
                return "the text is not UTF-8 without NUL";

        for (const char *at = text; at < text + size; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (g_unichar_iscntrl(c) && c != '\n' && c != '\r' && c != '\t')
                        return "the text holds a control character";
                blank &= is_blank(c);
        }
        return blank ? "the text is blank" : NULL;
}

int section_text_check(const char *text, size_t size, bool interpolate, sd_bus_error *reterr) {
        g_autofree char *copy = NULL;
        const char *fault;
        size_t bad = 0;

        if (size > PROMPT_TEXT_BYTES_MAX) {
                (void) errors_set(reterr, ERROR_TOO_LARGE,
                                "A prompt section has at most %zu bytes, this one has %zu.",
                                PROMPT_TEXT_BYTES_MAX, size);
                return -E2BIG;
        }
        fault = text_fault(text, size);
        if (fault) {
                (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS, "Prompt section: %s.", fault);
                return -EINVAL;
        }
        if (!interpolate)
                return 0;

        copy = g_strndup(text, size);
        if (interpolation_check(copy, &bad) < 0) {
                (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "Prompt template: at byte %zu stands a variable that is not {{model}} or "
                                "{{cwd}}.",
                                bad);
                return -EINVAL;
        }
        return 0;
}

Section *section_new(
                const SectionOwner *owner, const char *id, const char *text, size_t size, bool interpolate) {
        Section *section = g_new0(Section, 1);

        section->owner = g_strdup(owner->owner);
        section->plugin = g_strdup(owner->plugin);
        section->generation = owner->generation;
        section->content_hash = g_strdup(owner->content_hash);
        section->entry = g_strdup(owner->entry ? owner->entry : "");
        section->id = g_strdup(id);
        section->text = g_strndup(text, size);
        section->text_size = size;
        section->interpolate = interpolate;
        return section;
}

Section *section_free(Section *section) {
        if (!section)
                return NULL;

        g_free(section->owner);
        g_free(section->plugin);
        g_free(section->content_hash);
        g_free(section->entry);
        g_free(section->id);
        g_free(section->text);
        g_free(section);
        return NULL;
}

int section_compare(const Section *a, const Section *b) {
        int r = strcmp(a->owner, b->owner);

        if (r == 0)
                r = strcmp(a->entry, b->entry);
        if (r == 0)
                r = strcmp(a->id, b->id);
        return r;
}
