// SPDX-License-Identifier: MIT
//
// The Cordis tree that extensions live in, and what the host changes about it. Written against 4.0.4: test/cordis.test.mjs holds
// the facts that this file relies on.
import * as cordis from '@deepseek-ai/cordis'
import { ENTRY } from './owner.mjs'
import { RefusedError, RegistrationError, StorageError } from './errors.mjs'
import { freeze } from './primordials.mjs'

/* FiberState is a const enum: it does not exist at run time. */
export const FIBER = freeze({ __proto__: null, PENDING: 0, LOADING: 1, ACTIVE: 2, FAILED: 3, DISPOSED: 4, UNLOADING: 5 })

export const CORE_SERVICES = ['logger', 'events', 'reflect', 'registry']
export const SERVICES = ['tools', 'commands', 'prompt', 'storage', 'skills', 'shellHooks', 'mcp', ...CORE_SERVICES]

/* What an extension may not provide (contract 4.0.2) */
const RESERVED = new Set([
  ...SERVICES, 'loader', 'approval', 'agents', 'sessions', 'llm', 'sandboxPolicy', 'credentials', 'fs', 'subprocess', 'systemPrompt',
  'runtimeLoop',
])

/* Events that extensions of other hosts know and this one does not have */
const FOREIGN_EVENTS = /^(agent|tools|subagent|session|sessions|llm|approval)\//
const HOOKS_OF_CORDIS = ['internal/listener', 'internal/get', 'internal/set', 'internal/config', 'internal/dispatch']

const REGISTRATION = Symbol('codewhale.registration')

/* trackEffects(): the entry knows which of its cleanups have not finished, so that a deactivation that runs out of time can name
 * them. Effects that another effect collects are left alone, Cordis compares them by identity. */
function trackEffects() {
  const { effect } = cordis.Fiber.prototype
  cordis.Fiber.prototype.effect = function (execute, label = 'anonymous') {
    const entry = this.ctx?.[ENTRY]
    if (entry === undefined || label === 'ctx.plugin()' || execute[REGISTRATION]) return effect.call(this, execute, label)
    const record = { label, cleanups: 0 }
    const track = dispose => typeof dispose !== 'function' || dispose[cordis.Context.effect] ? dispose : trackCleanup(entry, record, dispose)
    return effect.call(this, function () {
      return trackResult(execute.call(this), track)
    }, label)
  }
}

function trackCleanup(entry, record, dispose) {
  record.cleanups++
  entry.effects.add(record)
  const finish = () => { if (--record.cleanups === 0) entry.effects.delete(record) }
  return () => {
    let result
    try {
      result = dispose()
    } catch (error) {
      finish()
      throw error
    }
    if (typeof result?.then !== 'function') {
      finish()
      return result
    }
    return Promise.resolve(result).finally(finish)
  }
}

function trackResult(result, track) {
  if (typeof result === 'function') return track(result)
  if (typeof result !== 'object' || result === null) return result
  if ('then' in result) return Promise.resolve(result).then(track)
  if (Symbol.iterator in result) return (function* () { for (;;) {
    const { value, done } = result.next()
    if (done) return track(value)
    yield track(value)
  } })()
  if (Symbol.asyncIterator in result) return (async function* () { for (;;) {
    const { value, done } = await result.next()
    if (done) return track(value)
    yield track(value)
  } })()
  return result
}

/* registrationEffect(): an effect of @fiber whose end is followed elsewhere */
export function registrationEffect(fiber, execute, label) {
  execute[REGISTRATION] = true
  return fiber.effect(execute, label)
}

const prototypeOf = service => Object.getPrototypeOf(service[Symbol.for('cordis.original')] ?? service)

/* An extension provides names of its own, inside its own subtree, and nothing that the host has or will never have. An attempt
 * fails the activation even if the extension swallows the error. The guard stands on the prototype, so there is no way around it. */
function guardProvide(root) {
  const prototype = prototypeOf(root.reflect)
  const { provide } = prototype
  prototype.provide = function (name, value, check) {
    const entry = this.ctx[ENTRY]
    if (RESERVED.has(name) || entry === undefined) {
      const error = new RefusedError(`an extension may not provide the service ${name}`)
      entry?.refusals.push(error.message)
      throw error
    }
    return provide.call(this, name, value, check)
  }
  return provide
}

/* Removing a plugin's record ends all of its fibers: allowed for one's own. */
function guardRegistry(root) {
  const prototype = prototypeOf(root.registry)
  const { delete: remove } = prototype
  prototype.delete = function (plugin) {
    const entry = this.ctx[ENTRY]
    if (entry !== undefined)
      for (const fiber of this.get(plugin)?.fibers ?? [])
        if (fiber.ctx[ENTRY] !== entry) throw new RefusedError('a plugin of somebody else cannot be removed')
    return remove.call(this, plugin)
  }
}

/* ctx.on(): the one event of the host becomes a registration, see services/events.mjs; what other hosts have is refused. */
function guardEvents(root, onPreExecute) {
  root.on('internal/listener', function (name, listener, options) {
    const entry = this[ENTRY]
    if (name === 'tools/pre-execute') return onPreExecute(this, listener, options)
    if (entry === undefined || typeof name !== 'string') return undefined
    if (FOREIGN_EVENTS.test(name)) throw new RefusedError(`this host has no event ${name}`)
    if (HOOKS_OF_CORDIS.includes(name)) throw new RefusedError(`${name} is not available to extensions`)
    return undefined
  })
}

/* One extension cannot patch for another what they share. */
function freezePrototypes(root) {
  const { Context, Fiber, Service } = cordis
  for (const type of [Context, Fiber, Service]) freeze(type.prototype)
  for (const service of [root.events, root.registry, root.reflect, root.logger]) freeze(prototypeOf(service))
}

/* A service that is asked for after the end says so, instead of that it is missing. */
function guardServices(root) {
  root.on('internal/get', (ctx, name, error, next) => {
    try {
      return next()
    } catch (reason) {
      const entry = ctx[ENTRY]
      if (entry === undefined || entry.isLive() || !SERVICES.includes(name)) throw reason
      const text = 'the extension is not live any more'
      throw name === 'storage' ? new StorageError('not_available', `storage is not available: ${text}`) : new RegistrationError(text)
    }
  })
}

/* createRoot({services, onPreExecute, onLog}) -> the root context with every service of the host in it */
export function createRoot({ services, onPreExecute, onLog }) {
  trackEffects()
  const root = new cordis.Context()
  root.logger.exporters.clear()
  root.logger.exporter({ levels: { default: 3 }, export: onLog })
  guardServices(root)
  guardEvents(root, onPreExecute)
  for (const name of CORE_SERVICES) root.reflect.provide(name, root[name])
  const provide = guardProvide(root)
  guardRegistry(root)
  freezePrototypes(root)
  /* Provided by a fiber that is not the root's, so that a plugin has to inject what it uses. */
  root.plugin({ name: 'host', apply: ctx => { for (const name of Object.keys(services)) provide.call(ctx.reflect, name, services[name]) } })
  return root
}

/* frozenService(): one object for all callers. Its methods find the caller in this.ctx, which Cordis lays over it; they stand on
 * a frozen prototype, since a proxy may not answer differently for a frozen property of the object itself. */
export function frozenService(methods) {
  const service = Object.create(freeze({ __proto__: null, ...methods }))
  Object.defineProperty(service, cordis.Service.tracker, { value: freeze({ property: 'ctx', noShadow: true }) })
  return freeze(service)
}

export const { Context, Service } = cordis
export { cordis }
