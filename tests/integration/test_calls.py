# SPDX-License-Identifier: MIT
"""One call of a tool, and everything that a caller can do wrong. Nobody has to be asked here: an approver allows all."""

import json
import time

from codewhale import Client, ServiceCase, iterate_until, options, tool_source

COUNTING = 'globalThis.seen = (globalThis.seen ?? 0) + 1; return { seen: globalThis.seen, input }'
STRICT = '''{ type: 'object', required: ['label'], additionalProperties: false,
              properties: { label: { type: 'string', maxLength: 8 }, deep: { type: 'object', properties: { n: { type: 'integer' } } } } }'''


class Calls(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def bring_up(self, body, **more):
        return self.client.bring_up(self.bundle('probe', tool_source(body, **more)))

    def test_O03_arguments_against_the_schema(self):
        self.bring_up(COUNTING, parameters=STRICT)
        for arguments, word in (
                ({'label': 'x', 'extra': 1}, 'extra'), ({'label': 7}, '/label'), ({}, 'label'), ([], ''), ('"text"', ''), ('null', ''),
                ({'label': 'too long a label'}, '/label'), ({'label': 'x', 'deep': {'n': 1.5}}, '/deep/n')):
            with self.subTest(arguments=arguments):
                error = self.assertFails('InvalidArguments', self.client.tool, 'probe', arguments)
                self.assertIn(word, error.message)
        # None of them came as far as the host.
        self.assertEqual(self.client.tool('probe', {'label': 'x'})['structured']['seen'], 1)

    def test_O03_text_that_is_not_json(self):
        self.bring_up(COUNTING)
        for text in ('', '{', '{"a":1,"a":2}', '{"a":1} x', "{'a':1}", '{"a":01}', '{"a":"\\ud800"}', '[' * 100000, '{"a":NaN}',
                     '{"a":' + '[' * 70 + ']' * 70 + '}'):
            with self.subTest(text=text[:20]):
                self.assertFails('InvalidArguments', self.client.start_tool('probe', text).result)
        self.assertEqual(self.client.tool('probe')['structured']['seen'], 1)

    def test_arguments_arrive_exactly(self):
        self.bring_up('return input')
        given = {'big': 2 ** 53, 'float': 1.5, 'text': 'a\u0000\u202eb', 'nested': [{'x': []}, None, True], '__proto__x': 1}
        self.assertEqual(self.client.tool('probe', given)['structured'], given)

    def test_unknown_tool(self):
        self.assertFails('NoSuchTool', self.client.tool, 'nothing_here')

    def test_unknown_option_and_wrong_type(self):
        self.bring_up(COUNTING)
        self.assertFails('InvalidOption', self.client.tool, 'probe', {}, deadlin_ms='1')
        self.assertFails('InvalidOption', self.client.tool, 'probe', {}, agent_id=True)
        self.assertFails('NoSuchSession', self.client.tool, 'probe', {}, session='/org/codewhale/Extensions/session/999')

    def test_oversized_message(self):
        self.bring_up(COUNTING)
        self.assertFails('TooLarge', self.client.tool, 'probe', {'text': 'x' * (2 << 20)})
        self.assertEqual(self.client.tool('probe')['structured']['seen'], 1)

    def test_O11_text_result(self):
        self.bring_up("return 'two\\nlines'")
        result = self.client.tool('probe')
        self.assertEqual(result['content'], [{'type': 'text', 'text': 'two\nlines'}])
        self.assertFalse(result['is_error'])
        self.assertNotIn('structured', result)

    def test_O11_json_result(self):
        self.bring_up('return { list: [1, 2.5, null], text: "x" }')
        result = self.client.tool('probe')
        self.assertEqual(result['structured'], {'list': [1, 2.5, None], 'text': 'x'})
        self.assertEqual(json.loads(result['content'][0]['text']), result['structured'])

    def test_O11_result_that_is_not_json(self):
        for name, body in (('undef', 'return undefined'), ('date', 'return new Date()'), ('big', 'return 1n'), ('nan', 'return NaN')):
            with self.subTest(result=name):
                self.client.bring_up(self.bundle(name, tool_source(body, name=f'probe_{name}')))
                self.assertFails('ExecutionFailed', self.client.tool, f'probe_{name}')

    def test_O12_throw_fails_that_call_only(self):
        self.bring_up("if (input.bad) throw new Error('broken \\x1b[31mpipe'); return 'fine'")
        error = self.assertFails('ExecutionFailed', self.client.tool, 'probe', {'bad': True})
        self.assertIn('broken', error.message)
        self.assertNotIn('\x1b', error.message)
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'fine')

    def test_O13_identity_fields(self):
        self.bring_up('''return { agent: exec.agentId ?? null, turn: exec.originTurnId ?? null, has: "agentId" in exec,
                                  frozen: Object.isFrozen(exec), callId: exec.callId }''')
        self.assertEqual(self.client.tool('probe', agent_id='a-1', origin_turn_id='t-1')['structured']['agent'], 'a-1')
        plain = self.client.tool('probe')
        self.assertEqual((plain['structured']['agent'], plain['structured']['has'], plain['structured']['frozen']), (None, False, True))
        self.assertEqual(plain['structured']['callId'], plain['call_id'])

    def test_call_with_bytes(self):
        self.bring_up('return input')
        reply = self.client.call('Tools', 'CallBytes', '(saya{sv})', 'probe', b'{"n": 1}', {})
        self.assertEqual(json.loads(bytes(reply))['structured'], {'n': 1})

    def test_many_calls_at_once(self):
        self.bring_up('await new Promise((done) => setTimeout(done, 20)); return input')
        calls = [self.client.start_tool('probe', {'n': n}) for n in range(64)]
        self.assertEqual([json.loads(call.result())['structured']['n'] for call in calls], list(range(64)))

    def test_disable_in_the_middle_of_a_call(self):
        plugin = self.bring_up('ctx.logger.warn("it runs"); await new Promise(() => {})')
        call = self.client.start_tool('probe')
        iterate_until(lambda: 'it runs' in self.daemon.log(), what='the call to reach the tool')
        self.client.plugin('Disable', plugin)
        self.assertFails('Cancelled', call.result)
        self.assertEqual(self.units.wait_until_gone(), [])


