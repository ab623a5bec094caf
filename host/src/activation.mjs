// SPDX-License-Identifier: MIT
//
// Bringing extensions up, down and to work (contract 4.0). One Extensions object per host process.
import { CODE, DISPOSE_MS, ERROR_BYTES_MAX } from './limits.mjs'
import { boundText, errorText, objectText, quote } from './json.mjs'
import { addRoot, checkEntry, importEntry, placeOf } from './admission.mjs'
import { Entry, Owner, currentEntry, ownerKey, runAs, within } from './owner.mjs'
import { FIBER, createRoot } from './cordis.mjs'
import { missingServices, pluginOf } from './plugin.mjs'
import { clearTimer, setTimer } from './primordials.mjs'
import { RpcError } from './rpc.mjs'
import { onPreExecute } from './services/events.mjs'
import { logMessage } from './services/logger.mjs'
import { commands } from './services/commands.mjs'
import { mcp, shellHooks, skills } from './services/definitions.mjs'
import { prompt } from './services/prompt.mjs'
import { storage } from './services/storage.mjs'
import { tools } from './services/tools.mjs'

const CLEANUP_AFTER_FAILURE_MS = 400

class ActivationError extends Error {}

/* What an entry threw, and where in its bundle */
function thrownText(error) {
  const place = placeOf(stackOf(error))
  return errorText(error, ERROR_BYTES_MAX) + (place === undefined ? '' : ` (${place})`)
}

/* What is thrown may be anything, also an object with a getter that throws. */
function stackOf(error) {
  try {
    return typeof error?.stack === 'string' ? error.stack : ''
  } catch {
    return ''
  }
}

/* watched(): tells that apply() failed at once; Cordis tells it when everything is cleaned up, which may be never */
function watched(plugin, entry) {
  const apply = (context, config) => {
    let result
    try {
      result = plugin.apply(context, config)
    } catch (error) {
      entry.fail(error)
      throw error
    }
    if (typeof result === 'object' && typeof result?.then === 'function') result.then(undefined, entry.fail)
    return result
  }
  return { ...plugin, apply }
}

export class Extensions {
  constructor(host) {
    this.host = host
    this.owners = new Map()
    this.root = host.root = createRoot({
      services: { tools, commands, prompt, storage, skills, shellHooks, mcp },
      onPreExecute,
      onLog: message => logMessage(host, message),
    })
    host.disposeOwner = (owner, ms) => this.disposeOwner(owner, ms)
  }

  ownerFor(params) {
    const key = ownerKey(params.owner)
    const known = this.owners.get(key)
    if (known !== undefined) {
      if (known.disposing) throw new ActivationError('the owner was withdrawn')
      return known
    }
    /* A new owner of the same plugin takes the place of the old one, whoever forgot to deactivate that. */
    for (const owner of this.owners.values())
      if (owner.wire.plugin_id === params.owner.plugin_id) this.disposeOwner(owner, DISPOSE_MS)
    const owner = new Owner(this.host, params.owner, params.plugin_name)
    this.owners.set(key, owner)
    return owner
  }

  async activate(params, call) {
    const { entry: file, scope } = params
    if (scope !== undefined && (scope.path !== file.path || scope.sha256 !== file.sha256))
      throw new RpcError(CODE.InvalidParams, 'ext/activate: the scope is not the entry')
    let entry
    try {
      const owner = this.ownerFor(params)
      if (owner.entries.has(file.path)) throw new ActivationError(`${file.path} is active already, or its cleanup has not finished`)
      entry = new Entry(owner, params)
      owner.entries.set(file.path, entry)
      call.controller.signal.addEventListener('abort', () => entry.withdraw('withdrawn'))
      await this.bringUp(entry, params)
    } catch (error) {
      return this.failure(entry, error)
    }
    entry.state = 'active'
    this.flushErrors(entry, undefined)
    const names = kind => [...new Set([...entry.registrations].filter(item => item.kind === kind).map(item => item.name))]
    const list = kind => `[${names(kind).map(quote).join(',')}]`
    return objectText([['status', '"ok"'], ['tools', list('tool')], ['commands', list('command')]])
  }

