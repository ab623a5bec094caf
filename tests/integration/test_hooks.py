# SPDX-License-Identifier: MIT
"""Pre-execute listeners on the live service: what they may do, what they can't, and what becomes of a call that waits for one."""

import os
import signal

from codewhale import RulesCase, iterate_until, rule, tool_source

RECORDING = "globalThis.ran = (globalThis.ran ?? 0) + 1; return { input, ran: globalThis.ran }"


def listener(body, name='guard'):
    """A bundle that does nothing but listen."""
    return f"""
export const inject = []
export function apply(ctx) {{
  ctx.on('tools/pre-execute', async (call, next) => {{ {body} }})
}}
"""


class HooksCase(RulesCase):
    def setUp(self):
        super().setUp()
        self.answer = 'allow'
        self.person = self.approver(lambda card: self.answer)
        self.tool_bundle(body=RECORDING)

    def listen(self, body, name='guard'):
        return self.client.bring_up(self.bundle(name, listener(body)))

    def ran(self):
        """How often the tool ran, with every listener gone."""
        return self.client.tool('probe', {'look': True})['structured']['ran'] - 1

    def refused(self, name, arguments=None, **more):
        return self.assertFails(name, self.client.tool, 'probe', arguments or {}, **more)

    def session_in(self, posture):
        session = self.session(posture='ask')
        if posture != 'ask':
            self.client.call('Session', 'SetPosture', '(s)', posture, path=session)
        return session


class FailClosed(HooksCase):
    """B1, B2, HK-07, HK-08: what could not be asked is no yes, and has a name of its own."""

    def check(self, body, word):
        guard = self.listen(body)
        error = self.refused('HookFailed')
        self.assertIn('guard', error.message)
        self.assertIn(word, error.message)
        self.assertEqual(self.trace(None)[-1]['source'].split(':')[0], 'hook')
        self.client.plugin('Disable', guard)
        self.assertEqual(self.ran(), 0)

    def test_B1_throws(self):
        self.check("throw new Error('broken')", 'failed: broken')

    def test_B1_malformed_answer(self):
        self.check("return { kind: 'perhaps' }", "the listener's answer is of an unknown kind")

    def test_B1_answers_too_late(self):
        self.check('await new Promise(() => {})', 'did not answer in time')

    def test_B1_revision_that_is_too_large(self):
        self.check("return { kind: 'revise', input: { text: 'x'.repeat(40000) } }", "the listener's answer revises the input with more than 32768 bytes")

    def test_B1_owner_revoked_in_the_middle_of_the_call(self):
        guard = self.listen("ctx.logger.warn('is asked'); await new Promise(() => {})")
        call = self.client.start_tool('probe')
        iterate_until(lambda: 'is asked' in self.daemon.log(), what='the question to the listener')
        self.client.plugin('Disable', guard)
        self.assertIn('was withdrawn while it was asked', self.assertFails('HookFailed', call.result).message)
        self.assertEqual(self.ran(), 0)

    def test_HK_08_B1_process_killed_in_the_middle_of_the_call(self):
        """It has no exit status, and that is not read as 0: the call is refused, and told by what."""
        guard = self.listen("ctx.logger.warn('is asked'); await new Promise(() => {})")
        call = self.client.start_tool('probe')
        iterate_until(lambda: 'is asked' in self.daemon.log(), what='the question to the listener')
        unit = self.client.property('Plugin', 'Unit', path=self.client.plugins()['guard'][1])
        for pid in self.units.processes(unit):
            os.kill(pid, signal.SIGKILL)
        error = self.assertFails('HookFailed', call.result)
        self.assertIn('guard', error.message)
        self.assertIn('was killed by a signal', error.message)
        self.client.plugin('Disable', guard)
        self.assertEqual(self.ran(), 0)

    def test_HK_07_host_that_breaks_its_channel(self):
        self.check("(await import('node:fs')).writeSync(1, 'this is no frame'); await new Promise(() => {})",
                   'protocol violation: bytes were received that are no CWX1 frame')

    def test_HK_07_host_that_runs_out_of_memory(self):
        self.check("const all = []; for (;;) all.push(new Array(1 << 20).fill(1.5))", 'the runtime gave up, as it does when its memory is used up')

    def test_B2_said_no_is_another_name_than_could_not_be_asked(self):
        self.listen("return { kind: 'deny', reason: 'not today' }")
        error = self.refused('HookDenied')
        self.assertIn('not today', error.message)

    def test_HK_10_B2_a_listener_that_denies_everything_can_be_switched_off(self):
        guard = self.listen("return { kind: 'deny', reason: 'everything' }")
        self.refused('HookDenied')
        self.client.plugin('Disable', guard)
        self.assertEqual(self.ran(), 0)

    def test_HK_10_also_while_it_blocks(self):
        guard = self.listen("ctx.logger.warn('is asked'); await new Promise(() => {})")
        calls = [self.client.start_tool('probe') for _ in range(5)]
        iterate_until(lambda: 'is asked' in self.daemon.log(), what='the question to the listener')
        self.client.plugin('Disable', guard)
        for call in calls:
            self.assertFails('HookFailed', call.result)
        self.assertEqual(self.ran(), 0)


