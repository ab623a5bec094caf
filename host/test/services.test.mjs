// SPDX-License-Identifier: MIT
//
// The services as an author uses them (contract 11.9 to 11.12, 11.14)
import test from 'node:test'
import assert from 'node:assert/strict'
import { withCore } from './harness.mjs'

const ALL = ['tools', 'commands', 'prompt', 'storage', 'skills', 'mcp', 'shellHooks']
const module = body => `export const inject = ${JSON.stringify(ALL)}\nexport function apply(ctx, config) {\n${body}\n}\n`
const tool = (name, execute) => `ctx.tools.register({ name: '${name}', description: 'd', parameters: { type: 'object' }, execute: ${execute} })\n`

/* One tool "try" that runs the body with (ctx, input, exec) */
const trying = body => ({ 'a.mjs': module(tool('attempt', `async (input, exec) => { ${body} }`)) })
const attempt = (body, check, input = {}, more = {}) => withCore(trying(body), async core => {
  await core.activateOk('a.mjs')
  await check(core, await core.call('attempt', input, more))
})

test('O05 the registration that reaches the core is the text of the moment', async () => {
  await withCore({ 'a.mjs': module(`
    const parameters = { type: 'object', properties: { label: { type: 'string' } } }
    const given = { name: 'snapshot', description: 'before', parameters, execute: () => 'ok' }
    ctx.tools.register(given)
    given.description = 'after'
    parameters.properties.label.type = 'number'`) }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(core.registered[0].spec, {
      name: 'snapshot', description: 'before', input_schema: { type: 'object', properties: { label: { type: 'string' } } },
    })
  })
})

const BAD_TOOLS = {
  'no name': `{ description: '', parameters: {}, execute() {} }`,
  'no description': `{ name: 'x', parameters: {}, execute() {} }`,
  'no parameters': `{ name: 'x', description: '', execute() {} }`,
  'no function': `{ name: 'x', description: '', parameters: {}, execute: 1 }`,
  'a cycle in parameters': `(() => { const p = {}; p.p = p; return { name: 'x', description: '', parameters: p, execute() {} } })()`,
  'a getter in parameters': `{ name: 'x', description: '', parameters: { get type() { return 'object' } }, execute() {} }`,
  'an unknown member': `{ name: 'x', description: '', parameters: {}, execute() {}, approve: true }`,
  'half of a surrogate pair': `{ name: 'x', description: '\\ud800', parameters: {}, execute() {} }`,
  'nothing': `undefined`,
}
for (const [what, given] of Object.entries(BAD_TOOLS))
  test(`O05 a tool with ${what} is refused without asking the core`, async () => {
    await withCore({ 'a.mjs': module(`ctx.tools.register(${given})`) }, async core => {
      assert.equal((await core.activate('a.mjs')).status, 'failed')
      assert.deepEqual(core.registered, [])
    })
  })

test('O09 registering again under the same name leaves the new handle in charge, A17 the old disposer does not touch it', async () => {
  await withCore({ 'a.mjs': module(`
    const first = ctx.tools.register({ name: 'same', description: '', parameters: { type: 'object' }, execute: () => 'first' })
    ctx.tools.register({ name: 'same', description: '', parameters: { type: 'object' }, execute: () => { first(); return 'second' } })`) }, async core => {
    core.handlers['registry/register'] = params => {
      core.registered = core.registered.filter(({ spec }) => spec.name !== params.spec.name)
      return core.admit(params)
    }
    assert.deepEqual((await core.activateOk('a.mjs')).tools, ['same'])
    assert.equal((await core.call('same')).content[0].text, 'second')
    assert.equal((await core.call('same')).content[0].text, 'second')
  })
})

