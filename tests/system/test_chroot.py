# SPDX-License-Identifier: MIT
"""The private system of tests and demo where people build packages: in a plain chroot, whose root is a folder and no mount."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / 'tests' / 'harness' / 'private-systemd'
WALLED = ('systemd-run', '--user', '--wait', '--pipe', '--collect', '--quiet', '-p', 'PrivateUsers=yes', '-p', 'TemporaryFileSystem=/:ro',
          '-p', 'BindReadOnlyPaths=/usr -/lib -/lib64 -/bin', 'ls', '-d', '/usr', '/home', '/etc')
ENTER = 'for folder in "$@"; do mount --rbind "/$folder" "$0/$folder"; done; cd /; exec chroot "$0" env -C {where} {command}'


class Chroot(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir='/run'))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        for name in ('bin', 'sbin', 'lib', 'lib64'):
            if Path('/', name).is_symlink():
                (self.folder / name).symlink_to(os.readlink(f'/{name}'))
        for name in ('tmp', 'run', 'home', 'proc', 'sys'):
            (self.folder / name).mkdir()

    def run_inside(self, *folders, command=('true',)):
        """What the harness does with a command in a chroot that has some folders of this system."""
        folders = ['usr', 'etc', 'var', 'dev', str(ROOT).lstrip('/'), *folders]
        for name in folders:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        line = ' '.join(f"'{word}'" for word in (str(HARNESS), '--as', 'tester', '--', *command))
        return subprocess.run(['unshare', '-m', 'sh', '-c', ENTER.format(where=ROOT, command=line), self.folder, *folders],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def test_walled_unit_runs_where_the_root_is_no_mount(self):
        ran = self.run_inside('proc', 'sys', command=WALLED)
        self.assertEqual(ran.stdout, '/usr\n', ran.stderr)

    def test_what_a_chroot_lacks_is_named(self):
        for folders, words in (((), 'mount -t proc proc /proc'), (('proc',), 'mount --rbind /sys CHROOT/sys')):
            with self.subTest(words):
                ran = self.run_inside(*folders)
                self.assertEqual((ran.returncode, ran.stdout), (125, ''))
                self.assertIn(words, ran.stderr)
                self.assertNotIn('Traceback', ran.stderr)


if __name__ == '__main__':
    unittest.main()
