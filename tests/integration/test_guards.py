# SPDX-License-Identifier: MIT
"""A plugin that listens to calls may be a guard: while it can't be asked, nothing passes it, and an operator can always switch it off
(contract 4.8, pains HK-10)."""

import os
import signal

from codewhale import ServiceCase, iterate_until, tool_source

GUARD = """export function apply(ctx) {
  ctx.on('tools/pre-execute', () => undefined)
}"""
FAILS = "export function apply() { throw new Error('this entry never works') }"


class Guards(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('worker', tool_source("return 'done'", name='work')))

    def guard(self, *, recordable=True):
        """One that is not recordable has an entry that fails, so that nothing is known of it without running it."""
        files = {'native/main.mjs': GUARD, 'native/other.mjs': FAILS}
        paths = ['native/main.mjs'] if recordable else ['native/main.mjs', 'native/other.mjs']
        return self.client.bring_up(self.bundle('guard', native={'paths': paths}, files=files))

    def facts(self):
        return self.client.properties('Plugin', path=self.client.plugins()['guard'][1])

    def crash(self):
        unit = self.facts()['Unit']
        for pid in self.units.processes(unit):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        iterate_until(lambda: self.facts()['Unit'] != unit or self.facts()['HostState'] == 'failed', what='the end of the host')

    def crash_until_left_alone(self):
        for _ in range(3):
            iterate_until(lambda: self.facts()['HostState'] in ('ready', 'failed'), what='the start')
            if self.facts()['HostState'] == 'failed':
                break
            self.crash()
        iterate_until(lambda: self.facts()['HostState'] == 'failed', what='the end of its crash budget')

    def work(self):
        return [block['text'] for block in self.client.tool('work', seconds=60)['content']]

    def is_closed(self):
        error = self.assertFails('HookFailed', self.client.tool, 'work', seconds=60)
        self.assertIn('guard', error.message)
        self.assertIn('codewhalectl disable guard', error.message)

    def opens_again(self):
        """The proof that nobody is locked out."""
        self.client.plugin('Disable', self.client.plugins()['guard'][0])
        self.assertEqual(self.work()[0], 'done')

    def left_alone(self, recordable):
        self.guard(recordable=recordable)
        self.assertEqual(self.work()[0], 'done')
        self.crash_until_left_alone()
        self.is_closed()
        self.opens_again()

    def test_HK_10_closed_while_it_is_left_alone_after_crashes(self):
        self.left_alone(True)

    def test_HK_10_closed_while_one_without_a_record_is_left_alone(self):
        self.left_alone(False)

    def test_HK_10_a_call_waits_for_one_that_is_restarting(self):
        self.guard(recordable=False)
        before = len(self.client.call('Hooks', 'List', '(a{sv})', {}))
        self.assertEqual(before, 1)
        for pid in self.units.processes(self.facts()['Unit']):
            os.kill(pid, signal.SIGKILL)
        iterate_until(lambda: self.facts()['HostState'] != 'ready', what='the news')
        self.assertEqual(self.work()[0], 'done')
        # It was not let past: by the time it was done, the guard was there again.
        self.assertEqual(self.facts()['HostState'], 'ready')

    def test_HK_10_closed_after_a_restart_of_the_service_that_can_not_start_it(self):
        self.guard(recordable=False)
        self.daemon.stop()
        config = self.daemon.home / 'config.toml'
        good = config.read_text()
        # Settings that are over their limit keep it from starting.
        config.write_text(good + '[plugins.guard.config]\nlong = "' + 'x' * 20000 + '"\n')
        self.daemon.start()
        self.client = self.connect()
        self.approver()
        iterate_until(lambda: self.facts()['HostState'] == 'failed', what='the failure')
        self.is_closed()
        config.write_text(good)
        self.client.call('', 'Reload')
        iterate_until(lambda: self.facts()['HostState'] == 'ready', what='the guard')
        self.assertEqual(self.work()[0], 'done')


del ServiceCase
