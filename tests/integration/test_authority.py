# SPDX-License-Identifier: MIT
"""Who may let an extension run, and for whom that ends: one decision counts for every session."""

import json

from codewhale import ServiceCase, iterate_until, options, tool_source
from codewhale.daemon import CONFIG

LISTENER = '''
  ctx.on('tools/pre-execute', (call) => ({ kind: 'deny', reason: 'generation %s says no' }))
'''


class Assistants(ServiceCase):
    """With confirmation by a person, which is what every installation has unless somebody turned it off."""
    config = CONFIG.replace('"token"', '"approver"')

    def setUp(self):
        super().setUp()
        self.plugin = self.client.install(self.bundle('probe', tool_source("return 'hello'")))['id']
        self.token = self.client.review(self.plugin)['token']

    def facts(self):
        return self.client.properties('Plugin', path=self.client.plugins()['probe'][1])

    def test_T15_assistant_can_neither_trust_nor_enable(self):
        assistant = self.connect()
        assistant.call('Sessions', 'Open', '(a{sv})', {})
        # Nobody is there who could be asked, and the right token is no person.
        self.assertFails('NoApprover', assistant.trust, self.plugin, self.token)
        # It can't be its own person either.
        assistant.call('Approvals', 'Register', '(a{sv})', options(label='me'))
        self.assertFails('NoApprover', assistant.trust, self.plugin, self.token)
        self.assertFails('NotTrusted', assistant.plugin, 'Enable', self.plugin)
        self.assertEqual((self.facts()['Trust'], self.facts()['Enabled'], self.client.tools()), ('not-reviewed', False, []))

    def test_T15_person_who_says_no(self):
        self.approver(lambda card: 'deny')
        self.assertFails('Denied', self.client.trust, self.plugin, self.token)
        self.assertEqual(self.facts()['Trust'], 'not-reviewed')

    def test_T15_person_who_says_yes_is_in_the_receipt(self):
        approver = self.approver()
        self.client.trust(self.plugin, self.token)
        self.assertEqual(self.facts()['Trust'], 'trusted')
        self.assertIn(self.token.split('.')[0], approver.cards[0]['text'])
        state = (self.daemon.home / 'plugins' / 'state.json').read_text()
        self.assertIn('approver:', state)


class Sessions(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source("return 'hello'")))
        self.approver()

    def open(self, client):
        return client.call('Sessions', 'Open', '(a{sv})', {})

    def test_T16_disable_counts_for_every_session(self):
        one, other = self.connect(), self.connect()
        first, second = self.open(one), self.open(other)
        for client, session in ((one, first), (other, second)):
            self.assertEqual(client.tools(session=session), ['probe'])
            self.assertEqual(client.tool('probe', session=session)['content'][0]['text'], 'hello')
        one.plugin('Disable', self.plugin)
        # Not only sessions that begin later: those that saw the tool have lost it too.
        for client, session in ((one, first), (other, second)):
            self.assertEqual(client.tools(session=session), [])
            self.assertFails('NoSuchTool', client.tool, 'probe', session=session)

    def test_T16_revoke_counts_for_every_session(self):
        one, other = self.connect(), self.connect()
        second = self.open(other)
        self.assertEqual(other.tools(session=second), ['probe'])
        one.plugin('Revoke', self.plugin)
        self.assertFails('NoSuchTool', other.tool, 'probe', session=second)


class Late(ServiceCase):
    """What an extension registers when its end has begun."""

    def test_TR_17_registered_while_it_is_cleaned_up_and_later(self):
        late = """
  const again = name => ctx.tools.register({ name, description: 'd', parameters: { type: 'object' }, execute() { return 'x' } })
  const attempt = async name => { try { await again(name) } catch {} }
  ctx.effect(() => async () => {
    setTimeout(() => attempt('afterwards'), 300)
    await attempt('during')
    await new Promise(done => setTimeout(done, 100))
    await attempt('a_while_later')
  })"""
        plugin = self.client.bring_up(self.bundle('probe', tool_source("return 'x'", more=late)))
        self.client.wait_for_tools('probe')
        other = self.connect()
        other.call('Sessions', 'Open', '(a{sv})', {})
        seen = []
        self.client.plugin('Disable', plugin)
        iterate_until(lambda: seen.append(other.tools()) or not self.units.names(), what='the end of the host')
        self.assertEqual({name for tools in [*seen, other.tools()] for name in tools}, set())
        self.client.plugin('Enable', plugin)
        self.client.wait_for_tools('probe')