class Requests(ServiceCase):
    """Calls that are begun with Start and answered with a signal."""

    def setUp(self):
        super().setUp()
        self.approver(lambda card: ('allow', self.scope))
        self.scope = 'once'
        self.client.bring_up(self.bundle('probe', tool_source(
            'if (input.wait) await new Promise((done) => setTimeout(done, input.wait)); return "done"')))

    def grant(self):
        """From here on no call has to ask."""
        self.scope = 'tool'
        self.client.tool('probe', {'wait': 1})

    def path(self, token, client=None):
        sender = (client or self.client).unique_name.lstrip(':').replace('.', '_')
        return f'/org/codewhale/Extensions/request/{sender}/{token}'

    def begin(self, token, arguments='{}'):
        return self.client.call('Tools', 'Start', '(ssa{sv})', 'probe', arguments, options(handle_token=token))

    def test_answer_comes_as_signal(self):
        responses = self.client.signals('Request', 'Response', self.path('t1'))
        self.assertEqual(self.begin('t1'), self.path('t1'))
        outcome, results = responses.wait()
        self.assertEqual(outcome, 0)
        self.assertEqual(json.loads(results['result'])['content'][0]['text'], 'done')
        self.assertTrue(results['call-id'])

    def test_failure_comes_as_signal(self):
        responses = self.client.signals('Request', 'Response')
        self.client.call('Tools', 'Start', '(ssa{sv})', 'probe', '{"wait": 60000}', options(handle_token='f', deadline_ms=_u(200)))
        outcome, results = responses.wait()
        self.assertEqual((outcome, results['error-name']), (1, 'org.codewhale.Extensions.Error.DeadlineExceeded'))
        self.assertTrue(results['call-id'])

    def test_close_cancels(self):
        responses = self.client.signals('Request', 'Response', self.path('c'))
        path = self.begin('c', '{"wait": 60000}')
        self.client.call('Request', 'Close', path=path)
        outcome, results = responses.wait()
        self.assertEqual((outcome, results['error-name']), (2, 'org.codewhale.Extensions.Error.Cancelled'))

    def test_CA04_no_answer_is_missed(self):
        """The path is known before the call, so whoever subscribes first sees every answer, however fast it comes."""
        for number in range(1000):
            token = f'run_{number}'
            responses = self.client.signals('Request', 'Response', self.path(token))
            self.assertEqual(self.begin(token), self.path(token))
            self.assertEqual(responses.wait()[0], 0, token)
            responses.forget()

    def test_CA05_close_right_behind_start(self):
        """Sent back to back, by somebody known and by somebody whom the service has never seen."""
        for number in range(200):
            caller = self.client if number % 2 else self.connect()
            token = f'race_{number}'
            responses = caller.signals('Request', 'Response', self.path(token, caller))
            started = caller.start('Tools', 'Start', '(ssa{sv})', 'probe', '{"wait": 60000}', options(handle_token=token))
            closed = caller.start('Request', 'Close', path=self.path(token, caller))
            self.assertEqual(started.result(), self.path(token, caller))
            closed.result()
            outcome, results = responses.wait()
            self.assertEqual((outcome, results['error-name']), (2, 'org.codewhale.Extensions.Error.Cancelled'))
            self.assertEqual(len(responses), 1)
            responses.forget()
        # None of them is left running in the plugin, and it is served as before.
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'done')

    def test_close_after_the_end(self):
        responses = self.client.signals('Request', 'Response', self.path('late'))
        self.begin('late')
        responses.wait()
        self.assertFails('NoSuchRequest', self.client.call, 'Request', 'Close', path=self.path('late'))

    def test_close_by_a_stranger(self):
        path = self.begin('s', '{"wait": 60000}')
        with self.assertRaises(Exception) as caught:
            self.connect().call('Request', 'Close', path=path)
        self.assertTrue(hasattr(caught.exception, 'name'))
        self.client.call('Request', 'Close', path=path)

    def test_token_that_is_taken_or_bad(self):
        self.begin('same', '{"wait": 60000}')
        for token in ('same', 'a/b', '', 'x' * 65, 'ä'):
            with self.subTest(token=token):
                with self.assertRaises(Exception) as caught:
                    self.begin(token)
                self.assertTrue(caught.exception.name.startswith('org.codewhale.Extensions.Error.'), caught.exception)
        self.client.call('Request', 'Close', path=self.path('same'))

    def test_caller_vanishes(self):
        """Nobody is left to answer: the call ends, the record says so, nothing is left open."""
        caller = Client(self.bus.address)
        recorded = self.client.signals('Decisions', 'Recorded')
        caller.start_tool('probe', {'wait': 60000})
        iterate_until(lambda: self.units.all_processes(), what='a host')
        time.sleep(0.3)
        caller.vanish()
        iterate_until(lambda: any(outcome == 'cancelled' for _, outcome in recorded), what='the record')
        self.assertEqual(self.client.decision(recorded[-1][0])['outcome'], 'cancelled')
        self.assertEqual(json.loads(self.client.call('Tools', 'Call', '(ssa{sv})', 'probe', '{}', {}))['content'][0]['text'], 'done')

    def test_too_much_at_once_is_refused_at_once(self):
        self.grant()
        calls = [self.client.start_tool('probe', {'wait': 60000}) for _ in range(140)]
        iterate_until(lambda: any(call.done for call in calls), what='a refusal')
        refused = [call for call in calls if call.done]
        self.assertTrue(all(call.error and call.error.name.endswith('.Busy') for call in refused), [call.error for call in refused])
        # The rest is waiting; leaving ends it.