const RESULTS = [
  ['a text', `'plain'`, { content: [{ type: 'text', text: 'plain' }], is_error: false }],
  ['an empty text', `''`, { content: [{ type: 'text', text: '' }], is_error: false }],
  ['an object', `({ a: [1, null, true], b: 'x' })`, {
    content: [{ type: 'text', text: '{"a":[1,null,true],"b":"x"}' }], is_error: false, structured: { a: [1, null, true], b: 'x' },
  }],
  ['a number', `42`, { content: [{ type: 'text', text: '42' }], is_error: false, structured: 42 }],
  ['null', `null`, { content: [{ type: 'text', text: 'null' }], is_error: false, structured: null }],
  ['a promise', `Promise.resolve('later')`, { content: [{ type: 'text', text: 'later' }], is_error: false }],
  ['large digits in a text', `'9007199254740993'`, { content: [{ type: 'text', text: '9007199254740993' }], is_error: false }],
  ['half of a surrogate pair', `'a\\ud800b'`, { content: [{ type: 'text', text: 'a\ufffdb' }], is_error: false }],
  ['an own __proto__', `JSON.parse('{"__proto__":{"x":1}}')`, {
    content: [{ type: 'text', text: '{"__proto__":{"x":1}}' }], is_error: false, structured: JSON.parse('{"__proto__":{"x":1}}'),
  }],
]
test('O11 results: text is one block, JSON is kept and rendered', async () => {
  await withCore({ 'a.mjs': module(RESULTS.map(([, value], i) => tool(`r${i}`, `() => (${value})`)).join('')) }, async core => {
    await core.activateOk('a.mjs')
    for (const [i, [what, , expected]] of RESULTS.entries()) assert.deepEqual(await core.call(`r${i}`), expected, what)
  })
})

const NOT_JSON = [
  'undefined', 'NaN', 'Infinity', '-Infinity', '10n', 'new Date(0)', '() => 1', 'Symbol("s")', '[1, , 2]', '({ [Symbol("s")]: 1 })',
  '({ a: undefined })', 'new Map()', 'Object.assign([1], { more: 1 })', '(() => { const a = []; a.push(a); return a })()',
  '({ get a() { globalThis.ran = true; return 1 } })', 'Object.create({ inherited: 1 })', 'new (class Point { x = 1 })()',
  '(() => { let a = 1; for (let i = 0; i < 65; i++) a = [a]; return a })()', 'Object.defineProperty({}, "hidden", { value: 1 })',
]
test('O11 G04 what is not JSON is refused as a result and as a value, without running getters', async () => {
  await withCore({ 'a.mjs': module(`
    ${NOT_JSON.map((value, i) => tool(`r${i}`, `() => (${value})`)).join('')}
    ${NOT_JSON.map((value, i) => tool(`s${i}`, `async () => { try { await ctx.storage.set('k', ${value}); return 'stored' } catch (error) { return error.code } }`)).join('')}
    ${tool('ran', `() => globalThis.ran === true`)}
    ${tool('deep', `() => { let a = 1; for (let i = 0; i < 64; i++) a = [a]; return a }`)}`) }, async core => {
    await core.activateOk('a.mjs')
    for (const [i, value] of NOT_JSON.entries()) {
      await assert.rejects(core.call(`r${i}`), { code: -32000 }, value)
      assert.equal((await core.call(`s${i}`)).content[0].text, 'invalid', value)
    }
    assert.equal((await core.call('ran')).structured, false)
    assert.equal((await core.call('deep')).is_error, false)
    assert.equal(core.store.size, 0)
  })
})

test('O12 a tool that throws fails only its call', async () => {
  await withCore({ 'a.mjs': module(`
    ${tool('broken', `() => { throw new TypeError('no such thing') }`)}
    ${tool('odd', `() => { throw { get message() { throw 1 } } }`)}
    ${tool('long', `() => { throw new Error('ä'.repeat(5000)) }`)}
    ${tool('fine', `() => 'fine'`)}`) }, async core => {
    await core.activateOk('a.mjs')
    await assert.rejects(core.call('broken'), { code: -32000, message: 'TypeError: no such thing' })
    await assert.rejects(core.call('odd'), { code: -32000 })
    const long = await core.call('long').catch(error => error)
    assert.ok(Buffer.byteLength(long.message) <= 4096 && long.message.endsWith('…'))
    assert.equal((await core.call('fine')).content[0].text, 'fine')
  })
})

