# SPDX-License-Identifier: MIT
"""What is left in a host that goes on, and the restart that is planned for it (contract 3.14)."""

from codewhale import iterate_until, tool_source
from test_supervision import SupervisionCase

SLOW = "await new Promise(done => setTimeout(done, 4000)); return 'alive'"
# Counts how often it was tried, leaves a clean-up that never ends, and fails.
LEAVES = '''
export const inject = ['storage']
export async function apply(ctx) {
  await ctx.storage.set('%(key)s', (await ctx.storage.get('%(key)s') ?? 0) + 1)
  ctx.effect(() => () => new Promise(() => {}))
  throw new Error('it never works')
}
'''


class Teardown(SupervisionCase):
    def bring_up(self, *failing, tool=SLOW):
        files = {f'native/{name}.mjs': LEAVES % {'key': name} for name in failing}
        files['native/main.mjs'] = tool_source(tool)
        return self.client.bring_up(self.bundle('probe', files=files, native={'paths': sorted(files)}))

    def tried(self, name):
        return int(self.client.call('Storage', 'Get', '(ss)', self.client.plugins()['probe'][0], name))

    def test_S10_two_dirty_ones_wait_for_the_call_and_restart_without_a_crash(self):
        self.bring_up('first', 'second')
        before = self.facts()
        call = self.client.start_tool('probe', seconds=60)
        iterate_until(lambda: 'will be restarted when nobody needs it' in self.daemon.log(), what='the plan')
        self.assertEqual(self.facts()['Unit'], before['Unit'], 'it waits for the call')
        self.assertIn('alive', call.result(60))
        iterate_until(lambda: self.facts()['Unit'] not in ('', before['Unit']) and self.state() == 'ready', what='the restart')
        self.assertEqual(self.describe()['crashes'], 0)
        # What failed with these bytes is not tried again, so nothing is left in the new one and it stays.
        unit = self.facts()['Unit']
        self.assertEqual((self.tried('first'), self.tried('second')), (1, 1))
        self.alive()
        self.assertEqual((self.facts()['Unit'], self.daemon.log().count('will be restarted')), (unit, 1))

    def test_S10_one_dirty_one_is_told_and_nothing_else(self):
        self.bring_up('first', tool="return 'alive'")
        iterate_until(lambda: any('clean-up did not end' in text for text in self.describe()['diagnostics']), what='the news')
        # A restart that was planned would come as soon as a call has ended.
        unit = self.facts()['Unit']
        self.alive()
        self.assertEqual((self.state(), self.facts()['Unit']), ('ready', unit))
        self.assertNotIn('will be restarted', self.daemon.log())

    def test_A04_an_entry_that_failed_is_not_tried_again_after_a_crash(self):
        self.bring_up('first')
        unit = self.facts()['Unit']
        self.kill()
        iterate_until(lambda: self.facts()['Unit'] not in ('', unit) and self.state() == 'ready', what='the restart')
        self.assertEqual(self.tried('first'), 1)
        self.assertEqual([entry['state'] for entry in self.describe()['entries']], ['failed', 'active'])
        # A person's reload is another matter (T17), as soon as it starts anew.
        self.client.call('', 'Reload')
        unit = self.facts()['Unit']
        self.kill()
        iterate_until(lambda: self.facts()['Unit'] not in ('', unit) and self.state() == 'ready', what='the restart')
        self.assertEqual(self.tried('first'), 2)


del SupervisionCase
