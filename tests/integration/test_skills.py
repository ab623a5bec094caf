# SPDX-License-Identifier: MIT
"""Skills, from the folder of a bundle to the instructions that an agent reads (contract 4.5)."""

import json
import os
import signal
from contextlib import suppress

from codewhale import ServiceCase, iterate_until, options
from gi.repository import GLib

SOURCE = '''
export const inject = ['skills', 'tools']
export function apply(ctx) {
  const dispose = ctx.skills.registerRoot({ path: 'crafts' })
  ctx.tools.register({ name: 'drop_skills', description: 'd', parameters: { type: 'object' }, execute() { dispose(); return 'gone' } })
}
'''
SAW = '''---
name: saw
description: Cuts wood.
argument-hint: "[planks]"
allowed-tools: [Bash]
---
Take a saw.
'''


class Skills(ServiceCase):
    files = {'crafts/saw/SKILL.md': SAW,
             'crafts/drill/SKILL.md': '---\nname: drill\ndescription: Makes holes.\ninvocation: explicit-only\n---\nTake a drill.\n'}

    def bring_up(self, source=SOURCE, **files):
        return self.client.bring_up(self.bundle('works', source, files={**self.files, **files}))

    def names(self, **more):
        return sorted(row[0] for row in self.client.call('Skills', 'List', '(a{sv})', options(**more)))

    def load(self, name='works:saw', **more):
        return json.loads(self.client.call('Skills', 'Load', '(sa{sv})', name, options(**more)))

    def describe(self, name='works:saw', **more):
        return json.loads(self.client.call('Skills', 'Describe', '(sa{sv})', name, options(**more)))

    def test_list_describe_load(self):
        changed = self.client.signals('Skills', 'Changed')
        plugin = self.bring_up()
        changed.wait()
        rows = sorted(self.client.call('Skills', 'List', '(a{sv})', {}))
        self.assertEqual(rows[1], ('works:saw', plugin, 'Cuts wood.', '[planks]', True, True))
        self.assertEqual(rows[0][4:], (False, True))
        skill = self.load()
        self.assertEqual((skill['instructions'], skill['path'], skill['root']), ('Take a saw.\n', 'crafts/saw/SKILL.md', 'crafts'))
        self.assertIn('allowed-tools', skill['warnings'][0])
        self.assertNotIn('instructions', self.describe('WORKS:Saw'))
        self.assertFails('RefusedByPolicy', self.load, 'works:drill', chosen_by='model')
        self.assertEqual(self.load('works:drill')['instructions'], 'Take a drill.\n')
        self.assertFails('NoSuchSkill', self.load, 'works:../other/SKILL')
        self.assertFails('InvalidOption', self.load, chosen_by='nobody')

    def test_a_session_has_those_of_its_plugins(self):
        self.bring_up()
        none = self.client.call('Sessions', 'Open', '(a{sv})', options(plugins=GLib.Variant('as', ['other'])))
        self.assertEqual(self.names(session=none), [])
        self.assertFails('NoSuchSkill', self.load, session=none)
        self.assertEqual(self.names(), ['works:drill', 'works:saw'])

    def test_K05_a_restarted_host_makes_a_selection_stale(self):
        self.bring_up()
        receipt = self.describe()['receipt']
        self.assertEqual(self.load(receipt=receipt)['receipt'], receipt)
        self.assertFails('StaleSelection', self.load, receipt='0' * 64)
        before = self.units.names()
        for pid in self.units.all_processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        iterate_until(lambda: self.units.names() not in ([], before) and self.names() == ['works:drill', 'works:saw'])
        self.assertIn('again', self.assertFails('StaleSelection', self.load, receipt=receipt).message)
        self.load(receipt=self.describe()['receipt'])
        # A receipt of one session is none of another.
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.assertFails('StaleSelection', self.load, receipt=self.describe()['receipt'], session=session)

    def test_withdrawn_with_its_disposer_and_its_plugin(self):
        self.approver()
        plugin = self.bring_up()
        self.client.tool('drop_skills')
        iterate_until(lambda: self.names() == [])
        self.client.plugin('Disable', plugin)
        self.client.plugin('Enable', plugin)
        self.assertEqual(len(self.names()), 2)
        self.client.plugin('Disable', plugin)
        self.assertEqual(self.names(), [])
        self.assertFails('NoSuchSkill', self.load)

    def test_K03_a_bad_skill_fails_the_activation_and_is_named(self):
        plugin = self.client.install(self.bundle('works', SOURCE, files={**self.files, 'crafts/bad/SKILL.md': 'no front matter'}))['id']
        self.client.trust(plugin)
        error = self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin)
        self.assertIn('crafts/bad/SKILL.md', error.message)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.client.tools(), [])

    def refused(self, roots, files):
        """The words with which a plugin that registers these roots is refused."""
        source = ("export const inject = ['skills']\nexport const apply = ctx => { for (const path of "
                  f"{json.dumps(roots)}) ctx.skills.registerRoot({{ path }}) }}")
        plugin = self.client.install(self.bundle('many', source, files=files))['id']
        self.client.trust(plugin)
        return self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin, seconds=60).message

    @staticmethod
    def skill(name, size=0):
        return f'---\nname: {name}\ndescription: d\n---\n{"x" * size}\n'

    def test_K04_retained_skills_of_one_plugin(self):
        files = {f'a/s{number}/SKILL.md': self.skill(f'a{number}') for number in range(100)}
        files |= {f'b/s{number}/SKILL.md': self.skill(f'b{number}') for number in range(28)}
        files['c/last/SKILL.md'] = self.skill('last')
        self.assertIn('128', self.refused(['a', 'b', 'c'], files))
        self.assertEqual(self.names(), [])

    def test_K04_retained_bytes_of_one_plugin(self):
        size = 950 * 1024
        files = {f'a/s{number}/SKILL.md': self.skill(f'a{number}', size) for number in range(3)}
        files |= {f'b/s{number}/SKILL.md': self.skill(f'b{number}', size) for number in range(2)}
        self.assertIn('4194304 bytes', self.refused(['a', 'b'], files))
        self.assertEqual(self.names(), [])

    def test_PR_05_bytes_that_changed_are_not_served(self):
        plugin = self.bring_up()
        source = self.daemon.home / 'plugins' / 'works' / 'crafts' / 'saw' / 'SKILL.md'
        source.chmod(0o600)
        source.write_text(SAW.replace('saw.', 'hammer.'))
        self.assertFails('ContentChanged', self.load)
        iterate_until(lambda: self.names() == [])
        self.assertNotEqual(self.client.plugins()['works'][3], 'active')
        self.assertEqual(self.client.plugins()['works'][0], plugin)

    def test_other_kinds_are_refused_in_words(self):
        source = ("export const inject = ['mcp']\nexport const apply = ctx => "
                  "ctx.mcp.registerServer({ serverName: 'm', server: { type: 'stdio', command: 'x' } })")
        plugin = self.client.install(self.bundle('servers', source))['id']
        self.client.trust(plugin)
        self.assertIn('mcp.json', self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin).message)
