# SPDX-License-Identifier: MIT
"""The page of codewhalectl review, written by somebody who wants it to say something else (contract 2.3)."""

import json
import os
import re

from codewhale import SCHEMA, ServiceCase, tool_source
from codewhale.terminal import Terminal, run

LINES = 5000
FILES = {
    '--all': 'looks like a flag\n', '<b>&amp;.txt': 'looks like markup\n', '%s%n%08x': 'a format\n', 'a_big.txt': 'line\n' * LINES,
    'data.bin': b'\0\1\2' * 100, 'old/name.txt': 'moved\n', 'run.sh': '#!/bin/sh\n', 'joined\u200d.txt': 'z\n',
}
SPOOF = 'first\n\x1b[2J\x1b[1;1HNothing changed since.\n\u202eevil\u2066\n+++ b/other\n@@ -1 +1 @@\r\nover\rwritten\r\n'
HARMFUL = re.compile('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]')


class ReviewPage(ServiceCase):
    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('probe', tool_source("return 'hello'"), files=FILES))
        root = self.daemon.home / 'plugins' / 'probe'
        (root / 'a_big.txt').write_text('LINE\n' * LINES)
        (root / 'data.bin').write_bytes(b'\0\5\2' * 100)
        (root / '--all').write_text(SPOOF)
        (root / 'new').mkdir()
        os.rename(root / 'old' / 'name.txt', root / 'new' / 'name.txt')
        (root / 'run.sh').chmod(0o755)
        (root / 'joined\u200d.txt').unlink()
        entry = root / 'native' / 'main.mjs'
        entry.write_text(entry.read_text().replace('hello', 'what matters'))

    def page(self, *words):
        done = run(self.bus.address, 'review', *words, 'probe')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, '')
        return done.stdout

    def test_nothing_of_it_reaches_the_terminal(self):
        page = self.page('--diff')
        self.assertIsNone(HARMFUL.search(page), 'with a pipe')
        for shown in (r'\x1b[2J\x1b[1;1H', r'\u{202e}evil', r'over\x0dwritten', r'joined\u{200d}.txt', '<b>&amp;.txt', '%s%n%08x'):
            self.assertIn(shown, page)
        # No line of a file begins where the page's own lines do.
        for line in ('Nothing changed since.', '+++ b/other', 'evil'):
            self.assertNotIn('\n' + line, page)
        terminal = Terminal(self.bus.address, 'review', '--diff', 'probe')
        self.addCleanup(terminal.close)
        said = terminal.read_until('Trusting runs nothing yet')
        # Our own line that tells how far a slow machine is, and takes itself away.
        said = said.replace('\r\x1b[K', '')
        self.assertIsNone(HARMFUL.search(re.sub('\x1b\\[[0-9;]*m', '', said).replace('\r\n', '\n')), 'in a terminal')

    def test_all_names_come_before_all_lines(self):
        page = self.page('--diff')
        names = page[page.index('What changed since'):page.index('@@ ')]
        for told in ('modified  --all', 'modified  a_big.txt', 'modified  native/main.mjs', 'added  new/name.txt', 'removed  old/name.txt',
                     'executable  run.sh', r'removed  joined\u{200d}.txt'):
            self.assertIn(told, names)
        self.assertRegex(names, r'modified  data\.bin .*no text')
        self.assertIn('what matters', page)
        self.assertLess(page.index('modified  native/main.mjs'), page.index('LINE'))

    def test_without_lines_it_is_one_look(self):
        page = self.page()
        self.assertLess(page.count('\n'), 100)
        self.assertIn('With --diff', page)
        self.assertNotIn('what matters', page)


class McpPage(ServiceCase):
    """What a bundle says of servers is shown, harmless; what would carry a secret is refused and not repeated."""

    SERVERS = {
        'plain': {'command': 'serve', 'args': ['--all', '%n', 'n\u200bo'], 'env': {'TOKEN': '${PROBE_TOKEN}'}},
    }

    def review(self, servers):
        self.client.install(self.bundle('probe', tool_source("return 'x'"), files={'mcp.json': json.dumps({'mcpServers': servers})}))
        done = run(self.bus.address, 'review', 'probe')
        self.assertIsNone(HARMFUL.search(done.stdout))
        return self.client.review('probe'), done.stdout + done.stderr

    def test_endpoints_and_variables(self):
        review, page = self.review(self.SERVERS)
        shown = {row['id']: (row['transport'], row['endpoint'], row['variables']) for row in review['mcp_servers']}
        self.assertEqual(shown['plain'][1:], (r'serve --all %n n\u{200b}o', ['PROBE_TOKEN']))
        for text in (r'%n n\u{200b}o', 'PROBE_TOKEN'):
            self.assertIn(text, page)

    def test_secrets_are_refused_and_not_repeated(self):
        for number, url in enumerate(('https://user:hunter2@example.org/', 'https://example.org/?token=hunter2', 'https://example.org/#hunter2')):
            with self.subTest(url):
                bundle = self.bundle(f'probe{number}', tool_source("return 'x'"), files={'mcp.json': json.dumps({'mcpServers': {'web': {'url': url}}})})
                error = self.assertFails('InvalidBundle', self.client.install, bundle)
                self.assertIn('mcp-invalid', error.message)
                self.assertNotIn('hunter2', error.message)
        self.assertNotIn('hunter2', self.daemon.log())


class Hooks(ServiceCase):
    def test_B8_hooks_that_are_programs_are_told_never_to_run(self):
        """Whoever takes them for a guard learns better before anything is trusted, and on the page of what is on."""
        described = {'$schema': SCHEMA, 'name': 'watched', 'extensions': {'net.codewhale': {
            'native': {'path': 'native/main.mjs'}, 'hooks': {'path': 'hooks/guard.toml'}}}}
        folder = self.bundle('watched', tool_source("return 'ran'"), manifest=json.dumps(described), files={
            'hooks/guard.toml': 'event = "tool_call_before"\ncommand = "touch ran; exit 2"\n'})
        self.client.bring_up(folder)
        self.approver()
        for words in (('validate', str(folder)), ('review', 'watched')):
            with self.subTest(words=words):
                page = ' '.join(run(self.bus.address, *words).stdout.split())
                self.assertIn('never run', page)
                self.assertIn('tools/pre-execute', page)
        shown = self.client.property('Plugin', 'Diagnostics', path=self.client.plugins()['watched'][1])
        self.assertIn('never run', str(shown))
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'ran')
        self.assertEqual(list(self.daemon.base.rglob('ran')), [])
