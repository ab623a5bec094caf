# SPDX-License-Identifier: MIT
"""The ground that the other tests stand on: a real user manager, a session bus, a journal."""

import os
import subprocess
import time
import unittest


def output_of(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=30, check=False).stdout.strip()


class Ground(unittest.TestCase):
    def test_user_manager_runs(self):
        self.assertIn(output_of('systemctl', '--user', 'is-system-running'), ('running', 'degraded'))

    def test_user_is_not_root(self):
        self.assertNotEqual(os.getuid(), 0)

    def test_session_bus_answers(self):
        self.assertIn('org.freedesktop.systemd1', output_of('busctl', '--user', 'list', '--no-legend'))

    def test_walled_transient_unit_runs_and_leaves_nothing(self):
        unit = f'harness-{os.getpid()}.service'
        walls = ('PrivateUsers=yes', 'PrivateNetwork=yes', 'PrivateDevices=yes', 'ProtectProc=invisible',
                 'NoNewPrivileges=yes', 'TemporaryFileSystem=/:ro',
                 'BindReadOnlyPaths=/usr -/lib -/lib64 -/bin')
        options = [word for wall in walls for word in ('-p', wall)]
        seen = output_of('systemd-run', '--user', '--wait', '--pipe', '--collect', '--quiet', '-u', unit, *options,
                         'sh', '-c', 'echo $(ls -d /home /etc /usr 2>/dev/null) $(grep NoNewPrivs /proc/self/status)')
        self.assertEqual(seen, '/usr NoNewPrivs: 1')
        self.assertEqual(output_of('systemctl', '--user', 'show', '-P', 'LoadState', unit), 'not-found')

    @unittest.skipUnless(os.environ.get('container') == 'private-systemd' or os.path.exists('/run/private-systemd'),
                         'the journal of a desktop is left alone')
    def test_user_journal_can_be_read(self):
        unit, text = f'harness-log-{os.getpid()}.service', 'written by a unit'
        output_of('systemd-run', '--user', '--wait', '--collect', '--quiet', '-u', unit, 'echo', text)
        for _ in range(50):
            if text in output_of('journalctl', '--user', '-q', '-o', 'cat', '-u', unit):
                return
            time.sleep(0.1)
        self.fail('the journal does not have the line')

    @unittest.skipUnless(os.path.exists('/run/private-systemd'), 'only in a private system')
    def test_no_network_but_loopback(self):
        self.assertEqual(os.listdir('/sys/class/net') and output_of('sh', '-c', 'tail -n +3 /proc/net/dev | cut -d: -f1'), 'lo')
