# SPDX-License-Identifier: MIT
"""What plugins store, as they and as the person who owns it see it (contract 4.4)."""

import json

from codewhale import ServiceCase, tool_source


class Storage(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        body = "const { storage } = ctx; return JSON.stringify(await (async () => { %s })() ?? null)"
        more = '\n'.join(
            f"ctx.tools.register({{ name: '{name}', description: 'd', parameters: {{ type: 'object' }}, "
            f"async execute(input) {{ {body % code} }} }})" for name, code in {
                'do_set': "await storage.set(input.key, input.value)",
                'do_get': 'return storage.get(input.key)',
                'do_read': 'return storage.getVersioned(input.key)',
                'do_swap': 'return storage.compareAndSet(input.key, input.version, input.value)',
                'do_many': "await storage.set('k', 'x'.repeat(8000)); return (await Promise.all(Array.from({ length: 400 },"
                           " () => storage.get('k')))).filter(value => value.length === 8000).length",
                'do_fail': "return storage.set(input.key, 1).then(() => 'ok', error => error.code)",
            }.items())
        self.plugin = self.client.bring_up(self.bundle('keeper', tool_source("return 1", more=more, inject=('tools', 'storage'))))

    def do(self, verb, **arguments):
        return json.loads(self.client.tool(f'do_{verb}', arguments)['content'][0]['text'])

    def usage(self):
        return json.loads(self.client.call('Storage', 'Usage', '(s)', self.plugin))

    def test_G11_compare_and_set(self):
        self.assertIsNone(self.do('read', key='n'))
        first = self.do('swap', key='n', value=1)
        self.assertIsNone(self.do('swap', key='n', value=2))
        self.assertEqual(self.do('read', key='n'), {'value': 1, 'version': first})
        second = self.do('swap', key='n', version=first, value=2)
        self.assertNotEqual(first, second)
        self.assertIsNone(self.do('swap', key='n', version=first, value=3))
        self.assertEqual(self.do('get', key='n'), 2)

    def test_F09_F07_every_one_of_many_requests_at_once_is_answered(self):
        self.assertEqual(self.do('many'), 400)

    def test_G08_a_damaged_record_is_kept_until_a_person_repairs(self):
        self.do('set', key='a', value='x' * 500)
        self.do('set', key='b', value=2)
        folder = next(path for path in self.daemon.home.rglob('storage-v1'))
        largest = max(folder.glob('*.json'), key=lambda path: path.stat().st_size)
        largest.write_bytes(largest.read_bytes()[:77])
        self.assertFails('Corrupt', self.client.call, 'Storage', 'Get', '(ss)', self.plugin, 'a')
        self.assertEqual(self.do('fail', key='a'), 'corrupt')
        self.assertEqual(self.do('get', key='b'), 2)
        self.assertEqual(self.usage()['damaged'], [largest.name])
        self.assertEqual(self.client.call('Storage', 'Repair', '(s)', self.plugin), 1)
        self.assertEqual(self.usage()['damaged'], [])
        self.assertEqual(len(list(folder.glob('damaged-*'))), 1)
        self.assertEqual(self.do('fail', key='a'), 'ok')
        self.assertEqual(self.client.call('Storage', 'Repair', '(s)', self.plugin), 0)
