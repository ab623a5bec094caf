// SPDX-License-Identifier: MIT
//
// Entries, owners and what they leave behind (contract 11.7)
import test from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256, withCore } from './harness.mjs'

const tool = (name, execute = '() => "ok"', extra = '') => `
  ctx.tools.register({ name: '${name}', description: 'd', parameters: { type: 'object' }, execute: ${execute} })${extra}`
const module = (body, inject = ['tools']) => `export const inject = ${JSON.stringify(inject)}\nexport function apply(ctx, config) {${body}\n}\n`
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

test('A01 two entries of one plugin are live under one owner', async () => {
  await withCore({ 'a.mjs': module(tool('one')), 'b.mjs': module(tool('two')) }, async core => {
    assert.deepEqual(await core.activateOk('a.mjs'), { status: 'ok', tools: ['one'], commands: [] })
    assert.deepEqual(await core.activateOk('b.mjs'), { status: 'ok', tools: ['two'], commands: [] })
    assert.equal((await core.call('one')).content[0].text, 'ok')
    assert.equal((await core.call('two')).content[0].text, 'ok')
    assert.deepEqual(core.registered.map(({ scope }) => scope.path), ['a.mjs', 'b.mjs'])
  })
})

test('A02 a failing entry leaves its siblings, later ones still run, the reason is told', async () => {
  await withCore({
    'a.mjs': module(tool('one')),
    'b.mjs': module(tool('two', undefined, `\n  throw new Error('the second is broken')`)),
    'c.mjs': module(tool('three')),
  }, async core => {
    await core.activateOk('a.mjs')
    const failed = await core.activate('b.mjs')
    assert.equal(failed.status, 'failed')
    assert.match(failed.diagnostic, /the second is broken/)
    await core.activateOk('c.mjs')
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['one', 'three'])
    assert.equal((await core.call('one')).content[0].text, 'ok')
    assert.deepEqual(await core.deactivate('b.mjs'), { disposed: true, leaked: [] })
    assert.equal(core.notifications.filter(({ method }) => method === 'log').length, 0)
  })
})

test('A05 a scope that is not the entry is refused', async () => {
  await withCore({ 'a.mjs': module(tool('one')) }, async core => {
    const params = core.activateParams('a.mjs', { scope: { path: 'b.mjs', sha256: sha256('') } })
    await assert.rejects(core.request('ext/activate', params), { code: -32602 })
    const other = core.activateParams('a.mjs', { scope: { path: 'a.mjs', sha256: sha256('x') } })
    await assert.rejects(core.request('ext/activate', other), { code: -32602 })
    assert.equal(core.registered.length, 0)
  })
})

const PROVIDERS = {
  'an approval service': `ctx.provide('approval', {})`,
  'an approval service through the root': `ctx.root.provide('approval', {})`,
  'an approval service through the real root': `Object.getPrototypeOf(Object.getPrototypeOf(ctx)).provide?.('approval', {}); ctx.root.reflect.provide('approval', {})`,
  'an approval service, swallowing the error': `try { ctx.provide('approval', {}) } catch {}`,
  'an approval service through the prototype': `Object.getPrototypeOf(ctx.reflect).provide.call(ctx.reflect, 'approval', {})`,
  'tools': `ctx.reflect.provide('tools', {})`,
  'an agent loop': `ctx.provide('runtimeLoop', {})`,
}
for (const [what, body] of Object.entries(PROVIDERS))
  test(`A06 providing ${what} fails and leaves nothing registered`, async () => {
    await withCore({ 'a.mjs': module(`${tool('one')}\n${body}`) }, async core => {
      const answer = await core.activate('a.mjs')
      assert.equal(answer.status, 'failed')
      assert.match(answer.diagnostic, /may not provide/)
      assert.deepEqual(core.registered, [])
    })
  })

test('A06 a name of its own may be provided, and ends with the entry', async () => {
  await withCore({
    'a.mjs': `export const inject = ['tools']
export function apply(ctx) {
  ctx.provide('notebook', { read: () => 'note' })
  ctx.inject(['notebook'], inner => { inner.tools.register({ name: 'note', description: '', parameters: { type: 'object' }, execute: () => inner.notebook.read() }) })
}`,
  }, async core => {
    assert.deepEqual((await core.activateOk('a.mjs')).tools, ['note'])
    assert.equal((await core.call('note')).content[0].text, 'note')
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: true, leaked: [] })
    assert.deepEqual(core.registered, [])
  })
})