test('O13 O14 exec tells what the core supplied with this call and nothing else, and is frozen', async () => {
  await withCore({ 'a.mjs': module(tool('who', `(input, exec) => {
    const { signal, core, ...rest } = exec
    return { rest, signal: signal instanceof AbortSignal, core: typeof core, frozen: Object.isFrozen(exec), same: exec.args === input }
  }`)) }, async core => {
    await core.activateOk('a.mjs', { data_dir: undefined })
    const labels = { workspace: '/w', session_id: 's', agent_id: 'g', origin_turn_id: 't', ticket: 'cwt.1' }
    assert.deepEqual((await core.call('who', { x: 1 }, labels)).structured, {
      rest: { callId: 'c-1', args: { x: 1 }, workspace: '/w', sessionId: 's', agentId: 'g', originTurnId: 't' },
      signal: true, core: 'object', frozen: true, same: true,
    })
    assert.deepEqual((await core.call('who', {})).structured, { rest: { callId: 'c-1', args: {} }, signal: true, core: 'undefined', frozen: true, same: true })
  })
})

test('O15 a cancellation reaches exec.signal; one that ignores it is given up after the grace', async () => {
  await withCore({ 'a.mjs': module(`
    ${tool('polite', `(input, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => { console.log('heard ' + signal.reason.name); reject(signal.reason) }))`)}
    ${tool('deaf', `() => new Promise(() => {})`)}`) }, async core => {
    await core.activateOk('a.mjs')
    const polite = core.call('polite')
    core.cancel(polite)
    await assert.rejects(polite, { code: -32800 })
    await core.heard(/heard AbortError/)
    const deaf = core.call('deaf')
    core.cancel(deaf)
    await assert.rejects(deaf, { code: -32800 })
  })
})

test('O15 E08 calls that run when their plugin ends are answered as cancelled', async () => {
  await withCore({ 'a.mjs': module(`
    ${tool('deaf', `() => new Promise(() => {})`)}
    ctx.on('tools/pre-execute', () => new Promise(() => {}))`) }, async core => {
    await core.activateOk('a.mjs')
    const call = assert.rejects(core.call('deaf'), { code: -32800 })
    const hook = assert.rejects(core.evaluate(core.handleOf('tools/pre-execute')), { code: -32800 })
    assert.deepEqual(await core.deactivate(), { disposed: true, leaked: [] })
    await Promise.all([call, hook])
  })
})

test('O18 a handle that is unknown, of another kind, or withdrawn is not available', async () => {
  await withCore({ 'a.mjs': module(`${tool('one', `() => 1`)}ctx.commands.register({ name: 'cmd', description: 'd', handler() {} })`) }, async core => {
    await core.activateOk('a.mjs')
    const call = handle => core.request('tool/call', { handle, call_id: 'c', input: {}, deadline_ms: 1 })
    await assert.rejects(call(999), { code: -32001 })
    await assert.rejects(call(core.handleOf('cmd')), { code: -32001 })
    await assert.rejects(core.evaluate(core.handleOf('one')), { code: -32001 })
  })
})

test('O18 a call that reaches an entry while it activates is not available', async () => {
  await withCore({ 'a.mjs': `export const inject = ['tools']
export async function apply(ctx) {
  ${tool('one', '() => 1')}
  await new Promise(resolve => setTimeout(resolve, 400))
}` }, async core => {
    const activation = core.activate('a.mjs')
    await core.until(() => core.registered.length > 0)
    await assert.rejects(core.call('one'), { code: -32001 })
    assert.equal((await activation).status, 'ok')
    assert.equal((await core.call('one')).structured, 1)
  })
})

test('C03 a command needs a handler and takes no attachments; the hint has two spellings', async () => {
  await withCore({
    'a.mjs': module(`
      ctx.commands.register({ name: 'one', description: 'd', argumentHint: '<file>', handler() {} })
      ctx.commands.register({ name: 'two', description: 'd', input: { hint: '<word>' }, handler() {} })
      ctx.commands.register({ name: 'three', description: 'd', attachments: false, handler() {} })`),
    'b.mjs': module(`ctx.commands.register({ name: 'x', description: 'd', attachments: true, handler() {} })`),
    'c.mjs': module(`ctx.commands.register({ name: 'x', description: 'd' })`),
  }, async core => {
    assert.deepEqual((await core.activateOk('a.mjs')).commands, ['one', 'two', 'three'])
    assert.deepEqual(core.registered.map(({ spec }) => spec.argument_hint), ['<file>', '<word>', undefined])
    assert.match((await core.activate('b.mjs')).diagnostic, /attachments/)
    assert.match((await core.activate('c.mjs')).diagnostic, /handler/)
  })
})

