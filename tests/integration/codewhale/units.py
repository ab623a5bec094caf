# SPDX-License-Identifier: MIT
"""What systemd's user manager runs for the service, and whether anything is left of it."""

import os
import subprocess
import time
from pathlib import Path

LIFELINE = 'codewhale-lifeline-'


def systemctl(*words, scope='--user'):
    return subprocess.run(['systemctl', scope, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=20, check=False).stdout


class Units:
    """The host units that came after this object was made. Others, of a desktop, are not ours to judge."""

    def __init__(self, scope='--user'):
        self.scope = scope
        self.before = set(self._list())

    def _list(self):
        lines = systemctl('list-units', '--all', '--no-legend', '--plain', 'codewhale-*.service', scope=self.scope).splitlines()
        return [line.split()[0] for line in lines if line.split()]

    def all_names(self):
        return [name for name in self._list() if name not in self.before]

    def names(self):
        """Without what ties hosts to a service that is no unit: that runs nothing of anybody's."""
        return [name for name in self.all_names() if not name.startswith(LIFELINE)]

    def lifelines(self):
        return [name for name in self.all_names() if name.startswith(LIFELINE)]

    def processes(self, unit):
        """Every process in the control group of a unit, whatever it is descended from."""
        group = systemctl('show', '-P', 'ControlGroup', unit, scope=self.scope).strip()
        if not group:
            return []
        for root in ('/sys/fs/cgroup', '/sys/fs/cgroup/systemd'):
            folder = Path(root + group)
            if folder.is_dir():
                return [int(pid) for path, _, _ in os.walk(folder)
                        for pid in Path(path, 'cgroup.procs').read_text().split()]
        return []

    def all_processes(self):
        return [pid for name in self.names() for pid in self.processes(name)]

    def wait_until_all_gone(self, seconds=15):
        """What wait_until_gone() waits for, and nothing left that a service which is gone started, whatever it is."""
        return self.wait_until_gone(seconds, self.all_names)

    def wait_until_gone(self, seconds=15, names=None):
        """Empty control groups and no unit left, failed ones included. Returns what is left."""
        deadline = time.monotonic() + seconds
        while True:
            left = (names or self.names)()
            if not left or time.monotonic() > deadline:
                return [f'{name}: {self.processes(name)}' for name in left]
            time.sleep(0.05)
