# SPDX-License-Identifier: MIT
"""Which modules a plugin gets, in the real sandbox of the real service (contract 3.4, rows A09 and L07): the sealed copy by hash, the
host's own copies by their exact names, and nothing else. The rules one by one are in host/test/lock.test.mjs."""

from codewhale import Approver, ServiceCase
from codewhale.bundle import tool_source

# What is loaded, and what of it shows that it really ran.
ADMITTED = {
    'imported': "(await import('./lib/one.mjs')).default",
    'computed': "(await import(['./lib', 'one.mjs'].join('/'))).default",
    'json': "(await import('./data.json', { with: { type: 'json' } })).default.value",
    'required': "createRequire(import.meta.url)('./two.cjs').value",
    'required-json': "createRequire(import.meta.url)('./data.json').value",
    'package': "(await import('inner')).default",
    'built-in': "(await import('node:path')).basename('/x/1')",
    'singleton': "(await import('cordis')).Context === (await import('@deepseek-ai/cordis')).Context && 1",
    'singleton-is-the-host\'s': "(await import('cordis')).Context.is(ctx) && 1",
}
REFUSED = {
    'package-of-the-machine': "import('undici')",
    'package-computed': "import(['left', 'pad'].join('-'))",
    'singleton-in-capitals': "import('Cordis')",
    'singleton-with-a-slash': "import('cordis/')",
    'file-of-a-singleton': "import('@deepseek-ai/cordis/package.json', { with: { type: 'json' } })",
    'singleton-with-a-query': "import('cordis?again')",
    'url-of-a-singleton': "import('codewhale:cordis')",
    'data': "import('data:text/javascript,export default 1')",
    'blob': "import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' })))",
    'http': "import('http://127.0.0.1/x.mjs')",
    'text-file': "import('./notes.txt')",
    'unlisted': "import('./nothing.mjs')",
    'host': "import('/host/codewhale-extension-host.mjs')",
    'system': "import('/usr/share/nodejs/undici/index.js')",
    'written': "import(written('own.mjs', 'export default 1'))",
    'written-json': "import(written('own.json', '1'), { with: { type: 'json' } })",
    'written-by-link': "import(linked('link.mjs', written('target.mjs', 'export default 1')))",
    'written-by-climbing': "import(`../../data/${written('climb.mjs', 'export default 1').slice(6)}`)",
    'written-by-escapes': "import(`file:///%64ata/${written('escape.mjs', 'export default 1').slice(6)}`)",
    'required-written': "createRequire(import.meta.url)(written('own.cjs', 'module.exports = 1'))",
    'required-from-there': "createRequire('/data/x.cjs')(written('own.cjs', 'module.exports = 1'))",
    'required-built-in': "createRequire(import.meta.url)('vm')",
    'built-in': "import('node:vm')",
    'built-in-computed': "import(`node:${['child', 'process'].join('_')}`)",
}
CODES = ('EXT_MODULE_REFUSED', 'EXT_MODULE_NOT_FOUND', 'EXT_MODULE_UNREVIEWED', 'EXT_MODULE_FORMAT')
PATCHES = '''
  Map.prototype.get = () => ({ sha256: '' })
  Map.prototype.has = Set.prototype.has = () => true
  String.prototype.startsWith = String.prototype.endsWith = () => true
  Array.prototype.includes = () => true
  Object.prototype['own.mjs'] = { sha256: '', erased: null }
  fs.readFileSync = () => 'export default 1'
  crypto.hash = () => ''
'''


def source():
    def rows(table):
        return ',\n'.join(f'{name!r}: async () => {code}' for name, code in table.items())
    return f'''
import crypto from 'node:crypto'
import fs from 'node:fs'
import {{ createRequire }} from 'node:module'
function written(name, text) {{ fs.writeFileSync(`/data/${{name}}`, text); return `/data/${{name}}` }}
function linked(name, target) {{ fs.rmSync(`/data/${{name}}`, {{ force: true }}); fs.symlinkSync(target, `/data/${{name}}`); return `/data/${{name}}` }}
''' + tool_source(f'''
  const found = {{}}
  if (input.patched) {{ {PATCHES} }}
  const rows = input.admitted ? {{ {rows(ADMITTED)} }} : {{ {rows(REFUSED)} }}
  for (const name in rows) {{
    if (!Object.hasOwn(rows, name)) continue
    try {{
      const got = await rows[name]()
      found[name] = input.admitted ? `${{got}}` : 'open'
    }} catch (error) {{ found[name] = `${{error.code ?? error}}` }}
  }}
  return found
''')


FILES = {
    'native/lib/one.mjs': 'export default 1\n', 'native/data.json': '{"value":1}', 'native/two.cjs': 'exports.value = 1\n',
    'native/notes.txt': 'a note\n', 'native/node_modules/inner/package.json': '{"name":"inner","main":"main.js"}',
    'native/node_modules/inner/main.js': 'module.exports = 1\n',
}


class Modules(ServiceCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(Approver(self.bus.address).close)
        self.client.bring_up(self.bundle('loader', source(), files=FILES))

    def attempt(self, **given):
        return self.client.tool('probe', given, seconds=60)['structured']

    def assertRefused(self, found):
        self.assertEqual(set(found), set(REFUSED))
        for name, code in found.items():
            # A link can't even be made.
            self.assertIn(code, ('ERR_ACCESS_DENIED',) if name == 'written-by-link' else CODES, f'{name}: {found}')

    def test_A09_L07_reviewed_files_and_shared_libraries(self):
        self.assertEqual(self.attempt(admitted=True), dict.fromkeys(ADMITTED, '1'))

    def test_A09_L04_nothing_else(self):
        self.assertRefused(self.attempt())

    def test_A09_nothing_else_after_patching_what_decides(self):
        self.assertRefused(self.attempt(patched=True))


