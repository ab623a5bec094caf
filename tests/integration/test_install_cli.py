# SPDX-License-Identifier: MIT
"""codewhalectl install and update of what lies elsewhere: asks a person, shows how far it is, says what comes next."""

import os
import re

from codewhale import ServiceCase, tool_source
from codewhale.archive_server import ArchiveServer, pack, slowly
from codewhale.terminal import Terminal, run


class Elsewhere(ServiceCase):
    def setUp(self):
        super().setUp()
        self.server = ArchiveServer()
        self.addCleanup(self.server.close)
        self.folder = self.bundle('probe', tool_source("return 'one'"))
        self.url = self.server.put('/probe.tar.gz', pack(self.folder))

    def ctl(self, *words, status=0):
        done = run(self.bus.address, *words)
        self.assertEqual(done.returncode, status, f'{words}\n{done.stdout}\n{done.stderr}')
        return done.stdout, done.stderr

    def open(self, *words):
        terminal = Terminal(self.bus.address, *words)
        self.addCleanup(terminal.close)
        return terminal

    def test_script_has_to_say_that_it_wants_to_fetch(self):
        _, err = self.ctl('install', self.url, status=4)
        self.assertIn('--allow-network', err)
        self.assertEqual(self.server.asked, [])
        out, err = self.ctl('install', '--allow-network', self.url)
        self.assertIn('probe', out)
        self.assertIn('codewhalectl review probe', err)

    def test_person_is_asked(self):
        terminal = self.open('install', self.url)
        terminal.read_until(re.escape(f'Fetch {self.url} from the network?'))
        terminal.type('n\n')
        self.assertEqual(terminal.wait(), 4)
        self.assertEqual(self.server.asked, [])
        terminal = self.open('install', self.url)
        terminal.read_until(r'\[y/N\]')
        terminal.type('y\n')
        terminal.read_until('Installed, disabled and not trusted')
        self.assertEqual(terminal.wait(), 0)

    def test_bar(self):
        (self.folder / 'data.bin').write_bytes(os.urandom(500_000))
        body = pack(self.folder)
        url = self.server.put('/large.tar.gz', slowly(body), Content_Length=str(len(body)))
        terminal = self.open('install', '--allow-network', url)
        terminal.read_until(r'Fetching \[#+ *\] +\d+ % ')
        said = terminal.read_until('Installed')
        self.assertIn('\r\x1b[K', said, 'the bar is taken away again')
        self.assertEqual(terminal.wait(), 0)

    def test_preview_shows_how_to_install_exactly_that(self):
        page, _ = self.ctl('install', '--allow-network', '--preview', self.url)
        self.assertIn('native/main.mjs', page)
        self.assertIn('What it asks for', page)
        self.assertNotIn('codewhalectl trust', page)
        self.assertEqual(self.client.plugins(), {})
        command = re.search(r'^  codewhalectl (install --expect=[0-9a-f]{64} \S+)$', page, re.MULTILINE)
        self.assertTrue(command, page)
        self.ctl(*command[1].split(), '--allow-network')
        self.assertIn('probe', self.client.plugins())

    def test_update_and_what_changed(self):
        self.ctl('install', '--allow-network', self.url)
        self.ctl('trust', 'probe', self.client.review('probe')['token'])
        self.assertIn('Nothing changed', self.ctl('update', '--allow-network', 'probe')[1])
        (self.folder / 'native' / 'main.mjs').write_text(tool_source("return 'two'"))
        self.server.put('/probe.tar.gz', pack(self.folder))
        _, err = self.ctl('update', 'probe', status=4)
        self.assertIn('--allow-network', err)
        _, err = self.ctl('update', '--allow-network', 'probe')
        self.assertIn('codewhalectl review --diff probe', err)
        page, _ = self.ctl('review', '--diff', 'probe')
        self.assertRegex(page, r"-.*return 'one'")
        self.assertRegex(page, r"\+.*return 'two'")

    def test_address_with_a_password(self):
        _, err = self.ctl('install', '--allow-network', 'https://user:hunter2@example.org/x.tar', status=2)
        self.assertNotIn('hunter2', err)

    def test_interrupted_install_leaves_nothing(self):
        body = pack(self.folder)
        url = self.server.put('/slow.tar.gz', slowly(body, pieces=40, pause=0.5), Content_Length=str(len(body)))
        terminal = self.open('install', '--allow-network', url)
        terminal.read_until('Fetching')
        terminal.type('\x03')
        terminal.wait()
        self.assertEqual(self.units.wait_until_gone(), [])
        self.assertEqual(self.client.plugins(), {})
        self.assertEqual([name for name in os.listdir(self.daemon.home) if name.startswith('.fetched')], [])

    def test_trust_in_a_terminal(self):
        """Where polkit is not to be asked, or not there, its text agent is in nobody's way."""
        self.ctl('install', str(self.folder))
        terminal = self.open('trust', 'probe', self.client.review('probe')['token'])
        said = terminal.read_until('Trusted')
        self.assertNotIn('rror', said)
        self.assertEqual(terminal.wait(), 0)