class Channels(ServiceCase):
    """The same calls over a direct channel, by a client library that is not the service's own."""

    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('probe', tool_source('return "x".repeat(input.size ?? 1)')))
        self.channel = self.client.open_channel()
        self.addCleanup(self.channel.close)

    def test_call(self):
        result = self.channel.tool('probe')
        self.assertEqual(result['content'][0]['text'], 'x')
        self.assertIn(self.client.unique_name, json.dumps(self.client.decision(result['call_id'])))

    def test_error(self):
        self.assertFails('InvalidArguments', self.channel.tool, 'probe', [])
        self.assertFails('TooLarge', self.channel.tool, 'probe', {'size': 2 << 20})
        self.assertEqual(self.channel.tool('probe')['content'][0]['text'], 'x')

    def test_start(self):
        responses = []
        self.channel.connection.signal_subscribe(
            None, 'org.codewhale.Extensions.Request', 'Response', None, None, 0, lambda *event: responses.append(event[5].unpack()))
        path = self.channel.call('Tools', 'Start', '(ssa{sv})', 'probe', '{}', options(handle_token='direct'))
        self.assertIn(self.client.unique_name.lstrip(':').replace('.', '_'), path)
        iterate_until(lambda: responses, what='the response')
        self.assertEqual(responses[0][0], 0)

    def test_channel_that_is_closed_during_a_call(self):
        recorded = self.client.signals('Decisions', 'Recorded')
        self.channel.start_tool('probe', {'size': 3})
        self.channel.connection.flush_sync(None)
        self.channel.close()
        self.assertTrue(recorded.wait()[0])
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'x')


def _u(number):
    from gi.repository import GLib
    return GLib.Variant('u', number)
