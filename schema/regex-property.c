/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "schema/regex-property.h"

/* The values of General_Category that PCRE2 knows by their short names only. */
static const char *const categories[][2] = {
        { "Letter", "L" },
        { "Cased_Letter", "L&" },
        { "LC", "L&" },
        { "Uppercase_Letter", "Lu" },
        { "Lowercase_Letter", "Ll" },
        { "Titlecase_Letter", "Lt" },
        { "Modifier_Letter", "Lm" },
        { "Other_Letter", "Lo" },
        { "Mark", "M" },
        { "Combining_Mark", "M" },
        { "Nonspacing_Mark", "Mn" },
        { "Spacing_Mark", "Mc" },
        { "Enclosing_Mark", "Me" },
        { "Number", "N" },
        { "Decimal_Number", "Nd" },
        { "digit", "Nd" },
        { "Letter_Number", "Nl" },
        { "Other_Number", "No" },
        { "Punctuation", "P" },
        { "punct", "P" },
        { "Connector_Punctuation", "Pc" },
        { "Dash_Punctuation", "Pd" },
        { "Open_Punctuation", "Ps" },
        { "Close_Punctuation", "Pe" },
        { "Initial_Punctuation", "Pi" },
        { "Final_Punctuation", "Pf" },
        { "Other_Punctuation", "Po" },
        { "Symbol", "S" },
        { "Math_Symbol", "Sm" },
        { "Currency_Symbol", "Sc" },
        { "Modifier_Symbol", "Sk" },
        { "Other_Symbol", "So" },
        { "Separator", "Z" },
        { "Space_Separator", "Zs" },
        { "Line_Separator", "Zl" },
        { "Paragraph_Separator", "Zp" },
        { "Other", "C" },
        { "Control", "Cc" },
        { "cntrl", "Cc" },
        { "Format", "Cf" },
        { "Surrogate", "Cs" },
        { "Private_Use", "Co" },
        { "Unassigned", "Cn" },
};

static const char *category(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
                if (strcmp(categories[i][0], name) == 0)
                        return categories[i][1];
        return NULL;
}

/* Only letters, digits and '_' can be part of a name: PCRE2's "^", "&" and prefixes must not get through. */
static bool is_name(const char *text) {
        size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

        return n > 0 && text[n] == '\0';
}

/* @known, or else the name itself if it is one. */
static const char *plain_or(const char *name, const char *known) {
        return known ? known : is_name(name) ? name : NULL;
}

const char *regex_property(const char *name) {
        static const char *const general[] = { "General_Category=", "gc=" };
        static const char *const scripts[] = { "Script=", "sc=", "Script_Extensions=", "scx=" };
        /* PCRE2's own, which ECMAScript does not have. */
        static const char *const foreign[] = { "Xan", "Xps", "Xsp", "Xuc", "Xwd" };

        for (size_t i = 0; i < G_N_ELEMENTS(general); i++)
                if (g_str_has_prefix(name, general[i])) {
                        name += strlen(general[i]);
                        return strlen(name) <= 2 ? plain_or(name, NULL) : category(name);
                }
        for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++)
                if (g_str_has_prefix(name, scripts[i])) {
                        name += strlen(scripts[i]);
                        return plain_or(name, NULL);
                }
        for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++)
                if (g_ascii_strcasecmp(foreign[i], name) == 0)
                        return NULL;
        return plain_or(name, category(name));
}
