/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdbool.h>

#include "service/archive-library.h"

/* The name of the interface that archive.h of versions 3.x describes */
#define LIBRARY "libarchive.so.13"

static bool load(ArchiveLibrary *library) {
        void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

        if (!handle)
                return false;
#define FIND(name)                                                \
        library->name = (typeof(name) *) dlsym(handle, #name);    \
        if (!library->name)                                       \
                return false;
        ARCHIVE_LIBRARY_FUNCTIONS(FIND)
#undef FIND
        return true;
}

const ArchiveLibrary *archive_library_get(void) {
        static ArchiveLibrary library;
        static bool loaded;

        if (!loaded)
                loaded = load(&library);
        return loaded ? &library : NULL;
}
