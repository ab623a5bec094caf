/* SPDX-License-Identifier: MIT */

/* codewhale-core-tool: one tool of the built-in core, once, in a unit of its own. The launcher has verified the walls
 * before it became this program. It reads one frame with the request on standard input, which is the channel to the
 * service, writes one frame with the answer there, and ends; with it ends the unit and whatever is left in it. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/core-tool/exchange.h"
#include "sandbox/core-tool/operands.h"
#include "sandbox/core-tool/tool.h"

enum {
        EXIT_CHANNEL = 3,
        EXIT_REQUEST = 4,
};

static const struct {
        const char *name;
        ToolRun run;
} tools[] = {
        { "read", tool_read },
        { "list_dir", tool_list_dir },
        { "file_search", tool_file_search },
        { "grep_files", tool_grep_files },
        { "write_file", tool_write_file },
        { "edit_file", tool_edit_file },
        { "shell", tool_shell },
};

uint64_t tool_number(Jval input, const char *key, uint64_t fallback, uint64_t max) {
        uint64_t number;

        return jval_uint64(jval_member(input, key), &number) < 0 ? fallback : MIN(number, max);
}

bool tool_flag(Jval input, const char *key) {
        bool flag;

        return jval_boolean(jval_member(input, key), &flag) >= 0 && flag;
}

/* ---- the request ---- */

static int open_workspace(Jval request, Workspace *ret) {
        Jval place = jval_member(request, "workspace");
        uint64_t device = 0, inode = 0;
        const char *path = jval_text(jval_member(place, "path"));

        (void) jval_uint64(jval_member(place, "device"), &device);
        (void) jval_uint64(jval_member(place, "inode"), &inode);
        return path ? workspace_open(ret, path, device, inode) : -EBADMSG;
}

/* Only what is written into files may hold zero bytes; in a path or a pattern they would hide the rest. */
static bool check_texts(Jval input, Answer *answer) {
        static const char *const contents[] = { "content", "old_string", "new_string" };
        JIter iter = jval_iterate(input);
        Jval key, value;

        while (jiter_next(&iter, &key, &value)) {
                bool is_content = false;

                for (size_t i = 0; i < G_N_ELEMENTS(contents); i++)
                        is_content = is_content || jval_equals_text(key, contents[i]);
                if (is_content || !jval_is(value, J_STRING) || jval_text(value))
                        continue;
                answer_fail(answer, "An argument holds a zero byte.");
                return false;
        }
        return true;
}

static void serve(Jval request, ToolRun run, Answer *answer) {
        Jval input = jval_member(request, "input");
        Workspace workspace;
        int r = open_workspace(request, &workspace);

        if (r == -ESTALE)
                answer_refuse(answer, "the workspace's path leads to another folder than when the session began");
        else if (r < 0)
                answer_refuse(answer, "the workspace can't be opened: %s", g_strerror(-r));
        else if (check_texts(input, answer) && operands_verify(&workspace, jval_member(request, "operands"), answer))
                run(&workspace, input, answer);
}

static ToolRun find_tool(const char *name) {
        for (size_t i = 0; name && i < G_N_ELEMENTS(tools); i++)
                if (strcmp(tools[i].name, name) == 0)
                        return tools[i].run;
        return NULL;
}

int main(void) {
        g_autofree char *payload = NULL, *json = NULL;
        g_autoptr(Jdoc) request = NULL;
        g_auto(Answer) answer = {};
        size_t size, json_size;
        int fd = exchange_take_channel();
        ToolRun run;

        answer_init(&answer);
        if (fd < 0 || exchange_receive(fd, &payload, &size) < 0)
                return EXIT_CHANNEL;
        if (jdoc_parse(payload, size, &(JdocLimits){ .depth_max = JSON_FRAME_DEPTH_MAX, .nodes_max = JSON_NODES_MAX,
                                                        .bytes_max = FRAME_PAYLOAD_BYTES_MAX },
                            &request, NULL) < 0)
                return EXIT_REQUEST;
        run = find_tool(jval_text(jval_member(jdoc_root(request), "tool")));
        if (!run)
                return EXIT_REQUEST;

        serve(jdoc_root(request), run, &answer);
        json = answer_to_json(&answer, &json_size);
        return exchange_send(fd, json, json_size) < 0 ? EXIT_CHANNEL : EXIT_SUCCESS;
}