const COMMAND_RESULTS = [
  ["'text'", { kind: 'success', text: 'text' }],
  ['undefined', { kind: 'success' }],
  ['null', { kind: 'success' }],
  ["({ kind: 'success' })", { kind: 'success' }],
  ["({ kind: 'success', text: 't' })", { kind: 'success', text: 't' }],
  ["({ kind: 'error', text: 'e' })", { kind: 'error', text: 'e' }],
  ["({ kind: 'submit', prompt: 'p' })", { kind: 'submit', prompt: 'p' }],
  ["({ kind: 'submit', prompt: 'p', text: 't' })", { kind: 'submit', prompt: 'p', text: 't' }],
]
const BAD_COMMAND_RESULTS = ["({ kind: 'other' })", "({ kind: 'error' })", "({ kind: 'submit' })", "({ kind: 'success', text: 1 })",
  "({ kind: 'success', more: 1 })", "({})", '1', '[]', "({ kind: 'constructor' })"]
test('C06 the results of a command, an unknown kind is an error', async () => {
  const command = (name, value) => `ctx.commands.register({ name: '${name}', description: 'd', handler: () => (${value}) })\n`
  await withCore({ 'a.mjs': module(COMMAND_RESULTS.map(([value], i) => command(`r${i}`, value)).join('') + BAD_COMMAND_RESULTS.map((value, i) => command(`b${i}`, value)).join('')) }, async core => {
    await core.activateOk('a.mjs')
    for (const [i, [value, expected]] of COMMAND_RESULTS.entries()) assert.deepEqual(await core.run(`r${i}`), expected, value)
    for (const [i, value] of BAD_COMMAND_RESULTS.entries()) await assert.rejects(core.run(`b${i}`), { code: -32000 }, value)
  })
})

test('C09 a command sees its arguments, no attachments and no core', async () => {
  await withCore({ 'a.mjs': module(`ctx.commands.register({ name: 'c', description: 'd', handler: input => JSON.stringify({ ...input, signal: input.signal instanceof AbortSignal, frozen: Object.isFrozen(input) }) })`) }, async core => {
    await core.activateOk('a.mjs', { data_dir: '/data' })
    const seen = async (...args) => JSON.parse((await core.run('c', ...args)).text)
    assert.deepEqual(await seen('a b', { session_id: 's' }), {
      signal: true, commandId: 'k-1', args: 'a b', rawInput: ' a b', attachments: [], dataDir: '/data', sessionId: 's', frozen: true,
    })
    assert.deepEqual(await seen(''), { signal: true, commandId: 'k-1', args: '', rawInput: '', attachments: [], dataDir: '/data', frozen: true })
  })
})

test('P02 P06 P07 prompt sections: plain, template, exact text; an extra key or another word is refused', async () => {
  await withCore({
    'a.mjs': module(`
      ctx.prompt.registerSection({ id: 'plain', text: 'Grüße {{model}} 🐳\\n\\tx' })
      ctx.prompt.registerSection({ id: 'template', text: 'in {{cwd}}', interpolate: 'model-cwd' })`),
    'b.mjs': module(`ctx.prompt.registerSection({ id: 'x', text: 'x', priority: 1 })`),
    'c.mjs': module(`ctx.prompt.registerSection({ id: 'x', text: 'x', interpolate: 'all' })`),
    'd.mjs': module(`ctx.prompt.registerSection({ id: 'x', text: 1 })`),
  }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(core.registered.map(({ kind, spec }) => [kind, spec]), [
      ['prompt_section', { name: 'plain', description: 'Grüße {{model}} 🐳\n\tx' }],
      ['prompt_template', { name: 'template', description: 'in {{cwd}}' }],
    ])
    for (const path of ['b.mjs', 'c.mjs', 'd.mjs']) assert.equal((await core.activate(path)).status, 'failed', path)
  })
})

