# SPDX-License-Identifier: MIT
"""README.md and docs/POLICY.md say what is true: their commands are run in the order of the page, beside a service, and print what stands
there."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from codewhale import SAMPLES, ServiceCase, iterate_until, tool_source
from codewhale.page import blocks, commands, says
from codewhale.terminal import environment, program

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'README.md'


class PageCase(ServiceCase):
    def setUp(self):
        super().setUp()
        tools = self.daemon.base / 'bin'
        tools.mkdir()
        (tools / 'codewhalectl').symlink_to(program())
        self.environment = environment(self.bus.address, CODEWHALE_HOME=str(self.daemon.home), DBUS_SESSION_BUS_ADDRESS=self.bus.address,
                                       PATH=f'{tools}:{os.environ["PATH"]}')

    def run_to_its_end(self, command):
        with tempfile.TemporaryFile('w+') as printed:
            process = subprocess.Popen(['/bin/sh', '-c', command], cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=printed,
                                       stderr=subprocess.STDOUT)
            iterate_until(lambda: process.poll() is not None, 60, f'the end of {command}')
            printed.seek(0)
            return printed.read()

    def assertPrints(self, command, expected, printed):
        self.assertTrue(says(expected, printed), f'the page says\n$ {command}\n{expected}\n\nbut it is\n{printed}')


class Readme(PageCase):
    call = None

    def as_it_is_now(self, command):
        """A token is cut on the page; a call is another one each time."""
        counter = self.client.plugins().get('counter')
        if counter:
            token = self.client.property('Plugin', 'ContentHash', counter[1]) + '.' + self.client.property('Plugin', 'CapabilityHash', counter[1])
            command = re.sub(r'[0-9a-f]{8}…\.[0-9a-f]{8}…', lambda cut: self.whole(cut[0], token), command)
        return re.sub(r'c-[0-9a-f]{32}', lambda _: self.call, command)

    def whole(self, cut, token):
        self.assertRegex(token, '^' + re.escape(cut).replace('…', '[0-9a-f]*') + '$')
        return token

    def test_commands_print_what_the_page_says(self):
        run = 0
        for block in blocks(PAGE.read_text()):
            for command, expected in commands(block):
                if command.startswith('busctl'):
                    self.approver()  # "with codewhalectl approve --watch in another terminal"
                if 'wordcount' in command:
                    self.client.bring_up(SAMPLES / 'wordcount')
                printed = self.run_to_its_end(self.as_it_is_now(command))
                self.assertPrints(command, expected, printed)
                self.call = (re.findall(r'codewhalectl why (\S+)', printed) or [self.call])[-1]
                run += 1
        self.assertGreater(run, 8)


class Policy(PageCase):
    def test_commands_print_what_the_page_says(self):
        found = blocks((ROOT / 'docs' / 'POLICY.md').read_text())
        home = str(self.daemon.home)
        self.client.bring_up(self.bundle('probe', tool_source("return 'sent'", name='mail_send')))
        rules = next(block for block in found if block.startswith('[[rule]]'))
        for block in found:
            if block.startswith('$ '):
                (self.daemon.home / 'permissions.toml').write_text(rules)
                for command, expected in commands(block):
                    self.assertPrints(command, expected.replace('/home/me/.codewhale', home), self.run_to_its_end(command))
                rules = rules.replace('outcome', 'outcom')  # the mistake that the page shows next


del PageCase, ServiceCase