class Ordering(HooksCase):
    """B3, HK-11, HK-12: nothing runs before everybody answered, in any posture."""

    def test_HK_11_B3_a_late_deny_in_every_posture(self):
        guard = self.listen("await new Promise((done) => setTimeout(done, 800)); return { kind: 'deny', reason: 'late' }")
        for posture in ('ask', 'full-access'):
            with self.subTest(posture=posture):
                self.refused('HookDenied', session=self.session_in(posture))
        self.client.plugin('Disable', guard)
        self.assertEqual(self.ran(), 0)

    def test_HK_12_every_plugins_tool_passes_every_listener(self):
        self.listen("return { kind: 'deny', reason: 'seen ' + call.name }")
        self.tool_bundle('other')
        for tool in ('probe', 'other'):
            self.assertIn(f'seen {tool}', self.assertFails('HookDenied', self.client.tool, tool).message)

    def test_B3_deny_stops_the_batch_and_nobody_is_asked(self):
        self.listen("return { kind: 'deny', reason: 'first' }", 'first')
        self.listen("throw new Error('was asked')", 'second')
        self.assertIn('first', self.refused('HookDenied').message)
        self.assertEqual(self.person.cards, [])


class Rewriting(HooksCase):
    """B4, B5, B6, HK-01 to HK-05, HK-14: revisions."""
    REVISE = "if (call.arguments.p === 'a') return { kind: 'revise', input: { p: 'b' } }; return next()"

    def test_HK_01_B4_revise_then_ask(self):
        self.listen(self.REVISE, 'first')
        self.listen("return { kind: 'ask', reason: 'look' }", 'second')
        result = self.client.tool('probe', {'p': 'a'})
        self.assertEqual(result['structured']['input'], {'p': 'b'})
        card = self.person.cards[-1]
        self.assertIn('"b"', str(card['arguments']))
        self.assertNotIn('"a"', str(card['arguments']))
        # A listener's question is one that no grant answers.
        self.assertEqual([grant for grant in card['grants'] if grant['scope'] != 'once'], [])

    def test_HK_02_HK_03_revision_is_kept_in_every_order_and_posture(self):
        for order in (('first', 'second'), ('second', 'first')):
            bodies = {'first': self.REVISE, 'second': 'return next()'}
            plugins = [self.listen(bodies[name], name) for name in order]
            for posture in ('ask', 'full-access'):
                with self.subTest(order=order, posture=posture):
                    result = self.client.tool('probe', {'p': 'a'}, session=self.session_in(posture))
                    self.assertEqual(result['structured']['input'], {'p': 'b'})
            for plugin in plugins:
                self.client.plugin('Disable', plugin)
                self.client.plugin('Uninstall', plugin)
            for name in order:
                import shutil
                shutil.rmtree(self.bundles / name)

    def test_HK_05_B6_allow_opens_nothing(self):
        before = len(self.person.cards)
        self.client.tool('probe', {'p': 'x'})
        self.listen("return { kind: 'allow' }")
        self.client.tool('probe', {'p': 'x'})
        self.assertEqual(len(self.person.cards), before + 2)
        self.person.close()
        self.refused('NoApprover')

    def test_a_grant_for_the_original_does_not_answer_the_revision(self):
        self.answer = ('allow', 'arguments')
        self.client.tool('probe', {'p': 'a'})
        before = len(self.person.cards)
        self.client.tool('probe', {'p': 'a'})
        self.assertEqual(len(self.person.cards), before)
        self.answer = 'allow'
        self.listen(self.REVISE)
        self.client.tool('probe', {'p': 'a'})
        self.assertEqual(len(self.person.cards), before + 1)

    def test_revision_that_the_schema_refuses(self):
        self.client.bring_up(self.bundle('strict', tool_source('return input', name='strict', parameters='''{
            type: 'object', additionalProperties: false, properties: { p: { type: 'string', maxLength: 1 } } }''')))
        self.listen("return { kind: 'revise', input: { p: 'far too long' } }")
        self.assertFails('HookFailed', self.client.tool, 'strict', {'p': 'a'})
        step = self.trace(None)[-1]
        self.assertEqual((step['layer'], step['verdict'], step['source'].split(':')[0]), ('hooks', 'deny', 'hook'))
        self.assertIn('/p', step['why'])


