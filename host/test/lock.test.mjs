// SPDX-License-Identifier: MIT
//
// What an extension can not do from inside (contract 11.4), tried by extensions: the lock, and which modules they may load
import test from 'node:test'
import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256, withCore } from './harness.mjs'

const tool = (name, execute) => `ctx.tools.register({ name: '${name}', description: 'd', parameters: { type: 'object' }, execute: ${execute} })\n`
const module = (body, head = '') => `${head}\nexport const inject = ['tools']\nexport function apply(ctx) {\n${body}\n}\n`

/* Each attempt runs in the tool "attempt" and answers with the code of what it threw, or with "open". */
const trying = (attempts, head = '') => module(tool('attempt', `async ({ n }) => {
  const attempts = [${attempts.map(([, text]) => `async () => { ${text} }`).join(',\n')}]
  try {
    await attempts[n]()
    return 'open'
  } catch (error) {
    return String(error?.code ?? error?.name ?? error)
  }
}`), head)

async function tryAll(attempts, { head, files = {}, more = async () => {}, path = 'a.mjs' } = {}) {
  await withCore({ ...files, [path]: trying(attempts, head) }, async core => {
    await more(core)
    await core.activateOk(path)
    for (const [n, [what, , ...codes]] of attempts.entries()) {
      const { content: [{ text }] } = await core.call('attempt', { n })
      assert.ok(codes.includes(text), `${what}: ${text}`)
    }
    assert.deepEqual(await core.request('host/ping', {}), {})
  })
}

const REFUSED = 'EXT_HOST_REFUSED'
const NOT_ADMITTED = 'EXT_MODULE_REFUSED'
const MODULES = ['child_process', 'cluster', 'worker_threads', 'inspector', 'inspector/promises', 'vm', 'v8', 'wasi', 'sqlite', 'ffi', 'repl', 'test', 'sea', 'trace_events', 'sys', 'domain', 'dgram']

test('L01 the doors of process, also through the names that are imported', async () => {
  await tryAll([
    ['dlopen', `process.dlopen({ exports: {} }, '/x.node')`, REFUSED],
    ['imported dlopen', `named.dlopen({ exports: {} }, '/x.node')`, REFUSED],
    ['dlopen of the default export', `standard.dlopen({ exports: {} }, '/x.node')`, REFUSED],
    ['execve', `process.execve('/bin/true', ['true'], {})`, REFUSED],
    ['binding', `process.binding('spawn_sync')`, REFUSED],
    ['_linkedBinding', `process._linkedBinding('spawn_sync')`, REFUSED],
    ['kill', `process.kill(process.pid, 'SIGKILL')`, REFUSED],
    ['chdir', `process.chdir('/')`, REFUSED],
    ['_debugProcess', `process._debugProcess(process.pid)`, REFUSED],
    ['capture of exceptions', `process.setUncaughtExceptionCaptureCallback(() => {})`, REFUSED],
    ['handles', `process._getActiveHandles()`, REFUSED],
    ['report', `process.report.writeReport('x')`, REFUSED, 'ERR_ACCESS_DENIED'],
    ['replacing dlopen', `process.dlopen = () => {}`, 'TypeError'],
    ['replacing the handler of exceptions', `process._fatalException = () => {}`, 'TypeError'],
    ['replacing stdout', `process.stdout = null`, 'TypeError'],
    ['chdir that was replaced', `(process.chdir = () => {}, process.chdir('/'))`, REFUSED],
    ['Worker', `new Worker('x')`, 'ReferenceError', REFUSED],
    ['fetch', `fetch('http://127.0.0.1/')`, REFUSED],
    ['WebSocket', `new WebSocket('ws://127.0.0.1/')`, REFUSED],
    ['ShadowRealm', `new ShadowRealm()`, 'ReferenceError'],
  ], { head: `import * as named from 'node:process'\nimport standard from 'process'` })
})

