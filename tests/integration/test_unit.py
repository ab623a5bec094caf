# SPDX-License-Identifier: MIT
"""The user unit and the D-Bus activation file as they are installed: the service works within its own walls."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from codewhale import SAMPLES, Approver, Client, Daemon, build_folder
from codewhale.terminal import run
from codewhale.units import systemctl

UNIT = 'codewhale-extensions.service'


@unittest.skipUnless(os.path.exists('/run/private-systemd'), "the units of a desktop's user are left alone")
class Unit(unittest.TestCase):
    def setUp(self):
        built = build_folder() / 'data' / f'user-unit-{UNIT}'
        if not built.exists() or not Daemon.program().exists():
            self.skipTest('nothing is built')
        self.address = os.environ['DBUS_SESSION_BUS_ADDRESS']
        self.daemon = Daemon(self.address)  # never started: its home and configuration
        self.addCleanup(self.daemon.remove)
        self.install(built.read_text())
        self.addCleanup(systemctl, 'stop', UNIT)

    def install(self, text):
        """The same unit, but for where the program is and which home it uses."""
        command = ' '.join([*self.daemon.command(), f'--home={self.daemon.home}'])
        text = re.sub(r'(?m)^ExecStart=.*$', f'ExecStart={command}', text)
        folder = Path(os.environ.get('XDG_CONFIG_HOME') or Path.home() / '.config') / 'systemd' / 'user'
        folder.mkdir(parents=True, exist_ok=True)
        (folder / UNIT).write_text(text)
        shutil.copy(SAMPLES.parent / 'systemd' / 'codewhale.slice', folder)
        self.addCleanup((folder / UNIT).unlink)
        systemctl('daemon-reload')

    def show(self, key, unit=UNIT):
        return systemctl('show', '-P', key, unit).strip()

    def test_starts_calls_reloads_and_stops(self):
        systemctl('start', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active', subprocess.run(
            ['journalctl', '--user', '-u', UNIT, '-n', '20'], stdout=subprocess.PIPE, text=True, check=False).stdout)
        self.assertEqual((self.show('Slice'), self.show('WatchdogUSec')), ('codewhale.slice', '3min'))

        client = Client(self.address)
        self.addCleanup(client.close)
        approver = Approver(self.address)
        self.addCleanup(approver.close)
        client.bring_up(SAMPLES / 'counter')
        self.assertEqual(client.tool('mod_counter', {'label': 'unit'})['structured']['count'], 1)
        host = json.loads(client.call('Plugins', 'Describe', '(s)', 'counter'))['host']['unit']
        self.assertEqual(self.show('ActiveState', host), 'active')

        systemctl('reload', UNIT)
        self.assertEqual(self.show('ActiveState'), 'active')
        client.wait_for_tools('mod_counter')
        self.assertEqual(run(self.address, 'list').returncode, 0)

        systemctl('stop', UNIT)
        self.assertEqual((self.show('ActiveState'), self.show('Result')), ('inactive', 'success'))
        self.assertNotEqual(self.show('ActiveState', host), 'active', 'hosts go down with the service')

    def test_walls_of_the_service(self):
        systemctl('start', UNIT)
        process = self.show('MainPID')
        status = Path(f'/proc/{process}/status').read_text()
        for line in ('NoNewPrivs:\t1', 'Seccomp:\t2', 'CapPrm:\t0000000000000000', 'CapEff:\t0000000000000000'):
            self.assertIn(line, status)

    def test_security_of_both_units(self):
        """What systemd thinks of them. A user unit without a user namespace can't have walls in the file system."""
        for name, most in ((f'user-unit-{UNIT}', 6), (f'system-unit-{UNIT}', 1.5)):
            folder = Path(tempfile.mkdtemp())
            self.addCleanup(shutil.rmtree, folder)
            (folder / UNIT).write_text(re.sub(r'(?m)^ExecStart=.*$', 'ExecStart=true', (build_folder() / 'data' / name).read_text()))
            shown = subprocess.run(['systemd-analyze', 'security', '--no-pager', '--offline=yes', str(folder / UNIT)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
            exposure = re.search(r'exposure level .*: ([0-9.]+)', shown)
            self.assertTrue(exposure, shown)
            self.assertLessEqual(float(exposure[1]), most, shown)
