# SPDX-License-Identifier: MIT
"""Trusting and enabling a large bundle: how far it is is told while it goes on, and what is not done yet can be taken back."""

import os

from codewhale import ServiceCase, iterate_until, options, tool_source
from codewhale.terminal import Terminal

FILES, BYTES = 600, 50_000


class Acts(ServiceCase):
    def setUp(self):
        super().setUp()
        folder = self.bundle('probe', tool_source("return 'hello'"))
        (folder / 'data').mkdir()
        for number in range(FILES):
            (folder / 'data' / f'{number}.bin').write_bytes(os.urandom(BYTES))
        # It is larger than what an install may bring, and so lies where a person put it.
        place = self.daemon.home / 'plugins'
        place.mkdir(mode=0o700, exist_ok=True)
        folder.rename(place / 'probe')
        self.client.call('', 'Reload')

    def path(self, token):
        return f'/org/codewhale/Extensions/request/{self.client.unique_name[1:].replace(".", "_")}/{token}'

    def begin(self, verb, token, *words):
        """What it tells, how it ends, and its answer."""
        told = self.client.signals('Request', 'Progressed', self.path(token))
        ended = self.client.signals('Request', 'Response', self.path(token))
        pending = self.client.start('Plugins', verb, f'({"s" * (len(words) + 1)}a{{sv}})', 'probe', *words, options(handle_token=token), seconds=60)
        return told, ended, pending

    def fact(self, name):
        return self.client.property('Plugin', name, path=self.client.plugins()['probe'][1])

    def check_told(self, told):
        """A quick machine may be through with one of the stages between two signals, but not with both."""
        for stage, done, total in told:
            self.assertIn(stage, ('waiting', 'asking', 'reading', 'writing', 'starting'))
            self.assertLessEqual(done, total or done)
        self.assertTrue([1 for stage, done, total in told if stage in ('reading', 'writing') and 0 < done <= total >= FILES * BYTES], told)


class Trusting(Acts):
    def test_trust_and_enable_tell_how_far_they_are(self):
        token = self.client.review('probe')['token']
        told, ended, pending = self.begin('Trust', 'big', token)
        pending.result(60)
        self.assertEqual(ended.wait(), (0, {'result': '{}'}))
        self.check_told(told)
        self.assertFails('NoSuchRequest', self.client.call, 'Request', 'Close', path=self.path('big'))
        self.daemon.stop()
        self.daemon.start()
        self.client = self.connect()
        _, ended, pending = self.begin('Enable', 'on')
        pending.result(60)
        self.assertEqual(ended.wait(), (0, {'result': '{}'}))
        self.assertEqual(self.client.plugins()['probe'][3], 'active')

    def test_trust_is_taken_back(self):
        token = self.client.review('probe')['token']
        told, ended, pending = self.begin('Trust', 'big', token)
        iterate_until(lambda: [1 for stage, *_ in told if stage in ('reading', 'writing')], what='the work')
        self.client.call('Request', 'Close', path=self.path('big'))
        self.assertFails('Cancelled', pending.result)
        outcome, results = ended.wait()
        self.assertEqual((outcome, results['error-name']), (2, 'org.codewhale.Extensions.Error.Cancelled'))
        self.assertEqual(self.fact('Trust'), 'not-reviewed')
        self.client.call('', 'Reload')
        staged = self.daemon.home / 'extensions' / 'staged'
        # A worker removes it.
        iterate_until(lambda: not [name for _, _, names in os.walk(staged) for name in names], what='the end of the sealed copy')
        self.client.trust('probe', token)
        self.assertEqual(self.fact('Trust'), 'trusted')

    def test_token_in_use_and_unusable(self):
        token = self.client.review('probe')['token']
        _, _, pending = self.begin('Trust', 'twice', token)
        self.assertFails('InvalidOption', self.begin('Trust', 'twice', token)[2].result)
        self.assertFails('InvalidOption', self.begin('Enable', 'a-b')[2].result)
        self.assertFails('NoSuchRequest', self.connect().call, 'Request', 'Close', path=self.path('twice'))
        pending.result(60)

    def test_bar_in_a_terminal(self):
        terminal = Terminal(self.bus.address, 'trust', 'probe', self.client.review('probe')['token'])
        self.addCleanup(terminal.close)
        terminal.read_until(r'(Reading|Writing) +\[#* *\] +\d+ % ')
        said = terminal.read_until('Trusted')
        self.assertIn('\r\x1b[K', said, 'the bar is taken away again')
        self.assertEqual(terminal.wait(), 0)


class Asking(ServiceCase):
    config = '[features]\nextension_host = true\n[trust]\nconfirm = "approver"\n'

    def test_question_is_taken_back(self):
        self.client.install(self.bundle('probe', tool_source("return 'x'")))
        person = self.approver(lambda card: None)
        path = f'/org/codewhale/Extensions/request/{self.client.unique_name[1:].replace(".", "_")}/q'
        pending = self.client.start('Plugins', 'Trust', '(ssa{sv})', 'probe', self.client.review('probe')['token'], options(handle_token='q'))
        iterate_until(lambda: person.cards, what='the card')
        self.assertEqual(self.client.property('Request', 'Progress', path=path)[0], 'asking')
        self.client.call('Request', 'Close', path=path)
        self.assertFails('Cancelled', pending.result)
        person.closed.wait()
        self.assertFails('Withdrawn', person.answer, person.cards[0], 'allow')
        self.assertEqual(self.client.property('Plugin', 'Trust', path=self.client.plugins()['probe'][1]), 'not-reviewed')


class Starting(ServiceCase):
    def test_too_late(self):
        """Its entry does not come to an end; the bundle is enabled, and only its answer is waited for."""
        self.client.install(self.bundle('probe', 'await new Promise(() => { setInterval(() => {}, 1000); });\nexport function apply() {}\n'))
        self.client.trust('probe')
        path = f'/org/codewhale/Extensions/request/{self.client.unique_name[1:].replace(".", "_")}/e'
        pending = self.client.start('Plugins', 'Enable', '(sa{sv})', 'probe', options(handle_token='e'), seconds=60)
        iterate_until(lambda: self.client.property('Request', 'Progress', path=path)[0] == 'starting', what='the start')
        self.assertFails('NotSupported', self.client.call, 'Request', 'Close', path=path)
        self.assertFalse(pending.done)
        self.client.plugin('Disable', 'probe')
        iterate_until(lambda: pending.done, what='the end of the start')