test('what only computes works, also where the runtime loads it late', async () => {
  await tryAll([
    ['Response', `(() => { if (new Response('x').status === 200 && new Headers({ a: 'b' }).get('a') === 'b') throw new TypeError() })()`, 'TypeError'],
    ['structuredClone', `(() => { if (structuredClone({ a: 1 }).a === 1) throw new TypeError() })()`, 'TypeError'],
  ])
})

test('L03 process.exit and abort fail the call, the host lives', async () => {
  await tryAll([
    ['exit', `process.exit(3)`, REFUSED],
    ['imported exit', `exit(3)`, REFUSED],
    ['reallyExit', `process.reallyExit(3)`, REFUSED],
    ['abort', `process.abort()`, REFUSED],
  ], { head: `import { exit } from 'node:process'` })
})

test('L01 code from strings', async () => {
  await tryAll([
    ['eval', `eval('1')`, REFUSED],
    ['indirect eval', `(0, eval)('1')`, REFUSED],
    ['Function', `new Function('return 1')`, REFUSED],
    ['Reflect.construct', `Reflect.construct(Function, ['return 1'])`, REFUSED],
    ['constructor of a function', `(() => {}).constructor('return 1')`, REFUSED],
    ['async', `(async () => {}).constructor('return 1')`, REFUSED],
    ['generator', `(function* () {}).constructor('return 1')`, REFUSED],
    ['async generator', `(async function* () {}).constructor('return 1')`, REFUSED],
    ['prototype of the async constructor', `Object.getPrototypeOf((async () => {}).constructor)('return 1')`, REFUSED],
    ['subclass', `new (class extends Function {})('return 1')`, REFUSED],
    ['timer', `setTimeout('1')`, 'ERR_INVALID_ARG_TYPE'],
    ['replacing Function', `globalThis.Function = class {}`, 'TypeError'],
    ['data: import', `await import('data:text/javascript,export default 1')`, NOT_ADMITTED],
    ['blob: import', `await import(URL.createObjectURL(new Blob(['1'], { type: 'text/javascript' })))`, NOT_ADMITTED, 'EXT_MODULE_NOT_FOUND'],
  ])
})

for (const name of MODULES)
  test(`L01 the module ${name} is not to be had`, async () => {
    await tryAll([
      ['import', `await import('node:${name}')`, NOT_ADMITTED],
      ['bare import', `await import('${name}')`, NOT_ADMITTED, 'EXT_MODULE_NOT_FOUND'],
      ['require', `createRequire(import.meta.url)('node:${name}')`, NOT_ADMITTED],
      ['getBuiltinModule', `process.getBuiltinModule('node:${name}')`, NOT_ADMITTED],
      ['imported getBuiltinModule', `getBuiltinModule('node:${name}')`, NOT_ADMITTED],
    ], { head: `import { createRequire } from 'node:module'\nimport { getBuiltinModule } from 'node:process'` })
  })

