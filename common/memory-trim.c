/* SPDX-License-Identifier: MIT */
#include "common/memory-trim.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whether the linker wrote into the object's read-only segments: they can't be read from the file again. */
static bool has_text_relocations(const struct dl_phdr_info *object) {
        for (size_t i = 0; i < object->dlpi_phnum; i++) {
                const ElfW(Phdr) *header = &object->dlpi_phdr[i];

                if (header->p_type != PT_DYNAMIC)
                        continue;
                for (const ElfW(Dyn) *entry = (const ElfW(Dyn) *) (object->dlpi_addr + header->p_vaddr); entry->d_tag != DT_NULL; entry++)
                        if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
                                return true;
        }
        return false;
}

static int unmap_pages(struct dl_phdr_info *object, size_t size, void *userdata) {
        uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);

        (void) size;
        (void) userdata;
        if (has_text_relocations(object))
                return 0;
        for (size_t i = 0; i < object->dlpi_phnum; i++) {
                const ElfW(Phdr) *header = &object->dlpi_phdr[i];
                uintptr_t begin = (object->dlpi_addr + header->p_vaddr) & ~(page - 1);
                uintptr_t end = (object->dlpi_addr + header->p_vaddr + header->p_memsz + page - 1) & ~(page - 1);

                /* Only what is just as it is in the file; what may be written has our data in it. */
                if (header->p_type == PT_LOAD && !(header->p_flags & PF_W))
                        (void) madvise((void *) begin, end - begin, MADV_DONTNEED);
        }
        return 0;
}

void memory_trim(void) {
        (void) malloc_trim(0);
        (void) dl_iterate_phdr(unmap_pages, NULL);
}
