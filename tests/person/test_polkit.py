# SPDX-License-Identifier: MIT
"""Personal acts beside a real polkitd, with its own text agent in a terminal and a person's real password (design 4.2).

The suite runs with tests/person/prepare: our action is installed, and a rule answers what the test wrote down."""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import ServiceCase, iterate_until, options, tool_source  # noqa: E402
from codewhale.terminal import Terminal  # noqa: E402

FOLDER = Path('/var/lib/codewhale-test')
ANSWER = FOLDER / 'answer'
PASSWORD = 'correct horse'
TRUSTED = 'Trusted. It is still disabled'


def config(confirm):
    return f'[features]\nextension_host = true\n[trust]\nconfirm = "{confirm}"\n'


def agents():
    """The processes of polkit's text agent."""
    found = []
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdigit() and (entry / 'comm').read_text().strip() == 'pkttyagent':
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class PolkitCase(ServiceCase):
    config = config('auto')

    def setUp(self):
        if not FOLDER.is_dir():
            self.skipTest('not prepared: run by scripts/test')
        self.say(None)
        super().setUp()
        self.plugin_id = self.client.install(self.bundle('probe', tool_source("return 'hello'")))['id']
        self.token = self.client.review('probe')['token']

    @staticmethod
    def say(word):
        """What the rule of the test answers; None leaves it to the action's defaults: the person authenticates."""
        ANSWER.unlink(missing_ok=True)
        if word:
            ANSWER.write_text(word)

    def ask_later(self):
        """polkit is held up in its rule until something is written into what this returns."""
        ANSWER.unlink(missing_ok=True)
        os.mkfifo(ANSWER, 0o666)
        ANSWER.chmod(0o666)

    def trust(self, client=None):
        return (client or self.client).start('Plugins', 'Trust', '(ssa{sv})', 'probe', self.token, {})

    def trust_of(self, client=None):
        client = client or self.client
        return client.property('Plugin', 'Trust', path=client.plugins()['probe'][1])

    def terminal(self):
        terminal = Terminal(self.bus.address, 'trust', 'probe', self.token)
        self.addCleanup(terminal.close)
        return terminal

    def is_alive(self):
        """The service does something else meanwhile."""
        self.assertTrue(self.client.property('', 'Version'))

    def receipt(self):
        return json.loads((self.daemon.home / 'plugins' / 'state.json').read_text())['plugins'][self.plugin_id]['trust']


class Rules(PolkitCase):
    """An administrator's rule decides without a person."""

    def test_yes(self):
        self.say('yes')
        self.trust().result()
        self.assertEqual(self.trust_of(), 'trusted')
        self.assertEqual(self.receipt()['confirmed_by'], 'polkit')

    def test_a_grant_wider_than_one_call_is_asked_about_too(self):
        self.say('yes')
        self.trust().result()
        self.client.plugin('Enable', 'probe')
        approver = self.approver(lambda card: None)
        call = self.client.start_tool('probe')
        iterate_until(lambda: approver.cards, what='the card')
        self.say('no')
        self.assertFails('NotAuthorized', approver.answer, approver.cards[0], 'allow', scope='tool')
        self.assertEqual((self.client.call('Grants', 'List'), call.done), ([], False))
        self.say('yes')
        approver.answer(approver.cards[0], 'allow', scope='tool')
        self.assertIn('hello', call.result())
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)

    def test_no(self):
        self.say('no')
        approver = self.approver()
        error = self.assertFails('NotAuthorized', self.trust().result)
        self.assertIn('did not authenticate', error.message)
        self.assertEqual(self.trust_of(), 'not-reviewed')
        self.assertEqual(approver.cards, [], 'an approver is no second chance')

    def test_nobody_to_ask(self):
        """auth_self, and no agent on the whole machine."""
        error = self.assertFails('NotAuthorized', self.trust().result)
        self.assertIn('no authentication agent', error.message)
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_late_answer_counts_and_holds_up_nobody(self):
        self.ask_later()
        pending = self.trust()
        # Opening it to write waits for polkit's reader, so that the question is there for sure.
        writer = self.open_fifo()
        for _ in range(3):
            self.is_alive()
        self.assertFalse(pending.done)
        os.write(writer, b'yes')
        os.close(writer)
        pending.result()
        self.assertEqual(self.trust_of(), 'trusted')

    def test_late_yes_for_one_who_left_counts_for_nothing(self):
        self.ask_later()
        other = self.connect()
        self.trust(other)
        writer = self.open_fifo()
        other.vanish()
        iterate_until(lambda: self.record_of('withdrawn'), what='the record of the withdrawal')
        os.write(writer, b'yes')
        os.close(writer)
        self.say(None)
        # polkit has answered the one question before it takes the next.
        self.assertFails('NotAuthorized', self.trust().result)
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_late_yes_for_other_bytes_counts_for_nothing(self):
        self.ask_later()
        pending = self.trust()
        writer = self.open_fifo()
        (self.daemon.home / 'plugins' / 'probe' / 'native' / 'main.mjs').write_text(tool_source("return 'else'"))
        self.client.review('probe')
        self.assertFails('Withdrawn', pending.result)
        os.write(writer, b'yes')
        os.close(writer)
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_wrong_token_bothers_nobody(self):
        self.say('yes')
        self.assertFails('ContentChanged', self.client.trust, 'probe', '0' * 64 + self.token[64:])
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_posture_is_raised_by_it_too(self):
        path = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.say('no')
        self.assertFails('NotAuthorized', self.client.call, 'Session', 'SetPosture', '(s)', 'full-access', path=path)
        self.say('yes')
        self.client.call('Session', 'SetPosture', '(s)', 'full-access', path=path)
        self.assertEqual(self.client.property('Session', 'Posture', path=path), 'full-access')

    def open_fifo(self):
        """The end to write of what polkit reads; as soon as it does."""
        found = []

        def is_read():
            try:
                found.append(os.open(ANSWER, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                return False
            return True

        iterate_until(is_read, what='polkit asking its rule')
        return found[0]

    def record_of(self, outcome):
        records = json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(kind='trust')))
        return [record for record in records if record['outcome'] == outcome]


