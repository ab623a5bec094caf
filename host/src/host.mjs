// SPDX-License-Identifier: MIT
//
// The host: what it serves on the channel, and the state that all of it shares. main.mjs sets it up and ends it.
import {
  ACTIVATE_MS, CODE, DISPOSE_MS, EXIT_OK, EXIT_PROTOCOL, EXIT_VERSION, LOG_BYTES_MAX, LOG_QUEUE_MAX, PROTOCOL,
} from './limits.mjs'
import { boundText, objectText, quote } from './json.mjs'
import { Channel, ProtocolError, RpcError } from './rpc.mjs'
import { checkParams, methodTable } from './wire.mjs'
import { nextTurn } from './primordials.mjs'
import { stripTypeScript } from './admission.mjs'

const LEVELS = new Set(['debug', 'info', 'warn', 'error'])

/* Kinds of registrations that each method calls */
const CALLS = {
  __proto__: null,
  'tool/call': ['tool', 'tool/call'],
  'command/run': ['command', 'command/run'],
  'hook/evaluate': ['hook', 'hook/evaluate'],
}

export class Host {
  /* @write sends one Buffer, @exit(code) flushes and ends the process, @tier is one of wire.mjs's TIERS */
  constructor({ tier, write, exit }) {
    this.tier = tier
    this.exit = exit
    this.state = 'hello' /* initializing, ready, ending */
    this.handles = new Map()
    this.logsWaiting = 0
    this.logsLeftOut = 0
    this.onLogged = () => this.afterLog()
    this.activateMs = ACTIVATE_MS
    this.disposeMs = DISPOSE_MS
    this.extensions = undefined /* activation.mjs, plugin tier only */
    this.channel = new Channel({
      write,
      table: methodTable(tier),
      serve: (method, params, call) => this.serve(method, params, call),
      notify: () => {},
    })
  }

  /* violate(): the other side is not the core that we know. Nothing after this is sent. */
  violate(error) {
    if (this.state === 'ending') return
    this.state = 'ending'
    process.stderr.write(`codewhale-extension-host: protocol violation: ${error.message}\n`)
    this.exit(EXIT_PROTOCOL)
  }

  /* log(): a line, left out when too many wait to be read: what stands before an answer must not grow without end. */
  log(level, message, entry) {
    if (this.state !== 'ready') return
    if (this.logsWaiting >= LOG_QUEUE_MAX) {
      this.logsLeftOut++
      return
    }
    this.logsWaiting++
    this.channel.sendNotification('log', objectText([
      ['level', quote(LEVELS.has(level) ? level : 'info')],
      ['msg', quote(boundText(message, LOG_BYTES_MAX))],
      ['plugin_id', entry === undefined ? undefined : quote(entry.owner.wire.plugin_id)],
    ]), this.onLogged)
  }

  afterLog() {
    this.logsWaiting--
    if (this.logsWaiting > 0 || this.logsLeftOut === 0) return
    const leftOut = this.logsLeftOut
    this.logsLeftOut = 0
    this.log('warn', `${leftOut} lines of the logger were left out: they came faster than they are read`)
  }

  hello(params) {
    this.state = 'initializing'
    this.channel.sendNotification('host/hello', params)
  }

  async serve(method, params, call) {
    if (method === 'host/ping') return '{}'
    if (method === 'host/initialize') return this.initialize(params)
    if (this.state === 'ending') throw new RpcError(CODE.NotAvailable, 'the host is ending')
    if (this.state !== 'ready') return this.violate(new ProtocolError(`${method} came before host/initialize`))
    if (method === 'host/shutdown') return this.shutdown()
    if (this.channel.table[method] === undefined) throw new RpcError(CODE.MethodNotFound, `this host has no method ${method}`)
    checkParams(method, params)
    if (method === 'strip/module') return this.strip(params)
    if (method === 'ext/activate') return this.extensions.activate(params, call)
    if (method === 'ext/deactivate') return this.extensions.deactivate(params)
    return this.callHandle(method, params, call)
  }

  initialize(params) {
    if (this.state !== 'initializing') return this.violate(new ProtocolError('host/initialize came twice'))
    try {
      checkParams('host/initialize', params)
    } catch (error) {
      return this.violate(new ProtocolError(error.message))
    }
    if (params.protocol !== PROTOCOL) {
      process.stderr.write(`codewhale-extension-host: the core speaks protocol ${params.protocol}, this host ${PROTOCOL}\n`)
      this.state = 'ending'
      this.exit(EXIT_VERSION)
      return '{}'
    }
    const { limits } = params
    this.channel.frameMax = Math.min(limits.max_frame, this.channel.frameMax)
    this.channel.inFlightMax = Math.min(limits.max_inflight, this.channel.inFlightMax)
    this.activateMs = limits.activate_deadline_ms
    this.disposeMs = limits.dispose_deadline_ms
    this.state = 'ready'
    /* The answer is sent when this function has returned; "ready" follows it. */
    nextTurn(() => this.channel.sendNotification('host/ready', '{}'))
    return '{}'
  }

  shutdown() {
    nextTurn(() => {
      this.state = 'ending'
      this.exit(EXIT_OK)
    })
    return '{}'
  }

  strip({ path, source }) {
    try {
      return objectText([['code', quote(stripTypeScript(source))]])
    } catch (error) {
      throw new RpcError(CODE.ExecutionFailed, `${path}: ${error.message}`)
    }
  }

  /* callHandle(): a tool, command or listener that is registered, whose entry is active, and that still is when it has answered */
  async callHandle(method, params, call) {
    const [kind] = CALLS[method]
    const registration = this.handles.get(params.handle)
    if (registration === undefined || registration.kind !== kind || registration.gone || !registration.entry.isUsable())
      throw new RpcError(CODE.NotAvailable, `there is no ${kind} with the handle ${params.handle}`)
    return this.extensions.call(registration, params, call)
  }
}