  /* bringUp(): everything until the entry may be called, or the reason why not. Runs out of time by itself. */
  async bringUp(entry, params) {
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimer(() => reject(new ActivationError(`the activation took more than ${this.host.activateMs} ms`)), this.host.activateMs)
    })
    const withdrawn = entry.withdrawn.then(reason => { throw new ActivationError(reason) })
    const work = runAs(entry, () => this.load(entry, params))
    try {
      await Promise.race([work, late, withdrawn, entry.failed])
    } finally {
      clearTimer(timer)
      for (const promise of [work, late, withdrawn]) promise.catch(() => {})
    }
  }

  async load(entry, params) {
    addRoot(params.root, params.files)
    const plugin = pluginOf(await importEntry(checkEntry(params.root, params.entry)), entry)
    const context = await entry.start()
    const missing = missingServices(context, plugin)
    if (missing.length > 0) throw new ActivationError(`this host does not provide the service ${missing.join(', ')} that ${entry.path} injects`)
    entry.plugin = context.plugin(watched(plugin, entry), params.config)
    await entry.plugin
    if (entry.plugin.state !== FIBER.ACTIVE) throw new ActivationError(`${entry.path} did not become active`)
    await this.settle(entry)
    if (entry.refusals.length > 0) throw new ActivationError(entry.refusals.join('; '))
  }

  /* settle(): the plugins that the entry started are up and the core has answered every proposal */
  async settle(entry) {
    for (;;) {
      const starting = []
      for (const runtime of this.root.registry.values())
        for (const fiber of runtime.fibers) if (fiber.inertia && fiber.ctx.fiber === fiber && this.belongs(fiber, entry)) starting.push(fiber.inertia)
      if (starting.length === 0 && entry.pending.size === 0) return
      await Promise.allSettled([...starting, ...entry.pending])
    }
  }

  belongs(fiber, entry) {
    for (let at = fiber; at !== undefined && at.runtime; at = at.parent.fiber) if (at === entry.fiber || at === entry.plugin) return true
    return false
  }

  async failure(entry, error) {
    const text = error instanceof ActivationError ? error.message : thrownText(error)
    if (!(error instanceof ActivationError) && stackOf(error) !== '') process.stderr.write(`${stackOf(error)}\n`)
    if (entry !== undefined) {
      this.flushErrors(entry, error)
      entry.state = 'failed'
      if (await within(entry.dispose(), Math.min(CLEANUP_AFTER_FAILURE_MS, this.host.disposeMs))) this.forget(entry)
      else entry.dispose().then(() => this.forget(entry))
    }
    return objectText([['status', '"failed"'], ['diagnostic', quote(boundText(text, ERROR_BYTES_MAX))]])
  }

  /* What Cordis logged while the entry came up, but for the error that is the diagnostic itself */
  flushErrors(entry, reported) {
    for (const { error, say } of entry.heldErrors.splice(0)) if (error !== reported) say()
  }

  forget(entry) {
    const { owner } = entry
    if (owner.entries.get(entry.path) === entry) owner.entries.delete(entry.path)
    entry.state = entry.state === 'failed' ? 'failed' : 'disposed'
    if (owner.entries.size === 0 && owner.disposing) this.owners.delete(owner.key)
  }

  async deactivate({ owner: wire, entry: file }) {
    const owner = this.owners.get(ownerKey(wire))
    if (owner === undefined) return '{"disposed":true,"leaked":[]}'
    if (file === undefined) return this.disposeOwner(owner, this.host.disposeMs)
    const entry = owner.entries.get(file.path)
    if (entry === undefined || entry.sha256 !== file.sha256) return '{"disposed":true,"leaked":[]}'
    return this.disposeAll([entry], this.host.disposeMs)
  }

  async disposeOwner(owner, ms) {
    owner.disposing = true
    const entries = [...owner.entries.values()]
    for (const entry of entries) entry.beginDisposal()
    const answer = await this.disposeAll(entries, ms)
    if (owner.entries.size === 0) {
      this.owners.delete(owner.key)
      owner.fiber.dispose().catch(() => {})
    }
    return answer
  }

  async disposeAll(entries, ms) {
    const ends = entries.map(entry => entry.dispose().then(() => this.forget(entry)))
    const disposed = await within(Promise.all(ends), ms)
    const leaked = disposed ? [] : [...new Set(entries.flatMap(entry => entry.leaks()))]
    return `{"disposed":${disposed},"leaked":[${leaked.map(quote).join(',')}]}`
  }

  /* call(): one call of a handle, as its entry, with its signal */
  async call(registration, params, call) {
    const { entry } = registration
    entry.calls.add(call)
    /* Listeners of the signal are the extension's code too. */
    call.abort = () => runAs(entry, () => call.controller.abort())
    try {
      const text = await runAs(entry, async () => registration.serve(registration, params, call.controller.signal))
      if (registration.gone || !entry.isUsable()) throw new RpcError(CODE.NotAvailable, 'the registration was withdrawn during the call')
      return text
    } catch (error) {
      throw error instanceof RpcError ? error : new RpcError(CODE.ExecutionFailed, errorText(error, ERROR_BYTES_MAX))
    } finally {
      entry.calls.delete(call)
    }
  }

  /* blame(): whose fault an uncaught error is. With a single owner in the process nobody else can have thrown it. */
  blame(error) {
    const entry = currentEntry()
    const owner = entry?.owner ?? (this.owners.size === 1 ? this.owners.values().next().value : undefined)
    if (owner === undefined) return false
    owner.fault(error)
    return true
  }
}
