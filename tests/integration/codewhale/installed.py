# SPDX-License-Identifier: MIT
"""The user units as they are installed, in the private system's user manager: for tests of what systemd does with the service."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from codewhale.bus import Client
from codewhale.bundle import SAMPLES
from codewhale.daemon import Daemon, build_folder
from codewhale.units import systemctl

UNIT = 'codewhale-extensions.service'
BARE = 'codewhale-extensions-bare.service'
HOME = 'codewhale-extensions-home.service'


@unittest.skipUnless(os.path.exists('/run/private-systemd'), "the units of a desktop's user are left alone")
class InstalledCase(unittest.TestCase):
    """Each test gets the units with a home of its own, on the session bus; nothing is started yet."""

    def setUp(self):
        if not (build_folder() / 'data' / f'user-unit-{UNIT}').exists() or not Daemon.program().exists():
            self.skipTest('nothing is built')
        self.address = os.environ['DBUS_SESSION_BUS_ADDRESS']
        self.daemon = Daemon(self.address)  # never started: its home and configuration
        self.addCleanup(self.daemon.remove)
        shutil.copy(SAMPLES.parent / 'systemd' / 'codewhale.slice', self.folder())
        for unit in (UNIT, BARE, HOME):
            self.install(unit)
            self.addCleanup(systemctl, 'reset-failed', unit)
            self.addCleanup(systemctl, 'stop', unit)

    @staticmethod
    def folder():
        folder = Path(os.environ.get('XDG_CONFIG_HOME') or Path.home() / '.config') / 'systemd' / 'user'
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def install(self, unit=UNIT, command=None, change=lambda text: text):
        """The same unit, but for where the program is and which home it uses."""
        if unit == HOME:
            text = (SAMPLES.parent / 'systemd' / unit).read_text()
        else:
            command = command or ' '.join([*self.daemon.command(), f'--home={self.daemon.home}'])
            text = (build_folder() / 'data' / f'user-unit-{unit}').read_text()
            text = re.sub(r'(?m)^ExecStart=.*$', lambda found: f'ExecStart={command}', text)
        text = text.replace('%h/.codewhale', str(self.daemon.home))
        path = self.folder() / unit
        path.write_text(change(text))
        self.addCleanup(path.unlink, missing_ok=True)
        systemctl('daemon-reload')

    def show(self, key, unit=UNIT):
        return systemctl('show', '-P', key, unit).strip()

    def journal(self):
        return subprocess.run(['journalctl', '--user', '-u', UNIT, '-n', '20'], stdout=subprocess.PIPE, text=True, check=False).stdout

    def connect(self):
        client = Client(self.address)
        self.addCleanup(client.close)
        return client
