# SPDX-License-Identifier: MIT
"""An approver in a terminal: what it shows, which keys count, what it does when cards or the service go away."""

import os
import re
import signal

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.terminal import QUIET, READING, Terminal, begin

KEYS = r'\[q\]\S* quit'


class Watch(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source('return JSON.stringify(input)')))
        self.terminal = self.open('approve', '--watch')
        self.terminal.read_until('Waiting for calls')

    def open(self, *words, **more):
        terminal = Terminal(self.bus.address, *words, **more)
        self.addCleanup(terminal.close)
        return terminal

    def ask(self, **arguments):
        call = self.client.start_tool('probe', arguments)
        return call, self.terminal.read_until(KEYS)

    def test_allow(self):
        call, card = self.ask(a=1)
        self.assertIn('probe', card)
        self.terminal.press('y')
        self.assertIn('a', call.result())

    def test_deny(self):
        call, _ = self.ask()
        self.terminal.press('n')
        self.assertFails('Denied', call.result)

    def test_allow_for_the_session(self):
        call, card = self.ask(a=1)
        self.assertRegex(card, r'\[s\]')
        self.terminal.press('s')
        call.result()
        self.assertIn('a', self.client.start_tool('probe', {'a': 1}).result())

    def test_AP_07_card_steers_no_terminal(self):
        self.client.start_tool('probe', '{"x": "\x9b31m\u202eevil\u200b\u2028"}')
        card = self.terminal.read_until(KEYS)
        self.assertIn('\\u{202e}evil', card)
        card = re.sub(r'\x1b\[[0-9]+m', '', card)  # our own colours
        self.assertNotRegex(card, '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]')
        self.terminal.press('n')

    def test_typed_ahead_is_no_answer(self):
        self.terminal.type('yyy')
        call, _ = self.ask()
        self.terminal.type('y')  # faster than anybody can read
        self.terminal.read_for(READING + QUIET)
        self.assertFalse(call.done)
        self.assertEqual(len(self.client.call('Approvals', 'List')), 1)
        self.terminal.press('n')
        self.assertFails('Denied', call.result)

    def test_pasted_text_is_no_answer(self):
        call, _ = self.ask()
        for text in ('yes\n', 'y\n', '\x1b[200~y\x1b[201~', 'yy'):
            said = self.terminal.press(text)
            self.assertIn('no answer', said)
        self.assertEqual(len(self.client.call('Approvals', 'List')), 1)
        self.terminal.press('n')
        self.assertFails('Denied', call.result)

    def test_C2_key_for_one_card_never_answers_the_next(self):
        calls = [self.client.start_tool('probe', {'n': n}) for n in range(3)]
        self.terminal.read_until(KEYS)
        self.terminal.press('n')
        self.terminal.read_until('Card 2')
        self.terminal.read_for(READING)
        self.assertEqual(len(self.client.call('Approvals', 'List')), 2)
        self.assertFails('Denied', calls[0].result)
        self.terminal.press('y')
        self.terminal.press('n')
        iterate_until(lambda: all(call.done for call in calls), what='the answers')
        self.assertFails('Denied', calls[2].result)
        self.assertIn('1', calls[1].result())

    def test_deny_for_the_session(self):
        call, card = self.ask(a=1)
        self.assertRegex(card, r'\[d\]')
        self.terminal.press('d')
        self.assertFails('Denied', call.result)
        self.assertFails('Denied', self.client.tool, 'probe', {'a': 1})  # without a card

    def test_C7_no_row_of_somebody_else_begins_at_the_edge(self):
        """A long line is broken by us, behind the bar: a terminal would put its rest where our own lines stand."""
        self.terminal.resize(40)
        _, card = self.ask(a='x' * 60 + '[y] allow once      ' * 20)
        card = re.sub(r'\x1b\[[0-9;?]*[a-z]', '', card).replace('\r', '')
        rows = card.split('\n')
        for row in rows:
            if 'xxx' in row or row.startswith('│'):
                self.assertTrue(row.startswith('│ ') and len(row) <= 40, row)
        ours = [row for row in rows if row.startswith('[y]')]
        self.assertEqual(ours, ['[y] allow once'])
        self.terminal.press('n')

    def test_another_width_draws_the_card_again(self):
        call, _ = self.ask(a='y' * 100)
        self.terminal.resize(30)
        again = self.terminal.read_until(KEYS).replace('\r', '')
        self.assertTrue(all(row.startswith('│ ') for row in again.split('\n') if 'yyy' in row), again)
        self.terminal.press('y')
        call.result()

    def test_paste_is_marked_by_the_terminal(self):
        """One pasted letter comes with marks around it and so is no key; the terminal is put back at the end."""
        self.ask()
        self.assertIn('no answer', self.terminal.press('\x1b[200~y\x1b[201~'))
        self.terminal.press('q')
        self.terminal.wait()
        self.assertIn('\x1b[?2004l', self.terminal.seen)

    def test_full_arguments(self):
        call, _ = self.ask(long='a' * 40000, end='the end')
        self.terminal.read_for(READING)
        self.terminal.type('f')
        self.assertIn('the end', self.terminal.read_until(KEYS))
        self.terminal.press('y')
        self.assertIn('the end', call.result())

    def test_C8_cut_card_offers_no_session(self):
        _, card = self.ask(long='a' * 40000)
        self.assertIn('This is not all', card)
        self.assertNotRegex(card, r'\[s\]')
        self.terminal.press('s')
        self.assertEqual(len(self.client.call('Approvals', 'List')), 1)
        self.terminal.press('n')

    def test_withdrawn_card_goes_with_a_note(self):
        caller = begin(self.bus.address, 'call', 'probe')
        self.terminal.read_until(KEYS)
        caller.send_signal(signal.SIGINT)
        self.terminal.read_until('is gone: withdrawn')
        caller.communicate(timeout=20)
        self.terminal.read_until('Waiting for calls')

    def test_C13_card_that_another_approver_answered(self):
        second = self.approver(lambda card: None)
        call, _ = self.ask()
        iterate_until(lambda: second.cards, what='the card')
        second.answer(second.cards[0], 'allow')
        self.terminal.read_until('is gone: allowed')
        call.result()

    def test_service_restarts(self):
        self.daemon.stop()
        self.terminal.read_until('The service stopped')
        self.daemon.start()
        self.terminal.read_until('Waiting for calls')
        self.client.wait_for_tools('probe')
        call, _ = self.ask()
        self.terminal.press('y')
        call.result()

    def test_cards_that_were_open_before(self):
        call, _ = self.ask()
        second = self.open('approve', '--watch')
        second.read_until(KEYS)
        second.press('y')
        call.result()

    def test_terminal_is_put_back(self):
        self.assertFalse(self.terminal.echoes())
        self.terminal.press('q')
        self.assertEqual(self.terminal.wait(), 0)
        self.assertTrue(self.terminal.echoes())

    def test_terminal_is_put_back_after_a_signal(self):
        os.kill(self.terminal.process, signal.SIGTERM)
        self.assertEqual(self.terminal.wait(), 0)
        self.assertTrue(self.terminal.echoes())

    def test_stopped_and_continued(self):
        call, _ = self.ask()
        os.kill(self.terminal.process, signal.SIGSTOP)
        os.kill(self.terminal.process, signal.SIGCONT)
        self.terminal.read_until(KEYS)
        self.assertFalse(self.terminal.echoes())
        self.terminal.press('y')
        call.result()

    def test_terminal_that_closes(self):
        call, _ = self.ask()
        self.terminal.type('')
        os.close(self.terminal.master)
        self.terminal.master = os.open(os.devnull, os.O_RDWR)
        self.assertFails('NoApprover', call.result)
        self.terminal.wait()

    def test_call_in_a_terminal_says_that_it_waits(self):
        caller = self.open('call', 'probe')
        caller.read_until(r'Waiting for approval \(card 1\)')
        self.terminal.read_until(KEYS)
        self.terminal.press('y')
        caller.read_until('allowed')
        self.assertEqual(caller.wait(), 0)

    def test_control_c_in_a_terminal_cancels_the_call(self):
        caller = self.open('call', 'probe')
        caller.read_until('Waiting for approval')
        caller.type('\x03')
        caller.read_until('Cancelled')
        self.assertEqual(caller.wait(), 130)
        self.terminal.read_until('is gone: withdrawn')
