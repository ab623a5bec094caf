# SPDX-License-Identifier: MIT
"""What the harness does where AppArmor forbids user namespaces to users. A stand-in takes the profile: few machines have the real one."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from harness.private_system import apparmor

PARSER = '#!/bin/sh\nfor file; do :; done\n{ echo "$@"; cat "$file"; } >>"$(dirname "$0")/told"\n'


class AppArmor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        change = mock.patch.dict(os.environ, {'PATH': f'{self.folder}:{os.environ["PATH"]}'})
        change.start()
        self.addCleanup(change.stop)

    def parser(self, text):
        program = self.folder / apparmor.PARSER
        program.write_text(text)
        program.chmod(0o755)

    def test_a_profile_is_needed_where_users_are_restricted(self):
        for value, needed in (('1\n', True), ('2\n', True), ('0\n', False), (None, False)):
            with self.subTest(value=value):
                file = self.folder / 'restricted'
                file.unlink(missing_ok=True)
                if value:
                    file.write_text(value)
                with mock.patch.object(apparmor, 'RESTRICTED', file):
                    self.assertEqual(apparmor.is_needed(), needed)

    def test_the_profile_is_attached_to_nothing_and_unloaded(self):
        self.parser(PARSER)
        apparmor.load('private-systemd-1', self.folder)
        apparmor.unload(self.folder)
        told = (self.folder / 'told').read_text()
        self.assertIn('\nprofile private-systemd-1 flags=(unconfined) {\n  userns,\n}\n', told)
        self.assertEqual([line.split()[1] for line in told.splitlines() if line.startswith('--skip-cache')], ['--replace', '--remove'])

    def test_a_parser_that_refuses_names_the_setting(self):
        self.parser('#!/bin/sh\necho no such abi\nexit 1\n')
        with self.assertRaisesRegex(OSError, 'no such abi.*sysctl kernel.apparmor_restrict_unprivileged_userns=0'):
            apparmor.load('private-systemd-1', self.folder)
        apparmor.unload(self.folder)

    def test_the_next_program_is_told_by_the_file_that_is_there(self):
        (self.folder / 'exec').touch()
        apparmor.enter_at_exec('one', self.folder)
        self.assertEqual((self.folder / 'exec').read_text(), 'exec one')
        (self.folder / 'apparmor').mkdir()
        (self.folder / 'apparmor' / 'exec').touch()
        apparmor.enter_at_exec('two', self.folder)
        self.assertEqual((self.folder / 'apparmor' / 'exec').read_text(), 'exec two')
