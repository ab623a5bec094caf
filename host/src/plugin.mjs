// SPDX-License-Identifier: MIT
//
// From a module's exports to a Cordis plugin (contract 4.0.1)
import { Context, SERVICES, Service, cordis } from './cordis.mjs'

class NoPluginError extends Error {}

const INIT_HOOKS = Symbol.for('cordis.initHooks')
const isPlugin = value => typeof value === 'function' || (typeof value === 'object' && value !== null && typeof value.apply === 'function')
const isClass = value => /^class\b/.test(Function.prototype.toString.call(value))

/* Cordis calls a plain function with "new" and drops the disposer that it returns. Only a class is meant to be constructed. */
function applyOf(plugin) {
  if (typeof plugin !== 'function') return (context, config) => plugin.apply(context, config)
  if (!isClass(plugin)) return (context, config) => plugin(context, config)
  return (context, config) => {
    const instance = new plugin(context, config)
    for (const hook of instance[INIT_HOOKS] ?? []) hook()
    return instance[Service.init]?.()
  }
}

/* pluginOf(): the default export or the namespace itself; what the one does not say, the other may (inject, Config). */
export function pluginOf(namespace, entry) {
  const plugin = isPlugin(namespace.default) ? namespace.default : typeof namespace.apply === 'function' ? namespace : undefined
  if (plugin === undefined) throw new NoPluginError(`${entry.path} exports no plugin: a function or an object with apply, as default or as named exports`)
  const Config = plugin.Config ?? namespace.Config
  if (Config !== undefined && typeof Config?.['~standard']?.validate !== 'function')
    throw new NoPluginError(`the Config of ${entry.path} is not a schema`)
  return {
    name: typeof namespace.name === 'string' ? namespace.name : entry.owner.pluginName,
    inject: cordis.Inject.resolve(plugin.inject ?? namespace.inject),
    Config,
    apply: applyOf(plugin),
  }
}

/* missingServices(): what @plugin injects and neither the host nor the extension itself provides */
export function missingServices(context, plugin) {
  return Object.keys(plugin.inject).filter(name => !SERVICES.includes(name) && !context.reflect._getImpl(name, false))
}

export { Context }
