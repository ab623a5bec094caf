/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "sandbox/core-tool/tool.h"

/* A pattern with a slash is for the whole path, one without for the name. "*" and "?" also stand for a slash. */
typedef struct Search {
        Answer *answer;
        GPatternSpec *pattern;
        bool whole_path;
        uint64_t found, limit;
} Search;

static bool on_file(const char *relative, int directory, const char *name, void *userdata) {
        Search *search = userdata;
        const char *text = search->whole_path ? relative : name;

        (void) directory;
        if (!g_pattern_spec_match_string(search->pattern, text))
                return true;
        if (search->found == search->limit) {
                answer_printf(search->answer, "[there are more]\n");
                return false;
        }
        search->found++;
        answer_printf(search->answer, "%s\n", relative);
        return true;
}

void tool_file_search(const Workspace *workspace, Jval input, Answer *answer) {
        const char *path = jval_text(jval_member(input, "path")), *pattern = jval_text(jval_member(input, "pattern"));
        g_autofree char *relative = workspace_relative(workspace, path ? path : ".", answer);
        Search search = {
                .answer = answer,
                .whole_path = strchr(pattern, '/'),
                .limit = tool_number(input, "limit", CORE_SEARCH_RESULTS, CORE_SEARCH_RESULTS_MAX),
        };
        int r;

        if (!relative)
                return;
        search.pattern = g_pattern_spec_new(pattern);
        r = workspace_walk(workspace, relative, on_file, &search, answer);
        g_pattern_spec_free(search.pattern);
        if (r > 0)
                answer_printf(answer, "[stopped after %u files]\n", CORE_WALK_FILES_MAX);
        if (r >= 0)
                jwriter_member_uint(answer_facts(answer), "found", search.found);
}
