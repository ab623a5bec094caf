/* SPDX-License-Identifier: MIT */

/* Native code that a plugin might bring along. As a library it leaves a mark where it was loaded, before anybody can ask
 * whether it is an addon at all; as a program it says so. */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_a_mark(void) {
        int fd = open("escape-door-was-here", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        if (fd >= 0)
                (void) close(fd);
}

#ifdef DOOR_PROGRAM
int main(void) {
        return puts("native code ran") < 0;
}
#endif