class Generations(ServiceCase):
    """What happens to a generation when the next one comes."""

    def setUp(self):
        super().setUp()
        self.person = self.approver()

    def write(self, text):
        (self.daemon.home / 'plugins' / 'probe' / 'native' / 'main.mjs').write_text(text)

    def renew(self, plugin):
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)

    def listening(self, number):
        return tool_source("return 'ran'", more=LISTENER % number)

    def test_TR_10_changed_listener_answers_the_next_call(self):
        plugin = self.client.bring_up(self.bundle('probe', self.listening('one')))
        self.assertIn('generation one', self.assertFails('HookDenied', self.client.tool, 'probe').message)
        self.write(self.listening('two'))
        self.client.call('', 'Reload')
        self.assertFails('NoSuchTool', self.client.tool, 'probe')
        self.renew(plugin)
        for _ in range(20):
            message = self.assertFails('HookDenied', self.client.tool, 'probe').message
            self.assertIn('generation two', message)
            self.assertNotIn('generation one', message)

    def slow(self, answer):
        body = f"if (input.wait) {{ await ctx.storage.set('began', true); await new Promise(done => setTimeout(done, input.wait)) }} return '{answer}'"
        return tool_source(body, inject=('tools', 'storage'))

    def wait_until_it_runs(self, plugin):
        """Not only allowed: a host that is still starting keeps the call waiting, and such a call ends with its generation."""
        iterate_until(lambda: self.client.call('Storage', 'List', '(s)', plugin), what='the record that the running call writes')

    def test_TR_11_running_call_ends_on_the_generation_that_it_began_on(self):
        plugin = self.client.bring_up(self.bundle('probe', self.slow('one')))
        running = self.client.start_tool('probe', {'wait': 20000}, seconds=60)  # long enough for a slow machine to do all below
        other = self.connect()
        self.wait_until_it_runs(plugin)
        self.write(self.slow('two'))
        self.client.call('', 'Reload')
        self.assertEqual(other.tools(), [], 'the old generation is offered to nobody')
        self.client = other
        self.renew(plugin)
        self.assertFalse(running.done, running.error)
        self.assertEqual(json.loads(running.result(60))['content'][0]['text'], 'one')
        other.wait_for_tools('probe')
        self.assertEqual(other.tool('probe', {})['content'][0]['text'], 'two')
        iterate_until(lambda: len(self.units.names()) == 1, what='the end of the old generation')

    def test_TR_11_S16_drained_call_may_end_and_change_nothing(self):
        """What it returns is the caller's; what it would keep or log is refused: both are the next generation's by now (2.8, 4.9)."""
        body = ("""
            const log = ctx.logger('probe'), pause = () => new Promise(done => setTimeout(done, 20))
            log.warn('of the present host')
            for (let n = 0; ; n++) try {
              await ctx.storage.set('n', n)
              await pause()
            } catch (error) {
              log.error('of a stale host')
              /* The line is read before what is asked after it. */
              for (let n = 0; n < 3; n++) await pause().then(() => ctx.storage.get('n')).catch(() => {})
              return `${error.code}: ${error.message}`
            }""")
        plugin = self.client.bring_up(self.bundle('probe', tool_source(body, inject=('tools', 'storage'))))
        running = self.client.start_tool('probe', {}, seconds=60)
        self.wait_until_it_runs(plugin)
        path = self.client.plugins()['probe'][1]
        diagnostics = lambda: json.loads(self.client.call('Plugin', 'Describe', path=path))['host']['diagnostics']
        iterate_until(lambda: diagnostics() == ['of the present host'], what='the line of the present host')
        self.write(self.slow('two'))
        self.client.call('', 'Reload')
        said = json.loads(running.result(60))['content'][0]['text']
        self.assertIn('only what was running may end', said)
        self.assertNotIn('of a stale host', diagnostics())

    def copies(self):
        """The content hashes of which there is a sealed copy."""
        staged = self.daemon.home / 'extensions' / 'staged'
        return {path.name for path in staged.glob('*/*')}

    def test_TR_11_sealed_copy_goes_with_the_last_call_that_runs_from_it(self):
        plugin = self.client.bring_up(self.bundle('probe', self.slow('one')))
        first = self.copies()
        path = self.client.call('Tools', 'Start', '(ssa{sv})', 'probe', '{"wait": 600000}', options(handle_token='long'))
        ended = self.client.signals('Request', 'Response', path)
        self.wait_until_it_runs(plugin)
        for answer in ('two', 'three'):
            self.write(self.slow(answer))
            self.client.call('', 'Reload')
            self.renew(plugin)
        self.client.call('', 'Reload')
        # The one in force, the one before it for the differences, and the one that a call runs from.
        self.assertEqual(len(self.copies()), 3)
        self.assertLess(first, self.copies())
        self.client.call('Request', 'Close', path=path)
        ended.wait()
        # Nothing else happens: no reload, no call.
        iterate_until(lambda: not first & self.copies(), what='the end of the old copy')
        self.assertEqual(len(self.copies()), 2)
        self.assertEqual(self.client.tool('probe', {})['content'][0]['text'], 'three')