test('P08 the reason of the core for a refusal surfaces', async () => {
  await withCore({ 'a.mjs': module(`ctx.prompt.registerSection({ id: 'Bad', text: 'x' })`) }, async core => {
    core.handlers['registry/register'] = () => ({ refused: 'an id begins with a lower-case letter' })
    assert.match((await core.activate('a.mjs')).diagnostic, /prompt_section:Bad.*an id begins with a lower-case letter/)
  })
})

test('G01 G03 G12 storage: absent, set, copies, keys as data, delete, the value of the moment', async () => {
  await attempt(`
    const { storage } = ctx
    const seen = [await storage.get('k') === undefined]
    const value = { list: [1] }
    const written = storage.set('k', value)
    value.list.push(2)
    await written
    const copy = await storage.get('k')
    copy.list.push(3)
    seen.push(await storage.get('k'), await storage.delete('k'), await storage.delete('k'))
    for (const key of ['../x', '__proto__', 'constructor', 'ä'.repeat(64)]) { await storage.set(key, key); seen.push(await storage.get(key) === key) }
    seen.push(Object.isFrozen(storage))
    return seen`, (core, { structured }) => {
    assert.deepEqual(structured, [true, { list: [1] }, true, false, true, true, true, true, true])
    assert.deepEqual([...core.store.keys()], ['../x', '__proto__', 'constructor', 'ä'.repeat(64)])
  })
})

test('G11 storage: compare and set keeps what nobody changed meanwhile', async () => {
  await attempt(`
    const { storage } = ctx
    const seen = [await storage.getVersioned('n') === undefined, await storage.compareAndSet('n', '7', 0) === undefined]
    const first = await storage.compareAndSet('n', undefined, 1)
    seen.push(typeof first, await storage.compareAndSet('n', undefined, 2) === undefined, (await storage.getVersioned('n')).version === first)
    const second = await storage.compareAndSet('n', first, { to: 2 })
    seen.push(await storage.compareAndSet('n', first, 3) === undefined, (await storage.getVersioned('n')).value, second !== first)
    for (const bad of [0, '', '0', '-1', 'x', '123456789012345678901', null])
      seen.push(await storage.compareAndSet('n', bad, 1).then(() => 'ok', error => error.code))
    return seen`, (core, { structured }) => {
    assert.deepEqual(structured, [true, true, 'string', true, true, true, { to: 2 }, true, ...Array(7).fill('invalid')])
  })
})

test('G05 the edges of keys and values', async () => {
  await attempt(`
    const codes = []
    for (const [key, value] of [['', 1], ['a\\0b', 1], ['x'.repeat(129), 1], ['ä'.repeat(65), 1], [1, 1], ['\\ud800', 1], ['k', 'x'.repeat(131071)], ['k', '\\ud800'],
      ['x'.repeat(128), 1], ['k', 'x'.repeat(131070)]])
      codes.push(await ctx.storage.set(key, value).then(() => 'ok', error => error.code))
    return codes`, (core, { structured }) => {
    assert.deepEqual(structured, ['invalid', 'invalid', 'invalid', 'invalid', 'invalid', 'invalid', 'limit', 'invalid', 'ok', 'ok'])
  })
})

test('G06 G08 the errors of the core have codes', async () => {
  await withCore(trying(`
    const codes = []
    for (const key of ['limit', 'corrupt', 'io', 'gone', 'invalid']) codes.push(await ctx.storage.set(key, 1).then(() => 'ok', error => error.name + ':' + error.code))
    return codes`), async core => {
    const errors = { limit: -32010, corrupt: -32011, io: -32012, gone: -32001, invalid: -32602 }
    core.handlers['storage/set'] = ({ key }) => { throw Object.assign(new Error(key), { code: errors[key] }) }
    await core.activateOk('a.mjs')
    assert.deepEqual((await core.call('attempt')).structured,
      ['StorageError:limit', 'StorageError:corrupt', 'StorageError:io', 'StorageError:not_available', 'StorageError:invalid'])
  })
})

test('G07 storage is not available during cleanup', async () => {
  await withCore({ 'a.mjs': module(`
    const { storage } = ctx
    return async () => {
      const codes = []
      for (const way of [() => storage.set('k', 1), async () => ctx.storage.get('k')]) codes.push(await way().then(() => 'ok', error => error.code))
      console.log(codes.join())
    }`) }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(await core.deactivate(), { disposed: true, leaked: [] })
    await core.heard(/not_available,not_available/)
    assert.equal(core.store.size, 0)
  })
})