test('A07 a service that is missing fails the activation and is named', async () => {
  await withCore({ 'a.mjs': module(tool('one'), ['tools', 'weather', 'avatars']) }, async core => {
    const answer = await core.activate('a.mjs')
    assert.equal(answer.status, 'failed')
    assert.match(answer.diagnostic, /weather, avatars/)
  })
})

test('A07 a service that is used without inject fails, one of Cordis own may be named or not', async () => {
  await withCore({
    'a.mjs': module(tool('one'), []),
    'b.mjs': module(`${tool('two')}\n  ctx.logger.info('here')`, ['tools', 'logger', 'events', 'reflect', 'registry']),
  }, async core => {
    assert.match((await core.activate('a.mjs')).diagnostic, /tools.*inject/)
    await core.activateOk('b.mjs')
    await core.waitFor('log', ({ msg }) => msg === 'here')
  })
})

test('A08 A10 a refusal fails the entry with the reason of the core and rolls back the rest', async () => {
  await withCore({ 'a.mjs': module(`${tool('one')}${tool('read')}${tool('three')}`) }, async core => {
    const admit = core.handlers['registry/register']
    core.handlers['registry/register'] = params => params.spec.name === 'read' ? { refused: 'read is the name of a native tool' } : admit(params)
    const answer = await core.activate('a.mjs')
    assert.equal(answer.status, 'failed')
    assert.match(answer.diagnostic, /tool:read.*read is the name of a native tool/)
    assert.deepEqual(core.registered, [])
  })
})

test('A09 an entry that changed after review fails', async () => {
  await withCore({ 'a.mjs': module(tool('one')) }, async core => {
    const files = core.inventory()
    writeFileSync(join(core.root, 'a.mjs'), module(tool('evil')))
    const answer = await core.activate('a.mjs', { files })
    assert.equal(answer.status, 'failed')
    assert.match(answer.diagnostic, /changed after review/)
    assert.deepEqual(core.registered, [])
  })
})

test('A11 withdrawal while activating answers failed and withdrawn, never a late success', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
export async function apply(ctx) {${tool('one')}
  await new Promise(resolve => setTimeout(resolve, 600))
}` }, async core => {
    const activation = core.activate('a.mjs')
    await core.until(() => core.registered.length > 0)
    const deactivation = core.deactivate()
    const answer = await activation
    assert.equal(answer.status, 'failed')
    assert.match(answer.diagnostic, /withdrawn/)
    assert.deepEqual(await deactivation, { disposed: true, leaked: [] })
    assert.deepEqual(core.registered, [])
  })
})

test('A12 an activation that takes too long fails', async () => {
  const options = { 'a.mjs': `export const inject = ['tools']\nexport async function apply(ctx) {${tool('one')}\n  await new Promise(() => {})\n}` }
  await withCore(options, async core => {
    const answer = await core.activate('a.mjs')
    assert.equal(answer.status, 'failed')
    assert.match(answer.diagnostic, /5000 ms/)
    const ended = await core.deactivate('a.mjs')
    assert.equal(ended.disposed, false)
    assert.deepEqual(ended.leaked, ['effect:apply'])
  })
})

test('A13 a cleanup that never ends is named, its sibling is unaffected', async () => {
  await withCore({
    'a.mjs': module(`${tool('one')}
  ctx.effect(() => () => new Promise(() => {}), 'the connection')
  ctx.effect(() => () => {}, 'quick')`),
    'b.mjs': module(tool('two')),
  }, async core => {
    await core.activateOk('a.mjs')
    await core.activateOk('b.mjs')
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: false, leaked: ['effect:the connection'] })
    assert.equal((await core.call('two')).content[0].text, 'ok')
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['two'])
  })
})

const EVERY_KIND = `
  ctx.tools.register({ name: 'one', description: 'd', parameters: { type: 'object' }, execute: () => 1 })
  ctx.commands.register({ name: 'two', description: 'd', handler() {} })
  ctx.on('tools/pre-execute', () => {})
  ctx.prompt.registerSection({ id: 'four', text: 'x' })
  ctx.prompt.registerSection({ id: 'five', text: '{{cwd}}', interpolate: 'model-cwd' })
  ctx.skills.registerRoot({ path: 'six' })
  ctx.mcp.registerServer({ serverName: 'seven', server: { type: 'stdio', command: 'x' } })
  ctx.shellHooks.register({ dialect: 'codex', point: 'Stop', hook: { event: 'turn_end', command: 'x', timeout_secs: 1, background: false, continue_on_error: false, name: 'eight' } })`
test('A13 a registration of any kind whose withdrawal is not answered is a leak with its own label', async () => {
  await withCore({ 'a.mjs': module(EVERY_KIND, ['tools', 'commands', 'prompt', 'skills', 'mcp', 'shellHooks']) }, async core => {
    await core.activateOk('a.mjs')
    core.handlers['registry/unregister'] = () => new Promise(() => {})
    const { disposed, leaked } = await core.deactivate('a.mjs')
    assert.equal(disposed, false)
    assert.deepEqual(leaked.sort(), ['command:two', 'hook:tools/pre-execute', 'mcp_server:seven', 'prompt_section:five', 'prompt_section:four',
      'shell_hook:eight', 'skill_root:six', 'tool:one'])
  })
})

test('A17 the end of one entry leaves equal names of its siblings', async () => {
  await withCore({ 'a.mjs': module(tool('same', '() => "a"')), 'b.mjs': module(tool('same', '() => "b"')) }, async core => {
    await core.activateOk('a.mjs')
    await core.activateOk('b.mjs')
    assert.equal(core.registered.length, 2)
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: true, leaked: [] })
    assert.deepEqual(core.registered.map(({ scope }) => scope.path), ['b.mjs'])
    assert.equal((await core.call('same')).content[0].text, 'b')
  })
})

test('A13 a failed entry whose cleanup does not end is remembered', async () => {
  await withCore({ 'a.mjs': module(`ctx.effect(() => () => new Promise(() => {}), 'stuck')\n  throw new Error('broken')`) }, async core => {
    assert.match((await core.activate('a.mjs')).diagnostic, /broken/)
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: false, leaked: ['effect:stuck'] })
  })
})

test('A14 an asynchronous disposer is awaited', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools', 'logger']
export function apply(ctx) {
  return async () => {
    await new Promise(resolve => setTimeout(resolve, 300))
    console.log('cleaned up')
  }
}` }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: true, leaked: [] })
    await core.heard(/cleaned up/)
  })
})

