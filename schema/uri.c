/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "schema/uri.h"

/* The five parts of a URI, as slices of its text. A part that is absent has no start. */
typedef struct Part {
        const char *at;
        size_t size;
} Part;

typedef struct Uri {
        Part scheme, authority, path, query, fragment;
} Uri;

static size_t scheme_size(const char *text) {
        size_t n = 0;

        if (!g_ascii_isalpha(*text))
                return 0;
        while (g_ascii_isalnum(text[n]) || strchr("+-.", text[n] ?: 'x'))
                n++;
        return text[n] == ':' ? n : 0;
}

static void uri_parse(const char *text, Uri *ret) {
        size_t n = scheme_size(text);

        *ret = (Uri) {};
        if (n > 0) {
                ret->scheme = (Part) { text, n };
                text += n + 1;
        }
        if (g_str_has_prefix(text, "//")) {
                n = strcspn(text + 2, "/?#");
                ret->authority = (Part) { text + 2, n };
                text += 2 + n;
        }
        n = strcspn(text, "?#");
        ret->path = (Part) { text, n };
        text += n;
        if (*text == '?') {
                n = strcspn(text, "#");
                ret->query = (Part) { text + 1, n - 1 };
                text += n;
        }
        if (*text == '#')
                ret->fragment = (Part) { text + 1, strlen(text + 1) };
}

static char *part_dup(Part part) {
        return g_strndup(part.at ?: "", part.size);
}

/* Takes out "." and ".." segments of a path. */
static char *remove_dots(const char *path) {
        g_autoptr(GPtrArray) kept = g_ptr_array_new();
        g_auto(GStrv) segments = g_strsplit(path, "/", -1);
        guint n = g_strv_length(segments);
        bool absolute = *path == '/';

        for (guint i = absolute; i < n; i++) {
                bool last = i + 1 == n, up = g_str_equal(segments[i], "..");

                if (!up && !g_str_equal(segments[i], ".")) {
                        g_ptr_array_add(kept, segments[i]);
                        continue;
                }
                if (up && kept->len > 0)
                        g_ptr_array_set_size(kept, (int) kept->len - 1);
                if (last)
                        g_ptr_array_add(kept, (char *) "");
        }

        g_ptr_array_add(kept, NULL);
        {
                g_autofree char *joined = g_strjoinv("/", (char **) kept->pdata);

                return g_strconcat(absolute ? "/" : "", joined, NULL);
        }
}

static char *merge_path(const Uri *base, const Uri *reference) {
        g_autofree char *merged = NULL, *relative = part_dup(reference->path);
        const char *slash;

        if (*relative == '/')
                return remove_dots(relative);
        if (base->authority.at && base->path.size == 0)
                merged = g_strconcat("/", relative, NULL);
        else {
                g_autofree char *path = part_dup(base->path);

                slash = strrchr(path, '/');
                path[slash ? slash - path + 1 : 0] = '\0';
                merged = g_strconcat(path, relative, NULL);
        }
        return remove_dots(merged);
}

static void put_part(GString *out, const char *before, Part part, const char *after) {
        if (!part.at)
                return;
        g_string_append(out, before);
        g_string_append_len(out, part.at, (gssize) part.size);
        g_string_append(out, after);
}

char *uri_resolve(const char *base_text, const char *reference_text) {
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *path = NULL;
        Uri base, reference;
        Part query;

        uri_parse(base_text, &base);
        uri_parse(reference_text, &reference);
        query = reference.query;

        if (reference.scheme.at || reference.authority.at) {
                g_autofree char *own = part_dup(reference.path);

                /* "urn:a:b" has no hierarchy in which dots would mean something. */
                path = *own == '/' ? remove_dots(own) : g_strdup(own);
        } else if (reference.path.size == 0) {
                path = part_dup(base.path);
                query = query.at ? query : base.query;
        } else
                path = merge_path(&base, &reference);

        put_part(out, "", reference.scheme.at ? reference.scheme : base.scheme, ":");
        put_part(out, "//", reference.scheme.at || reference.authority.at ? reference.authority : base.authority, "");
        g_string_append(out, path);
        put_part(out, "?", query, "");
        put_part(out, "#", reference.fragment, "");
        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *uri_split_fragment(char *uri) {
        char *hash = strchr(uri, '#');

        if (!hash)
                return NULL;
        *hash = '\0';
        return hash + 1;
}

char *uri_unescape(const char *text) {
        g_autoptr(GString) out = g_string_new(NULL);

        for (; *text; text++) {
                if (*text == '%') {
                        int high = g_ascii_xdigit_value(text[1]), low = high < 0 ? -1 : g_ascii_xdigit_value(text[2]);

                        if (high < 0 || low < 0 || high + low == 0)
                                return NULL;
                        g_string_append_c(out, (char) (high * 16 + low));
                        text += 2;
                } else
                        g_string_append_c(out, *text);
        }
        if (!g_utf8_validate(out->str, (gssize) out->len, NULL))
                return NULL;
        return g_string_free(g_steal_pointer(&out), FALSE);
}