const VERDICTS = [
  ['undefined', { kind: 'abstain' }], ['null', { kind: 'abstain' }], ['next()', { kind: 'abstain' }], ["({ kind: 'abstain' })", { kind: 'abstain' }],
  ["({ kind: 'deny', reason: 'no' })", { kind: 'deny', reason: 'no' }], ["({ kind: 'ask' })", { kind: 'ask' }],
  ["({ kind: 'ask', reason: 'sure?' })", { kind: 'ask', reason: 'sure?' }], ["({ kind: 'annotate', text: 't' })", { kind: 'annotate', text: 't' }],
  ["({ kind: 'revise', input: { a: 1 } })", { kind: 'revise', input: { a: 1 } }], ['Promise.resolve(undefined)', { kind: 'abstain' }],
  ["({ kind: 'revise', input: { a: 'x'.repeat(32758) } })", { kind: 'revise', input: { a: 'x'.repeat(32758) } }],
]
const BAD_VERDICTS = ["({ kind: 'deny' })", "({ kind: 'deny', reason: 1 })", "({ kind: 'denied', reason: 'x' })", "'deny'", 'true', '[]', "({ kind: 'annotate' })",
  "({ kind: 'revise' })", "({ kind: 'revise', input: [] })", "({ kind: 'revise', input: { a: undefined } })", "({ kind: 'deny', reason: 'x', also: 1 })",
  "({ kind: 'revise', input: { a: 'x'.repeat(32768) } })", "(() => { throw new Error('broken') })()", "({})"]
test('E01 E02 E04 verdicts are read strictly; what is malformed or thrown is an error, which denies', async () => {
  const hook = value => `ctx.on('tools/pre-execute', (call, next) => (${value}))\n`
  await withCore({ 'a.mjs': module([...VERDICTS.map(([value]) => value), ...BAD_VERDICTS].map(hook).join('')) }, async core => {
    await core.activateOk('a.mjs')
    const handles = core.registered.map(({ handle }) => handle)
    for (const [i, [value, expected]] of VERDICTS.entries()) assert.deepEqual(await core.evaluate(handles[i]), expected, value)
    for (const [i, value] of BAD_VERDICTS.entries()) await assert.rejects(core.evaluate(handles[VERDICTS.length + i]), { code: -32000 }, value)
  })
})

test('E01 allow is no opinion, noticed once', async () => {
  await withCore({ 'a.mjs': module(`ctx.on('tools/pre-execute', () => ({ kind: 'allow' }))`) }, async core => {
    await core.activateOk('a.mjs')
    const handle = core.handleOf('tools/pre-execute')
    assert.deepEqual(await core.evaluate(handle), { kind: 'abstain' })
    assert.deepEqual(await core.evaluate(handle), { kind: 'abstain' })
    await core.request('host/ping', {})
    assert.deepEqual(core.notifications.filter(({ method }) => method === 'log').map(({ params }) => params.level), ['warn'])
  })
})

test('E a listener is labelled with the name of its function, or of its plugin', async () => {
  await withCore({ 'a.mjs': module(`ctx.on('tools/pre-execute', function guard() {})\nctx.on('tools/pre-execute', () => {})`) }, async core => {
    await core.activateOk('a.mjs')
    assert.deepEqual(core.registered.map(({ spec }) => spec), [
      { name: 'tools/pre-execute', description: 'guard' }, { name: 'tools/pre-execute', description: 'sample' },
    ])
  })
})

test('E01 a listener sees a frozen view and nothing of sessions or approval', async () => {
  await withCore({ 'a.mjs': module(`ctx.on('tools/pre-execute', call => ({ kind: 'annotate', text: JSON.stringify({
    ...call, signal: call.signal instanceof AbortSignal, frozen: [call, call.arguments, call.arguments.deep].every(Object.isFrozen) }) }))`) }, async core => {
    await core.activateOk('a.mjs')
    const { text } = await core.evaluate(core.handleOf('tools/pre-execute'), { input: { deep: { x: 1 } } })
    assert.deepEqual(JSON.parse(text), {
      name: 'some_tool', callId: 'c-1', arguments: { deep: { x: 1 } }, signal: true, workspace: '/w', mode: 'agent', model: 'm', frozen: true,
    })
  })
})

