/* SPDX-License-Identifier: MIT */
#pragma once

/* Where the service keeps its state (design 7): one folder, $CODEWHALE_HOME or ~/.codewhale, and the folders below it.
 * All are owner-only. Nothing is made before somebody wants to write there, so that looking at bundles leaves no trace. */

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct CodewhaleHome CodewhaleHome;

typedef enum HomeFolder {
        HOME_ROOT,      /* the folder itself: config.toml, permissions.toml */
        HOME_PLUGINS,   /* plugins/: bundles of the user and state.json */
        HOME_STAGED,    /* extensions/staged/: sealed copies */
        HOME_DATA,      /* extensions/data/: one data directory a plugin */
        HOME_RECORDS,   /* extensions/records/: registration records */
        HOME_DECISIONS, /* extensions/decisions/: the decision log */
        HOME_SANDBOX,   /* extensions/sandbox/: nothing; the roots of sandboxes are laid over it */
        HOME_ETC,       /* extensions/sandbox-etc/: names of files that are mounted in the /etc of sandboxes */
        _HOME_FOLDER_MAX,
        _HOME_FOLDER_INVALID = -EINVAL,
} HomeFolder;

/**
 * codewhale_home_new() - take a home by path
 * @path: absolute; NULL takes $CODEWHALE_HOME, then ~/.codewhale of the user's home
 *
 * Touches no disk. Return: 0; -EINVAL for a path that is not absolute; -ENXIO when there is no home to derive it from.
 */
int codewhale_home_new(const char *path, CodewhaleHome **ret, sd_bus_error *reterr);
CodewhaleHome *codewhale_home_ref(CodewhaleHome *home);
CodewhaleHome *codewhale_home_unref(CodewhaleHome *home);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CodewhaleHome, codewhale_home_unref)

/** codewhale_home_get_path() - the absolute path of a folder, whether it exists or not; owned by @home */
const char *codewhale_home_get_path(const CodewhaleHome *home, HomeFolder folder);

/**
 * codewhale_home_open() - open a folder that is there already
 *
 * Return: a new descriptor; -ENOENT when it does not exist yet; -EPERM when somebody else owns it or it is open to
 * others (group or world may write); another -errno.
 */
int codewhale_home_open(const CodewhaleHome *home, HomeFolder folder);

/** codewhale_home_make() - codewhale_home_open(), after making the folder (and its parents) with mode 0700 */
int codewhale_home_make(const CodewhaleHome *home, HomeFolder folder);

/** codewhale_home_explain() - what a negative result of these two means, to go on a sentence with; static text */
const char *codewhale_home_explain(int r);