test('L01 L02 the loader: hooks, its class, its functions, add-ons', async () => {
  await tryAll([
    ['registerHooks', `registerHooks({ resolve() {} })`, REFUSED],
    ['register', `Module.register('file:///x.mjs')`, REFUSED],
    ['syncBuiltinESMExports', `Module.syncBuiltinESMExports()`, REFUSED],
    ['_compile', `new Module('/x.cjs')._compile('1', '/x.cjs')`, REFUSED],
    ['_compile under an admitted name', `const m = new Module(import.meta.filename); m._compile('1', import.meta.dirname + '/lib.cjs')`, REFUSED],
    ['_load from nowhere', `Module._load('node:fs', null, false)`, NOT_ADMITTED],
    ['_load as somebody else', `Module._load('node:child_process', { filename: import.meta.filename, paths: [] }, false)`, NOT_ADMITTED],
    ['replacing _load', `Module._load = () => {}`, 'TypeError'],
    ['replacing _resolveFilename', `Module._resolveFilename = () => {}`, 'TypeError'],
    ['replacing _compile', `Module.prototype._compile = () => {}`, 'TypeError'],
    ['runMain', `Module.runMain('/x')`, REFUSED],
    ['.node', `require('./addon.node')`, 'EXT_MODULE_FORMAT', REFUSED],
    ['.node by its loader', `require.extensions['.node'](new Module('x'), '/x.node')`, REFUSED],
    ['.js by its loader', `require.extensions['.js'](new Module('/etc/x'), import.meta.dirname + '/unlisted.cjs')`, REFUSED, 'EXT_MODULE_UNREVIEWED', 'ERR_ACCESS_DENIED'],
    ['require from elsewhere', `createRequire('/elsewhere.cjs')('node:fs')`, NOT_ADMITTED],
    ['require as the host', `createRequire(process.argv[1])('node:child_process')`, NOT_ADMITTED],
    ['require of the host', `require(process.argv[1])`, NOT_ADMITTED, 'EXT_MODULE_NOT_FOUND'],
    ['the class of a module', `require('./lib.cjs').Module.registerHooks({})`, REFUSED],
  ], {
    head: `import Module, { createRequire, registerHooks } from 'node:module'\nconst require = createRequire(import.meta.url)`,
    files: { 'lib.cjs': `exports.Module = module.constructor`, 'addon.node': 'x' },
    more: async core => { core.inventory = (inventory => () => inventory)(core.inventory()); writeFileSync(join(core.root, 'unlisted.cjs'), '1') },
  })
})

for (const [what, text] of [['wrap', `Module.wrap = text => text.replace('reviewed', 'injected')`], ['wrapper', `Module.wrapper[0] += 'exports.injected = 1;'`], ['another wrapper', `Module.wrapper = ['(function () {', '})']`]])
  test(`L01 the loader does not compile through ${what} of an extension`, async () => {
    await tryAll([['require', `${text}; require('./lib.cjs')`, REFUSED]], {
      head: `import Module, { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)`,
      files: { 'lib.cjs': `exports.value = 'reviewed'` },
    })
  })

test('L05 __proto__ cannot be set or read', async () => {
  await tryAll([
    ['set', `({}).__proto__ = { polluted: true }`, 'ERR_PROTO_ACCESS'],
    ['get', `({}).__proto__`, 'ERR_PROTO_ACCESS'],
  ])
})

test('L files outside the grants stay closed', async () => {
  await tryAll([
    ['read', `fs.readFileSync('/etc/hostname')`, 'ERR_ACCESS_DENIED'],
    ['write in the plugin', `fs.writeFileSync(import.meta.dirname + '/x', '1')`, 'ERR_ACCESS_DENIED'],
    ['link', `fs.symlinkSync('/etc', 'link')`, 'ERR_ACCESS_DENIED'],
    ['write in the data directory', `fs.writeFileSync('x', '1')`, 'open'],
  ], { head: `import fs from 'node:fs'` })
})

test('L04 a missing package is not installed', async () => {
  await withCore({ 'a.mjs': module('', `import 'is-odd'`) }, async core => {
    const answer = await core.activate('a.mjs')
    assert.match(answer.diagnostic, /is-odd is not in the reviewed bundle/)
  })
})

test('L06 one plugin cannot patch a shared service for another', async () => {
  const patch = `
    const results = []
    for (const service of ['tools', 'storage', 'events', 'registry', 'reflect', 'logger']) {
      const target = ctx[service]
      const prototype = Object.getPrototypeOf(target)
      for (const name of ['register', 'get', 'on', 'plugin', 'provide', 'info'])
        if (name in prototype) try { prototype[name] = () => 'patched'; results.push(service + '.' + name) } catch {}
    }
    try { Object.getPrototypeOf(Object.getPrototypeOf(ctx)).extend = 1 } catch {}
    try { ctx.root.constructor.prototype.extend = null; results.push('Context.extend') } catch {}
    globalThis.patched = results`
  await withCore({
    'a.mjs': `export const inject = ['tools', 'storage']\nexport function apply(ctx) {${patch}\n}`,
    'b/b.mjs': module(tool('fine', `() => ({ patched: globalThis.patched })`)),
  }, async core => {
    await core.activateOk('a.mjs')
    await core.activateOk('b/b.mjs', { owner: core.owner('user/2/b') })
    assert.deepEqual((await core.call('fine')).structured, { patched: [] })
  })
})

