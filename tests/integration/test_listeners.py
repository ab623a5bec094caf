# SPDX-License-Identifier: MIT
"""Listeners that are asked before a tool runs: in order, within one budget, failing closed, never locking a person out (contract 4.8)."""

import json

from codewhale import BLOCK_FOREVER, BusError, ServiceCase, iterate_until, tool_source

ECHO = 'return JSON.stringify(input)'


def listener(*bodies):
    """A plugin without tools whose listeners have these bodies."""
    each = '\n'.join(f"  ctx.on('tools/pre-execute', async function guard{i}(call, next) {{ {body} }})" for i, body in enumerate(bodies))
    return f'export function apply(ctx) {{\n{each}\n}}'


def after(milliseconds, then='return next()'):
    return f'await new Promise(done => setTimeout(done, {milliseconds})); {then}'


class Listeners(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approvals = self.approver()
        self.client.bring_up(self.bundle('worker', tool_source(ECHO, name='work')))

    def guard(self, *bodies, name='guard'):
        return self.client.bring_up(self.bundle(name, listener(*bodies)))

    def work(self, **arguments):
        return self.client.tool('work', arguments)['content'][0]['text']

    def begin(self, **arguments):
        """A call that hangs in a listener: it is there once the person was not asked and no answer came."""
        pending = self.client.start_tool('work', arguments)
        self.client.tools()
        return pending

    def failure_of(self, pending):
        with self.assertRaises(BusError) as caught:
            pending.result()
        return caught.exception

    def test_E05_a_deny_stops_the_batch(self):
        self.guard("return { kind: 'deny', reason: 'first' }", 'while (true) {}')
        self.assertIn('first', self.assertFails('HookDenied', self.client.tool, 'work').message)

    def test_E04_HK_02_a_revision_is_seen_by_later_ones_and_the_last_wins(self):
        self.guard("return { kind: 'revise', input: { ...call.arguments, seen: ['a'] } }",
                   "return { kind: 'revise', input: { ...call.arguments, seen: [...call.arguments.seen, 'b'] } }",
                   'return next()')
        self.assertEqual(self.work(p=1), '{"p":1,"seen":["a","b"]}')

    def test_E04_a_revision_over_the_limit_denies(self):
        self.guard("return { kind: 'revise', input: { text: 'x'.repeat(32768) } }")
        self.assertFails('HookFailed', self.client.tool, 'work')

    def test_HK_01_a_person_sees_the_revised_arguments(self):
        self.guard("return { kind: 'revise', input: { p: 'b' } }", "return { kind: 'ask', reason: 'sure?' }")
        self.assertEqual(self.work(p='a'), '{"p":"b"}')
        self.assertEqual(json.loads(self.approvals.cards[-1]['arguments']), {'p': 'b'})

    def test_E02_what_is_no_verdict_denies(self):
        for number, body in enumerate(("throw new Error('broken')", "return 'yes'", "return { kind: 'maybe' }", "return { kind: 'deny' }",
                                       "return { kind: 'abstain', more: 1 }", "return { kind: 'revise', input: [] }")):
            plugin = self.guard(body, name=f'guard{number}')
            error = self.assertFails('HookFailed', self.client.tool, 'work')
            self.assertIn('guard0', error.message)
            self.client.plugin('Disable', plugin)
        self.assertEqual(self.work(), '{}')

    def test_E03_all_listeners_share_five_seconds(self):
        slow = self.guard(after(3000))
        self.assertEqual(self.work(), '{}')
        self.client.plugin('Disable', slow)
        self.guard(after(3000), after(3000), name='slower')
        error = self.assertFails('HookFailed', self.client.tool, 'work')
        self.assertIn('guard1', error.message)

    def test_E08_HK_10_a_held_listener_ends_with_its_owner(self):
        plugin = self.guard('await new Promise(() => {})')
        pending = self.begin()
        self.client.plugin('Disable', plugin)
        self.assertIn(self.failure_of(pending).name.rsplit('.', 1)[1], ('HookFailed', 'Cancelled'))
        self.assertEqual(self.client.call('Hooks', 'List', '(a{sv})', {}), [])
        self.assertEqual(self.work(), '{}')

    def test_HK_10_a_listener_that_denies_everything_can_be_switched_off(self):
        plugin = self.guard("return { kind: 'deny', reason: 'never' }")
        self.assertFails('HookDenied', self.client.tool, 'work')
        self.client.plugin('Disable', plugin)
        self.assertEqual(self.work(), '{}')
        self.client.plugin('Enable', plugin)
        self.assertFails('HookDenied', self.client.tool, 'work')
        self.client.plugin('Revoke', plugin)
        self.assertEqual(self.work(), '{}')

    def test_HK_10_a_spinning_listener_can_be_switched_off(self):
        plugin = self.guard(BLOCK_FOREVER)
        pending = self.begin()
        self.client.plugin('Disable', plugin)
        self.assertIn(self.failure_of(pending).name.rsplit('.', 1)[1], ('HookFailed', 'Cancelled'))
        self.assertEqual(self.work(), '{}')

    def test_HK_10_managing_is_never_put_to_a_listener(self):
        plugin = self.guard("return { kind: 'deny', reason: 'never' }")
        self.client.call('', 'Reload')
        iterate_until(lambda: self.client.plugins()['guard'][3] == 'active')
        self.client.plugin('Disable', plugin)
        self.client.plugin('Uninstall', plugin)
        self.assertNotIn('guard', self.client.plugins())
        self.assertEqual(self.work(), '{}')

    def test_HK_11_a_slow_deny_comes_before_the_effect(self):
        marker = self.client.bring_up(self.bundle('marker', tool_source(
            "await ctx.storage.set('ran', true); return 'ran'", name='mark', inject=('tools', 'storage'))))
        guard = self.guard(after(800, "return { kind: 'deny', reason: 'late' }"))
        for posture in ('full-access', 'ask'):
            session = self.client.call('Sessions', 'Open', '(a{sv})', {})
            self.client.call('Session', 'SetPosture', '(s)', posture, path=session)
            self.assertFails('HookDenied', self.client.tool, 'mark', session=session)
            self.assertEqual(self.client.call('Storage', 'List', '(s)', marker), [], posture)
        # It is the listener that kept it from being written.
        self.client.plugin('Disable', guard)
        self.client.tool('mark')
        self.assertEqual(len(self.client.call('Storage', 'List', '(s)', marker)), 1)
