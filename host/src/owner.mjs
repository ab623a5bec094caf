// SPDX-License-Identifier: MIT
//
// Owners and their entries (contract 3.8, 4.0.4). An owner is one activation of one plugin and has a Cordis fiber of its own; each
// entry, one native module, is a child fiber of it. So a failed entry takes nothing of its siblings along, and ending the owner
// ends everything.
import { DISPOSE_MS, FAULT_BYTES_MAX } from './limits.mjs'
import { errorText, objectText, quote } from './json.mjs'
import { AsyncLocalStorage, clearTimer, setTimer } from './primordials.mjs'
import { FIBER } from './cordis.mjs'

/* On every context below an entry: the entry's record. ctx[ENTRY] is how a service knows who calls it. */
export const ENTRY = Symbol('codewhale.entry')

const running = new AsyncLocalStorage()
const run = running.run.bind(running)
const store = running.getStore.bind(running)

/* runAs(): @callback and all that it starts, timers included, belongs to @entry */
export const runAs = (entry, callback) => run(entry, callback)
export const currentEntry = () => store()

export const ownerKey = ({ plugin_id, generation, owner_token }) => `${plugin_id}\0${generation}\0${owner_token}`

export class Owner {
  constructor(host, wire, pluginName) {
    this.host = host
    this.wire = wire
    this.key = ownerKey(wire)
    this.text = objectText([
      ['plugin_id', quote(wire.plugin_id)],
      ['generation', `${wire.generation}`],
      ['owner_token', quote(wire.owner_token)],
    ])
    this.pluginName = pluginName
    this.entries = new Map()
    this.disposing = false
    this.faulted = undefined
    this.allowNoticed = false
    this.fiber = host.root.plugin({ name: pluginName, apply: () => {} })
  }

  /* noticeAllow(): a listener said "allow", which approves nothing here. Said once. */
  noticeAllow() {
    if (this.allowNoticed) return
    this.allowNoticed = true
    const [entry] = this.entries.values()
    this.host.log('warn', 'a listener answered "allow", which counts as no opinion: approval is not an extension\'s to give', entry)
  }

  /* fault(): an error that nobody caught. Said once, then everything of the owner goes. */
  fault(error) {
    if (this.faulted !== undefined) return
    this.faulted = errorText(error, FAULT_BYTES_MAX)
    this.host.channel.sendNotification('ext/faulted', objectText([['owner', this.text], ['error', quote(this.faulted)]]))
    for (const entry of this.entries.values()) entry.withdraw(`faulted: ${this.faulted}`)
    this.host.disposeOwner(this, DISPOSE_MS)
  }
}

export class Entry {
  constructor(owner, { entry, scope, data_dir: dataDir }) {
    this.owner = owner
    this.host = owner.host
    this.path = entry.path
    this.sha256 = entry.sha256
    this.scopeText = scope && objectText([['path', quote(scope.path)], ['sha256', quote(scope.sha256)]])
    this.dataDir = dataDir
    this.state = 'activating' /* active, failed, disposed */
    this.disposing = false
    this.disposal = undefined
    this.fiber = undefined /* holds all of the entry */
    this.plugin = undefined /* the fiber of the module's own plugin, a child of it */
    this.pending = new Set() /* admissions that the core has not answered */
    this.fading = new Map() /* kind and name -> the withdrawal of a proposal that was not answered yet */
    this.refusals = []
    this.registrations = new Set() /* live ones, for the answer to ext/activate */
    this.proposals = new Set() /* all whose withdrawal the core has not confirmed */
    this.effects = new Set() /* {label}: cleanups that have not finished, those of registrations aside */
    this.calls = new Set() /* requests of the core that this entry is serving */
    this.heldErrors = [] /* what Cordis logged while activating: said once, as the diagnostic or in the log */
    this.withdrawn = new Promise(resolve => { this.withdraw = resolve })
    this.failed = new Promise((resolve, reject) => { this.fail = reject })
    this.failed.catch(() => {})
  }

  /* start(): the context that the module's plugin runs in. Its ctx.root is the entry's own fiber, so that what it does "at the
   * root" ends with the entry as well. */
  async start() {
    const fiber = this.owner.fiber.ctx.extend({ [ENTRY]: this }).plugin({ name: this.owner.pluginName, apply: () => {} })
    Object.defineProperty(fiber.ctx, 'root', { value: fiber.ctx })
    this.fiber = fiber
    await fiber
    return fiber.ctx
  }

  isLive() {
    return !this.disposing && !this.owner.disposing && (this.state === 'activating' || this.state === 'active')
  }

  isUsable() {
    return this.isLive() && this.state === 'active'
  }

  /* beginDisposal(): from here on nothing is accepted from the entry and nothing is asked of it. What it registered goes at once,
   * Cordis itself would wait for an apply() that may never end. */
  beginDisposal() {
    if (this.disposing) return
    this.disposing = true
    this.withdraw('withdrawn')
    for (const call of this.calls) this.host.channel.onCancel({ id: call.id })
    for (const registration of [...this.proposals].reverse()) registration.withdraw()
  }

  /* dispose(): ends the fiber once; the same promise for everyone who asks */
  dispose() {
    this.beginDisposal()
    this.disposal ??= this.fiber === undefined ? Promise.resolve() : runAs(this, () => this.fiber.dispose()).catch(() => {})
    return this.disposal
  }

  /* What is left when the time is up: the labels of contract 4.0.4 */
  leaks() {
    const labels = [...this.proposals].map(({ key }) => key)
    for (const { label } of this.effects) labels.push(`effect:${label}`)
    if (this.plugin?.state === FIBER.LOADING) labels.push('effect:apply')
    return [...new Set(labels)]
  }
}

/* within(): true when @promise settled before @ms were over */
export async function within(promise, ms) {
  let timer
  const late = new Promise(resolve => { timer = setTimer(() => resolve(false), ms) })
  try {
    return await Promise.race([promise.then(() => true, () => true), late])
  } finally {
    clearTimer(timer)
  }
}