test('L06 one plugin cannot remove the host or another plugin', async () => {
  await withCore({
    'a.mjs': module(tool('attack', `() => {
      const codes = []
      for (const callback of [...ctx.registry.keys()]) { try { ctx.registry.delete(callback); codes.push('removed') } catch (error) { codes.push(error.code) } }
      return codes
    }`)),
    'b/b.mjs': module(tool('fine', `() => 'fine'`)),
  }, async core => {
    await core.activateOk('a.mjs')
    await core.activateOk('b/b.mjs', { owner: core.owner('user/2/b') })
    const { structured } = await core.call('attack').catch(() => ({ structured: [] }))
    assert.ok(structured.includes('EXT_HOST_REFUSED') || structured.length === 0)
    assert.equal((await core.call('fine')).content[0].text, 'fine')
  })
})

test('L07 all plugins and the host see one Cordis, one schemastery, one cosmokit, one dsh-util-values', async () => {
  const head = `import { Context, Service } from '@deepseek-ai/cordis'
import z from 'schemastery'
import z2 from '@deepseek-ai/schemastery'
import { isNullable } from 'cosmokit'
import { deepEqualJson, snapshotJsonValue } from '@deepseek-ai/dsh-util-values'
import { isJsonValue } from 'dsh-util-values'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { CommandDefinitionId } from '@deepseek-ai/dsh-commands/brand'`
  const body = name => tool(name, `() => {
    const mine = [Context, z, isNullable, isJsonValue]
    globalThis.seen ??= mine
    const values = [isJsonValue({ a: [1] }), isJsonValue(() => 1), deepEqualJson({ a: 1, b: 2 }, { b: 2, a: 1 }), snapshotJsonValue({ a: [1] })]
    return [Context.is(ctx), z === z2, defineTool(z) === z, CommandDefinitionId('x'), typeof Service, ...values, globalThis.seen.every((value, i) => value === mine[i])]
  }`)
  await withCore({ 'a.mjs': module(body('one'), head), 'b/b.mjs': module(body('two'), head) }, async core => {
    await core.activateOk('a.mjs')
    await core.activateOk('b/b.mjs', { owner: core.owner('user/2/b') })
    for (const name of ['one', 'two']) assert.deepEqual((await core.call(name)).structured, [true, true, true, 'x', 'function', true, false, true, { a: [1] }, true])
  })
})

test('L a module of another host fails the activation and is named', async () => {
  await withCore({ 'a.mjs': module('', `import '@deepseek-ai/dsh-llm'`) }, async core => {
    assert.match((await core.activate('a.mjs')).diagnostic, /@deepseek-ai\/dsh-llm/)
  })
})

test('A09 every local module is admitted by its hash: imports, CommonJS, JSON, packages inside the bundle', async () => {
  await withCore({
    'a.mjs': module(tool('all', `async () => [one, two.value, three.value, four, five, (await import('./lazy.mjs')).default, createRequire(import.meta.url)('./six.json').six]`), `
import one from './lib/one.mjs'
import two from './two.cjs'
import three from './three.json' with { type: 'json' }
import four from './four.js'
import five from 'five'
import { createRequire } from 'node:module'`),
    'lib/one.mjs': `export default 1`,
    'two.cjs': `exports.value = require('./lib/two-b.cjs') + 1`,
    'lib/two-b.cjs': `module.exports = 1`,
    'three.json': `{"value":3}`,
    'four.js': `export default 4`,
    'lazy.mjs': `export default 'lazy'`,
    'six.json': `{"six":6}`,
    'node_modules/five/package.json': `{"name":"five","main":"main.js"}`,
    'node_modules/five/main.js': `module.exports = 5`,
  }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual((await core.call('all')).structured, [1, 2, 3, 4, 5, 'lazy', 6])
  })
})