class Agent(PolkitCase):
    """The person authenticates in the terminal where the command was typed."""

    def test_right_password(self):
        terminal = self.terminal()
        said = terminal.read_until('[Pp]assword: ')
        self.assertIn('org.codewhale.extensions.trust', said)
        self.is_alive()
        self.assertEqual(self.trust_of(), 'not-reviewed', 'silence is no yes')
        terminal.type_hidden(PASSWORD + '\n')
        terminal.read_until(TRUSTED)
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.trust_of(), 'trusted')
        self.assertEqual(self.receipt()['confirmed_by'], 'polkit')

    def test_a_grant_by_the_watching_terminal(self):
        """The password is asked for where the key was pressed, and the terminal watches on."""
        self.say('yes')
        self.trust().result()
        self.client.plugin('Enable', 'probe')
        self.say(None)
        terminal = Terminal(self.bus.address, 'approve', '--watch')
        self.addCleanup(terminal.close)
        terminal.read_until('Waiting for calls')
        call = self.client.start_tool('probe')
        terminal.read_until(r'\[q\]')
        terminal.press('s')
        terminal.read_until('[Pp]assword: ')
        self.assertFalse(call.done)
        # The agent forgets what was typed before it shut the echo off.
        iterate_until(lambda: not terminal.echoes(), what='the agent reading')
        terminal.type(PASSWORD + '\n')
        terminal.read_until('allowed tool')
        self.assertIn('hello', call.result())
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        terminal.read_until('Waiting for calls')
        self.assertFalse(terminal.echoes())

    def test_wrong_password(self):
        terminal = self.terminal()
        terminal.read_until('[Pp]assword: ')
        terminal.type_hidden('battery staple\n')
        said = terminal.read_until('did not authenticate')
        self.assertNotIn('battery', said, 'a password is not shown')
        self.assertNotEqual(terminal.wait(), 0)
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_agent_vanishes(self):
        terminal = self.terminal()
        terminal.read_until('[Pp]assword: ')
        for process in agents():
            os.kill(process, signal.SIGKILL)
        terminal.read_until('did not authenticate')
        self.assertNotEqual(terminal.wait(), 0)
        self.assertEqual(self.trust_of(), 'not-reviewed')

    def test_silence_and_then_leaving(self):
        terminal = self.terminal()
        terminal.read_until('[Pp]assword: ')
        self.assertTrue(agents())
        terminal.type('\x03')
        terminal.wait()
        iterate_until(lambda: not agents(), what='the end of the agent')
        self.is_alive()
        self.assertEqual(self.trust_of(), 'not-reviewed')
        # The way is free again.
        again = self.terminal()
        again.read_until('[Pp]assword: ')
        again.type_hidden(PASSWORD + '\n')
        again.read_until(TRUSTED)

    def test_agent_of_another_process_answers_nothing(self):
        """An agent that somebody started for a program of his own is not asked for us."""
        self.terminal().read_until('[Pp]assword: ')
        self.assertTrue(agents())
        self.assertFails('NotAuthorized', self.trust().result)
        self.assertEqual(self.trust_of(), 'not-reviewed')


class OnlyPolkit(PolkitCase):
    config = config('polkit')

    def test_yes_and_no(self):
        self.say('no')
        self.assertFails('NotAuthorized', self.trust().result)
        self.say('yes')
        self.trust().result()
        self.assertEqual(self.trust_of(), 'trusted')
