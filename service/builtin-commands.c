/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "service/builtin-commands.h"

const char *const builtin_commands[] = {
        "clear", "config", "exit", "help", "jihua", "mode", "model", "plugins", "quit", "skill", "skills", "zidong", NULL,
};