const TAMPERED = {
  'an imported module': ['lib.mjs', `import './lib.mjs'`],
  'a CommonJS module': ['lib.cjs', `import './lib.cjs'`],
  'a module that is required': ['lib.cjs', `import { createRequire } from 'node:module'; createRequire(import.meta.url)('./lib.cjs')`],
  'a JSON module': ['lib.json', `import './lib.json' with { type: 'json' }`],
  'a module imported with a query': ['lib.mjs', `import './lib.mjs?fresh'`],
  'a module imported with escapes': ['lib.mjs', `import './%6cib.mjs'`],
  'a type-stripped module': ['lib.mts', `import './lib.mts'`],
}
for (const [what, [path, head]] of Object.entries(TAMPERED)) {
  test(`A09 ${what} that changed after review fails`, async () => {
    await withCore({ [path]: path.endsWith('json') ? '{}' : '', 'a.mjs': module('', head) }, async core => {
      const files = core.inventory()
      writeFileSync(join(core.root, path), path.endsWith('json') ? '{"x":1}' : 'globalThis.evil = 1')
      assert.match((await core.activate('a.mjs', { files })).diagnostic, /changed after review/)
    })
  })
  test(`A09 ${what} that is not in the reviewed list fails`, async () => {
    await withCore({ [path]: path.endsWith('json') ? '{}' : '', 'a.mjs': module('', head) }, async core => {
      const { [path]: left, ...files } = core.inventory()
      assert.ok(left)
      assert.match((await core.activate('a.mjs', { files })).diagnostic, /not in the reviewed list/)
    })
  })
}

test('A09 a link, and a module outside the root, are not followed', async () => {
  await withCore({ 'a.mjs': module('', `import './link.mjs'`), 'b.mjs': module('', `import '../outside.mjs'`), 'c.mjs': module('', `import 'file:///etc/hostname'`) }, async core => {
    writeFileSync(join(core.folder, 'outside.mjs'), '')
    symlinkSync(join(core.folder, 'outside.mjs'), join(core.root, 'link.mjs'))
    const files = core.inventory()
    for (const path of ['a.mjs', 'b.mjs', 'c.mjs']) assert.match((await core.activate(path, { files })).diagnostic, /not inside|not in the reviewed|denied|restricted/)
  })
})

