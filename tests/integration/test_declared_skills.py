# SPDX-License-Identifier: MIT
"""Skills that a manifest declares: listed with the trust of their plugin, with no code and no host (contract 1.5.2, 4.5)."""

import json

from codewhale import ServiceCase, iterate_until, options
from gi.repository import GLib

SAW = '---\nname: saw\ndescription: Cuts wood.\n---\nTake a saw.\n'
REGISTERS = '''
export const inject = ['skills', 'tools']
export function apply(ctx) {
  const dispose = ctx.skills.registerRoot({ path: 'skills' })
  ctx.tools.register({ name: 'drop_skills', description: 'd', parameters: { type: 'object' }, execute() { dispose(); return 'gone' } })
}
'''


class Declared(ServiceCase):
    def names(self, **more):
        return sorted(row[0] for row in self.client.call('Skills', 'List', '(a{sv})', options(**more)))

    def describe(self, name='works:saw'):
        return json.loads(self.client.call('Skills', 'Describe', '(sa{sv})', name, {}))

    def load(self, name='works:saw', **more):
        return json.loads(self.client.call('Skills', 'Load', '(sa{sv})', name, options(**more)))

    def listed(self, *names):
        iterate_until(lambda: self.names() == sorted(names), what=f'{names}')

    def install(self, source=None, **files):
        files = {'skills/saw/SKILL.md': SAW, **{path.replace('__', '/') + '/SKILL.md': text for path, text in files.items()}}
        return self.client.install(self.bundle('works', source, files=files))['id']

    def facts(self, plugin):
        return self.client.properties('Plugin', path=self.client.plugins()[plugin.rsplit('/', 1)[1]][1])

    def test_they_follow_trust_and_enabling_and_need_no_host(self):
        plugin = self.install(skills__bad='no front matter', skills__twin=SAW)
        self.assertEqual(self.names(), [])
        self.client.trust(plugin)
        self.assertEqual(self.names(), [])
        changed = self.client.signals('Skills', 'Changed')
        self.client.plugin('Enable', plugin)
        changed.wait()
        # What is no skill, and a second of the same name, are passed over: the review warned of the first.
        self.assertEqual(self.names(), ['works:saw'])
        skill = self.load()
        self.assertEqual((skill['instructions'], skill['plugin'], skill['entry'], skill['root']), ('Take a saw.\n', plugin, 'skills', 'skills'))
        none = self.client.call('Sessions', 'Open', '(a{sv})', options(plugins=GLib.Variant('as', ['other'])))
        only = self.client.call('Sessions', 'Open', '(a{sv})', options(plugins=GLib.Variant('as', ['works#skills'])))
        self.assertEqual((self.names(session=none), self.names(session=only)), ([], ['works:saw']))
        self.assertEqual(self.units.names(), [])
        receipt = skill['receipt']
        self.client.plugin('Disable', plugin)
        self.assertEqual(self.names(), [])
        self.assertFails('NoSuchSkill', self.load)
        self.client.plugin('Enable', plugin)
        self.listed('works:saw')
        self.assertFails('StaleSelection', self.load, receipt=receipt)
        self.load(receipt=self.describe()['receipt'])

        self.daemon.stop()
        self.daemon.start()
        self.client = self.connect()
        self.listed('works:saw')
        self.assertEqual(self.units.names(), [])

        source = self.daemon.home / 'plugins/works/skills/saw/SKILL.md'
        source.chmod(0o600)
        source.write_text(SAW.replace('saw.', 'hammer.'))
        self.assertFails('ContentChanged', self.load)
        self.listed()

    def test_a_folder_that_code_registers_too_holds_one_skill_each(self):
        self.approver()
        plugin = self.install(REGISTERS)
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        self.listed('works:saw')
        self.assertEqual(self.load()['entry'], 'native/main.mjs')
        self.client.tool('drop_skills')
        iterate_until(lambda: self.describe()['entry'] == 'skills')
        self.assertEqual(self.names(), ['works:saw'])

    def test_K04_too_many_are_told_and_none_is_listed(self):
        failed = self.client.signals('Plugins', 'Failed')
        plugin = self.install(**{f'skills__s{number}': SAW for number in range(128)})
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        self.assertEqual(failed.wait()[:2], (plugin, 'skills'))
        self.assertEqual(self.names(), [])
        self.assertIn('129', self.facts(plugin)['Failure'])


class WithoutExtensionHost(ServiceCase):
    config = '[trust]\nconfirm = "token"\n'

    def test_they_need_no_extension_host(self):
        plugin = self.client.install(self.bundle('works', files={'skills/saw/SKILL.md': SAW}))['id']
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        iterate_until(lambda: [row[0] for row in self.client.call('Skills', 'List', '(a{sv})', {})] == ['works:saw'])
