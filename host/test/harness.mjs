// SPDX-License-Identifier: MIT
//
// A small core for the tests: starts the real bundle in a real runtime with the real flags, over one socket on descriptors 0 and 1,
// and speaks the wire. Every message of the host goes through the strict reader of wire.mjs, so each test checks the wire as well.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkHostMessage } from './wire.mjs'

const top = new URL('../../', import.meta.url).pathname

/* meson says where it built the bundle; started by hand, a test takes the one in build/. */
export const BUNDLE = process.env.CODEWHALE_HOST_BUNDLE ?? join(top, 'build/host/codewhale-extension-host.mjs')

/* The runtime of the host: CODEWHALE_TEST_NODE, the one that runs this test if it is good enough, or what get-node installs */
function findNode() {
  if (process.env.CODEWHALE_TEST_NODE) return process.env.CODEWHALE_TEST_NODE
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major >= 24 || (major === 22 && minor >= 19)) return process.execPath
  return execFileSync(join(top, 'scripts/get-node'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

/* runtime() -> {node, version}, found at the first use: a test file may also be read only for its names */
let found
export function runtime() {
  if (found) return found
  const node = findNode()
  return found = { node, version: execFileSync(node, ['--version'], { encoding: 'utf8', env: {} }).trim().slice(1) }
}

export const sha256 = data => createHash('sha256').update(data).digest('hex')

/* The flags that this runtime takes: see host/README.md */
export function nodeFlags(major = Number(runtime().version.split('.')[0])) {
  const flags = ['--no-warnings', '--no-addons', '--disable-proto=throw', '--no-experimental-sqlite']
  if (major >= 26) flags.push('--no-experimental-ffi')
  return [...flags, '--disable-sigusr1', '--no-global-search-paths', '--max-old-space-size=256', '--permission']
}

export function encode(message) {
  const payload = typeof message === 'string' || Buffer.isBuffer(message) ? Buffer.from(message) : Buffer.from(JSON.stringify(message))
  const header = Buffer.alloc(8)
  header.write('CWX1')
  header.writeUInt32LE(payload.length, 4)
  return Buffer.concat([header, payload])
}

/* Two ends of one stream socket: [ours, the child's] */
async function socketPair(folder) {
  const server = createServer()
  const path = join(folder, 'channel')
  server.listen(path)
  await once(server, 'listening')
  const theirs = connect(path)
  const [[ours]] = await Promise.all([once(server, 'connection'), once(theirs, 'connect')])
  server.close()
  return [ours, theirs]
}

/* What the core answers when a test says nothing else */
/* Like the core's: a decimal number of up to 20 digits that stands for one text */
const versionOf = value => createHash('sha256').update(JSON.stringify(value)).digest().readBigUInt64BE(0).toString()

function storageOf(store) {
  return {
    'storage/get': ({ key }) => store.has(key) ? { found: true, value: store.get(key), version: versionOf(store.get(key)) } : { found: false },
    'storage/set': ({ key, value, if_version: version }) => {
      if (version !== undefined && version !== (store.has(key) ? versionOf(store.get(key)) : '0'))
        throw Object.assign(new Error('stale'), { code: -32013 })
      store.set(key, value)
      return version === undefined ? {} : { version: versionOf(value) }
    },
    'storage/delete': ({ key }) => ({ deleted: store.delete(key) }),
  }
}

export class RpcFailure extends Error {
  constructor({ code, message }) {
    super(message)
    this.code = code
  }
}

export class TestCore {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'codewhale-host-'))
    this.root = join(this.folder, 'plugin')
    this.data = join(this.folder, 'data')
    mkdirSync(this.root)
    mkdirSync(this.data)
    this.store = new Map()
    this.registered = []
    this.nextHandle = 1
    this.nextId = 1
    this.answers = new Map()
    this.notifications = []
    this.watchers = []
    this.stderr = ''
    this.input = Buffer.alloc(0)
    this.handlers = {
      'registry/register': params => this.admit(params),
      'registry/unregister': ({ handle }) => {
        this.registered = this.registered.filter(item => item.handle !== handle)
        return {}
      },
      ...storageOf(this.store),
    }
  }

  admit({ owner, scope, kind, spec }) {
    const handle = this.nextHandle++
    this.registered.push({ owner, scope, kind, spec, handle })
    return { handle }
  }

  /* write({path: text}): the files of the plugin; all of them are the reviewed inventory */
  write(files) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true })
      writeFileSync(join(this.root, path), text)
    }
    return this
  }

  inventory(folder = this.root, prefix = '') {
    const files = {}
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      if (statSync(path).isDirectory()) Object.assign(files, this.inventory(path, `${prefix}${name}/`))
      else files[prefix + name] = { sha256: sha256(readFileSync(path)) }
    }
    return files
  }

  async start({ tier = 'plugin', flags = nodeFlags(), args = [`--tier=${tier}`], handshake = true, env = {} } = {}) {
    if (!existsSync(BUNDLE)) throw new Error(`${BUNDLE} is not built: build it with ninja, or name it in CODEWHALE_HOST_BUNDLE`)
    const [ours, theirs] = await socketPair(this.folder)
    const grants = flags.includes('--permission')
      ? [`--allow-fs-read=${dirname(BUNDLE)}/`, `--allow-fs-read=${this.root}/`, `--allow-fs-read=${this.data}/`, `--allow-fs-write=${this.data}/`]
      : []
    this.child = spawn(runtime().node, [...flags, ...grants, BUNDLE, ...args], { cwd: this.data, env, stdio: [theirs, theirs, 'pipe'] })
    theirs.destroy()
    this.socket = ours
    this.exited = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }))
    this.child.stderr.setEncoding('utf8').on('data', text => { this.stderr += text; this.notify() })
    ours.on('data', chunk => this.receive(chunk))
    ours.on('error', () => {})
    this.ended = this.exited.then(() => {
      for (const { reject } of this.answers.values()) reject(new Error(`the host has exited: ${this.stderr}`))
      this.notify()
    })
    if (handshake) await this.handshake()
    return this
  }

  async handshake(protocol = 1) {
    this.hello = (await this.waitFor('host/hello')).params
    await this.request('host/initialize', {
      protocol, limits: { max_frame: 33554432, max_inflight: 256, dispose_deadline_ms: 2000, activate_deadline_ms: 5000, ...this.limits },
    })
    await this.waitFor('host/ready')
  }

  receive(chunk) {
    this.input = this.input.length === 0 ? chunk : Buffer.concat([this.input, chunk])
    while (this.input.length >= 8) {
      if (this.input.toString('latin1', 0, 4) !== 'CWX1') return this.broken('the host sent a broken frame')
      const length = this.input.readUInt32LE(4)
      if (this.input.length < 8 + length) return undefined
      const text = this.input.toString('utf8', 8, 8 + length)
      this.input = this.input.subarray(8 + length)
      this.onMessage(JSON.parse(text))
    }
    return undefined
  }

  broken(why) {
    this.violation = why
    this.child.kill('SIGKILL')
  }

  onMessage(message) {
    const complaint = checkHostMessage(message)
    if (complaint) return this.broken(`${complaint}: ${JSON.stringify(message).slice(0, 300)}`)
    if (message.method === undefined) {
      const waiting = this.answers.get(message.id)
      this.answers.delete(message.id)
      if (!waiting) return this.broken(`an answer to nothing: ${message.id}`)
      return message.error ? waiting.reject(new RpcFailure(message.error)) : waiting.resolve(message.result)
    }
    if (message.id !== undefined) return this.onRequest(message)
    this.notifications.push(message)
    return this.notify()
  }

  async onRequest({ id, method, params }) {
    try {
      const handler = this.handlers[method]
      if (!handler) throw new RpcFailure({ code: -32601, message: `no ${method}` })
      const result = await handler(params, id)
      if (result === undefined) return
      this.notify()
      this.send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      this.send({ jsonrpc: '2.0', id, error: { code: error.code ?? -32603, message: error.message } })
    }
  }

  send(message) {
    if (!this.socket.destroyed) this.socket.write(encode(message))
  }

  request(method, params) {
    const id = this.nextId++
    const answer = new Promise((resolve, reject) => this.answers.set(id, { resolve, reject }))
    answer.id = id
    this.send({ jsonrpc: '2.0', id, method, params })
    return answer
  }

  cancel(answer) {
    this.send({ jsonrpc: '2.0', method: '$/cancel', params: { id: answer.id } })
  }

  notify() {
    for (const watcher of this.watchers.splice(0)) watcher()
  }

  /* until(): what @find finds, as soon as it does */
  async until(find) {
    for (;;) {
      const found = find()
      if (found) return found
      if (this.violation || this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`the host is gone: ${this.violation ?? ''} ${this.child.exitCode} ${this.child.signalCode} ${this.stderr}`)
      await new Promise(resolve => this.watchers.push(resolve))
    }
  }

  /* waitFor(): the first notification of @method that @accept takes */
  waitFor(method, accept = () => true) {
    return this.until(() => this.notifications.find(message => message.method === method && accept(message.params)))
  }

  /* heard(): the plugin's log has a text like this */
  heard(pattern) {
    return this.until(() => pattern.test(this.stderr))
  }

  owner(plugin = 'user/0a1b/sample', generation = 1) {
    return { plugin_id: plugin, generation, owner_token: sha256(`${plugin} ${generation}`) }
  }

  activateParams(path, { owner = this.owner(), config = {}, files = this.inventory(), root = this.root, ...more } = {}) {
    const entry = { path, sha256: files[path]?.sha256 ?? sha256('') }
    return { owner, scope: entry, plugin_name: 'sample', entry, files, root, config, data_dir: this.data, ...more }
  }

  activate(path, options) {
    return this.request('ext/activate', this.activateParams(path, options))
  }

  /* activateOk(): activates and returns what was registered, by name */
  async activateOk(path, options) {
    const answer = await this.activate(path, options)
    if (answer.status !== 'ok') throw new Error(`not activated: ${answer.diagnostic}\n${this.stderr}`)
    return answer
  }

  deactivate(path, { owner = this.owner() } = {}) {
    return this.request('ext/deactivate', path === undefined ? { owner } : { owner, entry: { path, sha256: this.inventory()[path].sha256 } })
  }

  handleOf(name, kind) {
    return this.registered.findLast(item => item.spec.name === name && (kind === undefined || item.kind === kind))?.handle
  }

  call(name, input = {}, more = {}) {
    return this.request('tool/call', { handle: this.handleOf(name, 'tool'), call_id: 'c-1', input, deadline_ms: 120000, ...more })
  }

  run(name, args = '', more = {}) {
    return this.request('command/run', { handle: this.handleOf(name, 'command'), command_id: 'k-1', raw_input: args, deadline_ms: 30000, ...more })
  }

  evaluate(handle, payload = {}) {
    return this.request('hook/evaluate', {
      handle, event: 'tools/pre-execute', deadline_ms: 5000,
      payload: { name: 'some_tool', call_id: 'c-1', input: {}, mode: 'agent', workspace: '/w', model: 'm', ...payload },
    })
  }

  async stop() {
    this.socket?.end()
    const result = this.child ? await this.exited : undefined
    this.socket?.destroy()
    rmSync(this.folder, { recursive: true, force: true })
    return result
  }
}

/* withCore(files, body): a started host with these files, ended in every case; a protocol violation of the host fails the test */
export async function withCore(files, body, options) {
  const core = new TestCore()
  core.write(files)
  try {
    await core.start(options)
    await body(core)
  } finally {
    await core.stop()
    if (core.violation) throw new Error(core.violation)
  }
}