class RulesOverRevisions(HooksCase):
    """B5: a revision is no way round a rule. What rules see of arguments is in test_matrix_nested.py."""

    def test_B5_a_denied_tool_stays_denied(self):
        self.rules(user=rule('deny', tool='probe', id='no'))
        self.listen("return { kind: 'revise', input: {} }")
        self.refused('RefusedByPolicy', {'p': 'a'})
        self.assertEqual([step['layer'] for step in self.trace(None)], ['hooks', 'baseline', 'rules'])
        self.assertEqual(self.person.cards, [])

    def test_E06_a_tool_that_is_not_admitted_bothers_no_listener(self):
        self.rules(user='[tools]\ndeny = ["probe"]\n')
        self.listen("return { kind: 'deny', reason: 'was asked' }")
        self.refused('RefusedByPolicy')
        self.assertEqual([step['layer'] for step in self.trace(None)], ['admission'])

    def test_B5_the_record_keeps_both_digests(self):
        self.listen(Rewriting.REVISE)
        call = self.client.tool('probe', {'p': 'a'})['call_id']
        record = self.client.decision(call)
        self.assertTrue(record.get('original_digest') or record.get('original'), record.keys())


class Notices(HooksCase):
    def test_annotations_reach_the_caller(self):
        self.listen("return { kind: 'annotate', text: 'mind the gap' }")
        self.assertIn('mind the gap', self.client.tool('probe')['context'])

    def test_HK_16_one_two_and_eight_plugins_listen(self):
        """Each is asked once about each call, one after the other, whatever their number; none is left out, and the last one's no counts."""
        up = 0
        for number in (1, 2, 8):
            for up in range(up, number):
                self.listen("return { kind: 'revise', input: { ...call.arguments, seen: [...(call.arguments.seen ?? []), '%d'] } }" % up,
                            f'guard{up}')
            up = number
            for _ in range(3):
                result = self.client.tool('probe')
                self.assertEqual(sorted(result['structured']['input']['seen']), [str(i) for i in range(number)])
                said = self.client.decision(result['call_id'])['hooks']
                self.assertEqual([said.count(f'guard{i}') for i in range(number)], [1] * number, said)
        ran = result['structured']['ran']
        self.assertEqual(ran, 9)
        last = self.listen("return { kind: 'deny', reason: 'the ninth says no' }", 'guard8')
        self.assertIn('the ninth says no', self.refused('HookDenied').message)
        self.client.plugin('Disable', last)
        self.assertEqual(self.client.tool('probe')['structured']['ran'], ran + 1)

    def test_HK_16_eight_that_abstain_change_nothing(self):
        before = self.client.tool('probe', {'p': 'a'})
        for number in range(8):
            self.listen('return next()', f'quiet{number}')
        after = self.client.tool('probe', {'p': 'a'})
        self.assertEqual(after['structured']['input'], before['structured']['input'])
        self.assertEqual(after.get('context'), before.get('context'))
        first, second = (self.client.decision(result['call_id']) for result in (before, after))
        self.assertEqual([step['source'] for step in second['trace'] if not step['source'].startswith('hook:')],
                         [step['source'] for step in first['trace']])

    def test_B7_HK_16_a_listener_is_resident(self):
        """No process is started for a question: one and the same counts them all. What a question takes is measured by bench/policy."""
        self.answer = ('allow', 'tool')
        self.client.tool('probe')
        self.listen("globalThis.asked = (globalThis.asked ?? 0) + 1; return { kind: 'annotate', text: `question ${globalThis.asked}.` }")
        path = self.client.plugins()['guard'][1]
        unit, before = self.client.property('Plugin', 'Unit', path=path), set(self.units.all_processes())
        for number in range(1, 51):
            self.assertIn(f'question {number}.', self.client.tool('probe')['context'])
        self.assertEqual((self.client.property('Plugin', 'Unit', path=path), set(self.units.all_processes())), (unit, before))

    def test_many_listeners_are_all_asked(self):
        for number in range(4):
            self.listen(f"return {{ kind: 'annotate', text: 'n{number}' }}", f'guard{number}')
        context = self.client.tool('probe')['context']
        self.assertEqual([f'n{number}' in context for number in range(4)], [True] * 4)