const REFUSED_LISTENERS = {
  'prepend': `ctx.on('tools/pre-execute', () => {}, { prepend: true })`,
  'prepend as a boolean': `ctx.on('tools/pre-execute', () => {}, true)`,
  'global': `ctx.on('tools/pre-execute', () => {}, { global: true })`,
  'tools/post-execute': `ctx.on('tools/post-execute', () => {})`,
  'agent/created': `ctx.on('agent/created', () => {})`,
  'subagent/end': `ctx.on('subagent/end', () => {})`,
  'internal/listener': `ctx.on('internal/listener', () => {})`,
  'something that is no function': `ctx.on('tools/pre-execute', 1)`,
}
for (const [what, body] of Object.entries(REFUSED_LISTENERS))
  test(`E09 listening with ${what} is refused`, async () => {
    await withCore({ 'a.mjs': module(body) }, async core => {
      assert.equal((await core.activate('a.mjs')).status, 'failed')
      assert.deepEqual(core.registered, [])
    })
  })

test('E09 events of its own work, and the disposer of a listener ends it', async () => {
  await withCore({ 'a.mjs': module(`
    const stop = ctx.on('tools/pre-execute', () => undefined)
    ctx.on('sample/poked', text => console.log('poked ' + text))
    ${tool('poke', `() => { ctx.emit('sample/poked', 'once'); stop(); stop(); return 'ok' }`)}`) }, async core => {
    await core.activateOk('a.mjs')
    await core.call('poke')
    await core.request('host/ping', {})
    await core.heard(/poked once/)
    assert.deepEqual(core.registered.map(({ spec }) => spec.name), ['poke'])
  })
})

test('X04 X10 exec.core calls the core with the ticket of its call and dies with it', async () => {
  await withCore(trying(`
    globalThis.kept ??= exec.core
    if (!exec.core) return globalThis.kept.call('read').catch(error => error.name + ':' + error.code)
    const answer = await exec.core.call('read', { path: 'a.txt' })
    const codes = []
    for (const name of ['refused', 'denied', 'cancelled', 'unavailable', 'failed', 'nonsense']) codes.push(await exec.core.call(name).catch(error => error.code))
    for (const bad of [() => exec.core.call(''), () => exec.core.call('x'.repeat(129)), () => exec.core.call('read', [])]) codes.push(await bad().catch(error => error.code))
    return { answer, codes, frozen: Object.isFrozen(exec.core) }`), async core => {
    const errors = { refused: -32002, denied: -32003, cancelled: -32800, unavailable: -32001, failed: -32603 }
    const seen = []
    core.handlers['core/call'] = params => {
      seen.push(params)
      if (errors[params.name]) throw Object.assign(new Error('no'), { code: errors[params.name] })
      if (params.name === 'nonsense') return { content: 'x' }
      return { content: [{ type: 'text', text: 'hello' }], is_error: false, structured: { n: 1 } }
    }
    await core.activateOk('a.mjs')
    assert.deepEqual((await core.call('attempt', {}, { ticket: 'cwt.1' })).structured, {
      answer: { content: [{ type: 'text', text: 'hello' }], isError: false, structured: { n: 1 } },
      codes: ['refused', 'denied', 'cancelled', 'unavailable', 'failed', 'failed', 'refused', 'refused', 'refused'], frozen: true,
    })
    assert.deepEqual(seen[0], { owner: core.owner(), ticket: 'cwt.1', name: 'read', input: { path: 'a.txt' } })
    assert.equal((await core.call('attempt')).content[0].text, 'CoreCallError:unavailable')
  })
})