test('A15 a disposer may be called twice, before admission, and after teardown', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools', 'commands']
let kept
export function apply(ctx) {
  const early = ctx.tools.register({ name: 'early', description: '', parameters: { type: 'object' }, execute: () => 1 })
  early()
  early()
  kept = ctx.tools.register({ name: 'kept', description: '', parameters: { type: 'object' }, execute: () => { kept(); kept(); return 'gone' } })
  globalThis.kept = kept
}`, 'b.mjs': `export const inject = ['tools']
export const apply = ctx => { ctx.tools.register({ name: 'late', description: '', parameters: { type: 'object' }, execute: () => { globalThis.kept(); return 'still here' } }) }` }, async core => {
    assert.deepEqual((await core.activateOk('a.mjs')).tools, ['kept'])
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['kept'])
    await core.activateOk('b.mjs')
    await assert.rejects(core.call('kept'), { code: -32001 })
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['late'])
    assert.deepEqual(await core.deactivate('a.mjs'), { disposed: true, leaked: [] })
    assert.equal((await core.call('late')).content[0].text, 'still here')
  })
})

test('A15 P04 a replacement of a proposal that was withdrawn before its answer keeps its own handle', async () => {
  await withCore({ 'a.mjs': `export const inject = ['prompt']
export function apply(ctx) {
  const first = ctx.prompt.registerSection({ id: 'same', text: 'first' })
  first()
  ctx.prompt.registerSection({ id: 'same', text: 'second' })
}` }, async core => {
    core.handlers['registry/register'] = async params => {
      if (core.registered.some(({ spec }) => spec.name === params.spec.name)) return { refused: 'the id is taken' }
      const answer = core.admit(params)
      await sleep(50)
      return answer
    }
    await core.activateOk('a.mjs')
    assert.deepEqual(core.registered.map(({ spec }) => spec.description), ['second'])
  })
})

test('A16 a stale token cannot deactivate', async () => {
  await withCore({ 'a.mjs': module(tool('one')) }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(await core.request('ext/deactivate', { owner: { ...core.owner(), owner_token: sha256('stale') } }), { disposed: true, leaked: [] })
    assert.deepEqual(await core.request('ext/deactivate', { owner: { ...core.owner(), generation: 2 } }), { disposed: true, leaked: [] })
    assert.equal((await core.call('one')).content[0].text, 'ok')
  })
})

test('A16 registering after the owner was disposed is "not live"', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
export function apply(ctx) {
  setTimeout(() => {
    try {
      ctx.tools.register({ name: 'late', description: '', parameters: { type: 'object' }, execute: () => 1 })
    } catch (error) { console.log('refused: ' + error.message) }
  }, 200)
}` }, async core => {
    await core.activateOk('a.mjs')
    await core.deactivate()
    await core.heard(/refused: .*not live/)
    assert.deepEqual(core.registered, [])
  })
})