test('A09 one plugin cannot load a module of another, and roots do not overlap', async () => {
  await withCore({ 'a.mjs': module('', '') }, async core => {
    const { mkdtempSync, writeFileSync: write } = await import('node:fs')
    const other = mkdtempSync(join(core.data, 'other-'))
    const text = module(tool('peek', `() => import(${JSON.stringify(`file://${core.root}/a.mjs`)}).then(() => 'open', error => error.code)`))
    write(join(other, 'b.mjs'), text)
    await core.activateOk('a.mjs')
    await core.activateOk('b.mjs', { owner: core.owner('user/2/b'), root: other, files: { 'b.mjs': { sha256: sha256(text) } } })
    assert.equal((await core.call('peek')).content[0].text, 'EXT_MODULE_REFUSED')
    const inner = await core.activate('b.mjs', { owner: core.owner('user/3/c'), root: join(other, 'inner'), files: { 'b.mjs': { sha256: sha256(text) } } })
    assert.match(inner.diagnostic, /overlaps/)
  })
})

test('A09 a plugin that patches what the host uses still gets no unreviewed module', async () => {
  await withCore({
    'a.mjs': module(tool('peek', `async () => {
      Map.prototype.get = () => ({ sha256: '' }); Map.prototype.has = () => true
      Object.prototype['evil.mjs'] = { sha256: '', erased: null }
      String.prototype.startsWith = () => true
      String.prototype.slice = () => 'a.mjs'
      Object.keys = () => []
      fs.readFileSync = () => 'globalThis.evil = 1'
      crypto.hash = () => ''
      crypto.createHash = () => ({ update() { return this }, digest: () => '' })
      Array.prototype.includes = () => true
      JSON.parse = () => ({})
      RegExp.prototype.test = () => true
      const codes = []
      for (const name of ['./evil.mjs', './evil.cjs']) codes.push(await import(name).then(() => 'open', error => error.code))
      return codes.join() + (globalThis.evil ?? '')
    }`), `import fs from 'node:fs'\nimport crypto from 'node:crypto'`),
  }, async core => {
    const files = core.inventory()
    writeFileSync(join(core.root, 'evil.mjs'), 'globalThis.evil = 1')
    writeFileSync(join(core.root, 'evil.cjs'), 'globalThis.evil = 1')
    await core.activateOk('a.mjs', { files })
    assert.equal((await core.call('peek')).content[0].text, 'EXT_MODULE_UNREVIEWED,EXT_MODULE_UNREVIEWED')
  })
})

test('A .mts is erased in process, or its erased text is loaded; what cannot be erased fails with the reason', async () => {
  await withCore({
    'a.mts': `const name: string = 'typed'\nexport const inject: string[] = ['tools']\nexport function apply(ctx: any) { ${tool('typed', `(): string => name`)} }`,
    'b.mts': `export const inject: string[] = ['tools']\nexport function apply(ctx: any) { ${tool('erased', `() => 'not this'`)} }`,
    'erased/b.mjs': module(tool('erased', `() => 'from the erased text'`)),
    'c.mts': `enum Color { Red }\nexport function apply() { Color.Red }`,
    'd.mts': `export function apply(ctx: any) {}`,
  }, async core => {
    const files = core.inventory()
    files['b.mts'].erased = { path: 'erased/b.mjs', sha256: files['erased/b.mjs'].sha256 }
    files['d.mts'].erased = { path: 'erased/b.mjs', sha256: sha256('something else') }
    await core.activateOk('a.mts', { files })
    await core.activateOk('b.mts', { files })
    assert.equal((await core.call('typed')).content[0].text, 'typed')
    assert.equal((await core.call('erased')).content[0].text, 'from the erased text')
    assert.match((await core.activate('c.mts', { files })).diagnostic, /enum/)
    assert.match((await core.activate('d.mts', { files })).diagnostic, /erased\/b.mjs changed after review/)
  })
})

test('A an entry of another kind, or outside the list, is refused', async () => {
  await withCore({ 'a.cjs': '', 'a.ts': '', 'a.mjs': '' }, async core => {
    for (const path of ['a.cjs', 'a.ts']) assert.match((await core.activate(path)).diagnostic, /no entry/)
    assert.match((await core.activate('b.mjs')).diagnostic, /not in the reviewed list/)
  })
})

test('L08 a tool that takes too much memory does not take the host along', { skip: 'the limits are the unit\'s: tests/integration' }, () => {})

test('strip: the tier erases types and nothing else', async () => {
  await withCore({}, async core => {
    assert.equal(core.hello.tier, 'strip')
    assert.deepEqual(await core.request('strip/module', { path: 'a.mts', source: 'const a: number = 1' }), { code: 'const a         = 1' })
    await assert.rejects(core.request('strip/module', { path: 'a.mts', source: 'enum A { B }' }), { code: -32000, message: /a\.mts.*enum/ })
    await assert.rejects(core.request('ext/deactivate', { owner: core.owner() }), { code: -32601 })
  }, { tier: 'strip' })
})