test('X06 a core call is withdrawn by its own signal, by the end of its call and by a cancellation', async () => {
  await withCore(trying(`
    if (input.own) {
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 20)
      return exec.core.call('slow', {}, { signal: stop.signal }).catch(error => error.code)
    }
    exec.core.call('slow').catch(error => console.log('left: ' + error.code))
    if (input.leave) return 'left'
    await new Promise((resolve, reject) => exec.signal.addEventListener('abort', () => reject(new Error('stop'))))`), async core => {
    core.handlers['core/call'] = () => undefined
    await core.activateOk('a.mjs')
    const cancels = () => core.notifications.filter(({ method }) => method === '$/cancel').length
    assert.equal((await core.call('attempt', { own: true }, { ticket: 't' })).content[0].text, 'cancelled')
    assert.equal(cancels(), 1)
    assert.equal((await core.call('attempt', { leave: true }, { ticket: 't' })).content[0].text, 'left')
    await core.request('host/ping', {})
    assert.equal(cancels(), 2)
    const asked = new Promise(resolve => { core.handlers['core/call'] = () => resolve() })
    const call = core.call('attempt', {}, { ticket: 't' })
    await asked
    core.cancel(call)
    await assert.rejects(call, { code: -32800 })
    assert.equal(cancels(), 3)
  })
})

test('K01 K06 skills, MCP servers and shell hooks are proposed as they were given', async () => {
  await withCore({ 'a.mjs': module(`
    ctx.skills.registerRoot({ path: 'skills' })
    const server = { type: 'stdio', command: 'run' }
    ctx.mcp.registerServer({ serverName: 'files', server })
    server.command = 'other'
    ctx.shellHooks.register({ dialect: 'codex', point: 'Stop', hook: { event: 'turn_end', command: 'true', timeout_secs: 1, background: false, continue_on_error: false, name: 'end' } })`) }, async core => {
    await core.activateOk('a.mjs')
    const [skill, server, hook] = core.registered
    assert.deepEqual([skill.kind, skill.spec], ['skill_root', { name: 'skills', description: '' }])
    assert.deepEqual([server.kind, server.spec.name, JSON.parse(server.spec.description)], ['mcp_server', 'files', { type: 'stdio', command: 'run' }])
    assert.deepEqual([hook.kind, hook.spec.name, JSON.parse(hook.spec.description).point], ['shell_hook', 'end', 'Stop'])
    core.handlers['registry/unregister'] = () => new Promise(() => {})
    assert.deepEqual((await core.deactivate()).leaked.sort(), ['mcp_server:files', 'shell_hook:end', 'skill_root:skills'])
  })
})

test('K01 an extra key in a skill root is refused', async () => {
  await withCore({ 'a.mjs': module(`ctx.skills.registerRoot({ path: 'skills', watch: true })`) }, async core => {
    assert.equal((await core.activate('a.mjs')).status, 'failed')
  })
})

test('S16 E20 the logger reaches the core under the name of its plugin, bounded', async () => {
  await withCore({ 'a.mjs': module(`
    ctx.logger.debug('a %s', 'debug'); ctx.logger.info({ some: 'object' }); ctx.logger('named').warn('w'); ctx.logger.error(new Error('an error'))
    ctx.logger.info('x'.repeat(20000))`) }, async core => {
    await core.activateOk('a.mjs')
    await core.request('host/ping', {})
    const logs = core.notifications.filter(({ method }) => method === 'log').map(({ params }) => params)
    assert.deepEqual(logs.slice(0, 3).map(({ level, msg }) => [level, msg]), [['debug', 'a debug'], ['info', '{"some":"object"}'], ['warn', 'w']])
    assert.ok(logs.some(({ level, msg }) => level === 'error' && msg.startsWith('Error: an error')))
    assert.ok(logs.every(({ msg }) => Buffer.byteLength(msg) <= 8192))
    assert.equal(logs.length, 5)
    assert.ok(logs.every(({ plugin_id: id }) => id === 'user/0a1b/sample'))
  })
})

test('S16 a flood of lines does not stand before the answers of the host: what is not read is counted', async () => {
  await withCore({ 'a.mjs': module(`for (let i = 0; i < 5000; i++) ctx.logger.info('line %d', i)`) }, async core => {
    await core.activateOk('a.mjs')
    const { params: said } = await core.waitFor('log', ({ msg }) => msg.endsWith('came faster than they are read'))
    assert.equal(said.level, 'warn')
    const lines = core.notifications.filter(({ method, params }) => method === 'log' && params.msg.startsWith('line '))
    assert.equal(lines.length + Number.parseInt(said.msg, 10), 5000)
    assert.equal(lines.length, 1024)
  })
})