test('TR-17 registering in the own clean-up, and while that goes on, is refused', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
export function apply(ctx) {
  const attempt = when => {
    try {
      ctx.tools.register({ name: 'late', description: '', parameters: { type: 'object' }, execute: () => 1 })
      console.log('taken ' + when)
    } catch (error) { console.log('refused ' + when + ': ' + error.message) }
  }
  ctx.effect(() => async () => {
    attempt('at once')
    await new Promise(resolve => setTimeout(resolve, 100))
    attempt('after a while')
  })
}` }, async core => {
    await core.activateOk('a.mjs')
    await core.deactivate()
    await core.heard(/refused at once: /)
    await core.heard(/refused after a while: /)
    assert.deepEqual(core.registered, [])
  })
})

test('A18 A19 an error outside a call faults the owner whose code it is, and no other', async () => {
  await withCore({
    'a.mjs': module(`${tool('one')}\n  setTimeout(() => { throw new Error('from a timer') }, 100)`),
    'other/b.mjs': module(tool('two')),
    'third/c.mjs': module(`${tool('three')}\n  setTimeout(() => Promise.reject(new Error('from a promise')), 250)`),
  }, async core => {
    const files = core.inventory()
    const at = (path, name) => core.activate(path, { owner: core.owner(`user/1/${name}`), files })
    assert.equal((await at('a.mjs', 'a')).status, 'ok')
    assert.equal((await at('other/b.mjs', 'b')).status, 'ok')
    assert.equal((await at('third/c.mjs', 'c')).status, 'ok')
    const first = await core.waitFor('ext/faulted')
    assert.equal(first.params.owner.plugin_id, 'user/1/a')
    assert.match(first.params.error, /from a timer/)
    const second = await core.waitFor('ext/faulted', ({ owner }) => owner.plugin_id !== 'user/1/a')
    assert.equal(second.params.owner.plugin_id, 'user/1/c')
    assert.match(second.params.error, /from a promise/)
    assert.equal((await core.call('two')).content[0].text, 'ok')
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['two'])
    assert.equal(core.notifications.filter(({ method }) => method === 'ext/faulted').length, 2)
  })
})

test('A18 an error in a listener of exec.signal is that of its own plugin', async () => {
  const deaf = `(input, { signal }) => new Promise(() => signal.addEventListener('abort', () => { throw new Error('in the listener') }))`
  await withCore({ 'a.mjs': module(tool('one', deaf)), 'b/b.mjs': module(tool('two')) }, async core => {
    await core.activateOk('a.mjs', { owner: core.owner('user/1/a') })
    await core.activateOk('b/b.mjs', { owner: core.owner('user/1/b') })
    const call = core.call('one')
    core.cancel(call)
    await assert.rejects(call, { code: -32800 })
    const { params } = await core.waitFor('ext/faulted')
    assert.equal(params.owner.plugin_id, 'user/1/a')
    assert.equal((await core.call('two')).content[0].text, 'ok')
  })
})

test('A26 identical bytes get a new owner in the same process; the old handles are not available', async () => {
  await withCore({ 'a.mjs': module(tool('one')) }, async core => {
    await core.activateOk('a.mjs')
    const old = core.handleOf('one')
    await core.deactivate()
    await core.activateOk('a.mjs', { owner: core.owner('user/0a1b/sample', 2) })
    assert.notEqual(core.handleOf('one'), old)
    await assert.rejects(core.request('tool/call', { handle: old, call_id: 'c', input: {}, deadline_ms: 1000 }), { code: -32001 })
    assert.equal((await core.call('one')).content[0].text, 'ok')
  })
})

test('A26 a new owner of a plugin takes the place of one that was not deactivated', async () => {
  await withCore({ 'a.mjs': module(tool('one')) }, async core => {
    await core.activateOk('a.mjs')
    const old = core.handleOf('one')
    await core.activateOk('a.mjs', { owner: core.owner('user/0a1b/sample', 2) })
    await assert.rejects(core.request('tool/call', { handle: old, call_id: 'c', input: {}, deadline_ms: 1000 }), { code: -32001 })
    assert.deepEqual(core.registered.map(({ owner }) => owner.generation), [2])
  })
})

test('A the same entry twice is refused, other bytes under a known root as well', async () => {
  await withCore({ 'a.mjs': module(tool('one')), 'b.mjs': module(tool('two')) }, async core => {
    await core.activateOk('a.mjs')
    assert.match((await core.activate('a.mjs')).diagnostic, /active already/)
    const files = { ...core.inventory(), 'a.mjs': { sha256: sha256('other') } }
    assert.match((await core.activate('b.mjs', { files })).diagnostic, /another hash/)
  })
})

const SHAPES = {
  'a default function': `export default function sample(ctx) { used(ctx) }`,
  'a default arrow function': `export default ctx => { used(ctx) }`,
  'a default object': `export default { name: 'sample', inject: ['tools'], apply(ctx) { used(ctx) } }`,
  'an asynchronous function': `export async function apply(ctx) { await null; used(ctx) }`,
  'a generator of disposers': `export function* apply(ctx) { used(ctx); yield () => console.log('disposed') }`,
  'a class': `export default class Sample { static inject = ['tools']; constructor(ctx) { used(ctx) } }`,
}
for (const [what, text] of Object.entries(SHAPES))
  test(`A an entry may be ${what}`, async () => {
    const inject = text.includes('inject') ? '' : `export const inject = ['tools']\n`
    await withCore({ 'a.mjs': `${inject}const used = ctx => {${tool('one')} }\n${text}` }, async core => {
      assert.deepEqual((await core.activateOk('a.mjs')).tools, ['one'])
      assert.deepEqual(await core.deactivate(), { disposed: true, leaked: [] })
      if (text.includes('disposed')) await core.heard(/disposed/)
    })
  })

test('A a module that exports no plugin, or throws, or cannot be parsed fails with the reason', async () => {
  await withCore({
    'nothing.mjs': `export const answer = 42`,
    'throws.mjs': `throw new RangeError('at import')`,
    'syntax.mjs': `export function apply() {}\n\nsyntax error here(\n`,
    'deep.mjs': `import './lib/broken.mjs'\nexport const apply = () => {}`,
    'lib/broken.mjs': `export const a = 1\nexport const b = {\n  c: 1\n  d: 2\n}`,
    'missing.mjs': `import { nothing } from './lib/fine.mjs'\nexport const apply = () => nothing`,
    'lib/fine.mjs': `export const something = 1`,
    'json.mjs': `export const apply = () => { JSON.parse('{') }`,
    'types.mts': `export const apply = () => {}\nenum Color { Red }`,
    'hostile.mjs': `export const apply = () => { throw { get stack() { throw new Error('no stack') }, get message() { throw new Error('no message') } } }`,
    'config.mjs': `export const Config = 1\nexport const apply = () => {}`,
  }, async core => {
    assert.match((await core.activate('nothing.mjs')).diagnostic, /exports no plugin/)
    assert.match((await core.activate('throws.mjs')).diagnostic, /RangeError: at import \(throws\.mjs:1:7\)/)
    assert.match((await core.activate('syntax.mjs')).diagnostic, /SyntaxError: Unexpected identifier 'error' \(syntax\.mjs, line 3\)/)
    assert.match((await core.activate('deep.mjs')).diagnostic, /SyntaxError: .* \(lib\/broken\.mjs, line 4\)/)
    assert.match((await core.activate('missing.mjs')).diagnostic, /SyntaxError: .*nothing/)
    assert.match((await core.activate('json.mjs')).diagnostic, /SyntaxError: .*JSON.* \(json\.mjs:1:35\)/)
    assert.match((await core.activate('types.mts')).diagnostic, /types\.mts needs more than erasing its types: line 2: .*enum/)
    assert.match((await core.activate('hostile.mjs')).diagnostic, /an error that cannot be read/)
    assert.match((await core.activate('config.mjs')).diagnostic, /not a schema/)
  })
})

test('A config is validated by the schema of the entry, with defaults', async () => {
  const files = { 'a.mjs': `import z from 'schemastery'
export const inject = ['tools']
export const Config = z.object({ greeting: z.string().default('Hello'), times: z.number() })
export function apply(ctx, config) {${tool('one', '() => config')}
}` }
  await withCore(files, async core => {
    const failed = await core.activate('a.mjs', { config: { greeting: 'Hi', times: 'many' } })
    assert.equal(failed.status, 'failed')
    assert.match(failed.diagnostic, /times/)
    assert.deepEqual(core.registered, [])
    await core.activateOk('a.mjs', { config: { times: 3 } })
    assert.deepEqual((await core.call('one')).structured, { greeting: 'Hello', times: 3 })
  })
})
