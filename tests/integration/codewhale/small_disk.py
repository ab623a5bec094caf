# SPDX-License-Identifier: MIT
"""The service with its home on a disk of a few MiB, which a test can fill and empty again.

The disk is a tmpfs in a mount namespace of the service's own, so its hosts would not find their bundles: only what needs no host
can be tried here."""

import os
import shlex
import subprocess

from codewhale.bus import iterate_until
from codewhale.daemon import Daemon

SIZE = '8m'
# Whatever is written into the pipe is done where the service sees the disk.
WRAPPER = '''
cp "$1/home/config.toml" "$1/config"
mount -t tmpfs -o size=%s,mode=0700 disk "$1/home" || exit 1
cp "$1/config" "$1/home/config.toml"
(while read -r line; do sh -c "$line"; : > "$1/told"; done < "$1/pipe") &
shift
exec setpriv --inh-caps=-all --ambient-caps=-all "$@"
''' % SIZE


def is_possible():
    return subprocess.run(['unshare', '--map-current-user', '--keep-caps', '--mount', 'mount', '-t', 'tmpfs', 'disk', '/mnt'],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


class SmallDisk(Daemon):
    pipe = None

    def command(self):
        return ['unshare', '--map-current-user', '--keep-caps', '--mount', 'sh', '-c', WRAPPER, 'sh', str(self.base), *super().command()]

    def start(self, *more, seconds=20):
        os.mkfifo(self.base / 'pipe')
        # Read and write, so that neither side waits for the other.
        self.pipe = os.open(self.base / 'pipe', os.O_RDWR | os.O_CLOEXEC)
        return super().start(*more, seconds=seconds)

    def do(self, line):
        (self.base / 'told').unlink(missing_ok=True)
        os.write(self.pipe, (line + '\n').encode())
        iterate_until((self.base / 'told').exists, what=line)

    def fill(self):
        self.do(f'head -c 100M /dev/zero > {shlex.quote(str(self.home / "filling"))} 2>/dev/null')

    def empty(self):
        self.do(f'rm {shlex.quote(str(self.home / "filling"))}')

    def listing(self):
        """All files on the disk with their digests, but the filling and the decision record: a failure is written down there while the last
        block has room."""
        out = self.base / 'listing'
        self.do(f'cd {shlex.quote(str(self.home))} && find . -type f ! -name filling ! -path ./extensions/decisions/\\* -exec sha256sum {{}} + | sort > {shlex.quote(str(out))}')
        return out.read_text()

    def remove(self):
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None
        super().remove()
