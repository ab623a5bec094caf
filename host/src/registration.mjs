// SPDX-License-Identifier: MIT
//
// A registration: proposed to the core, admitted with a handle or refused with a reason, and withdrawn with the Cordis fiber that
// made it (contract 4.0.4).
import { FIBER, registrationEffect } from './cordis.mjs'
import { RegistrationError } from './errors.mjs'
import { SPEC_TEXT_BYTES_MAX } from './limits.mjs'
import { objectText, quote, utf8Length } from './json.mjs'
import { ProtocolError, isObject } from './rpc.mjs'
import { isSafeInteger } from './primordials.mjs'
import { ENTRY } from './owner.mjs'

const LABEL = {
  __proto__: null, tool: 'tool', command: 'command', hook: 'hook', prompt_section: 'prompt_section',
  prompt_template: 'prompt_section', skill_root: 'skill_root', shell_hook: 'shell_hook', mcp_server: 'mcp_server',
}

/* liveEntry(): the entry that calls a service through @ctx, or "not live" */
export function liveEntry(ctx) {
  const entry = ctx?.[ENTRY]
  if (entry === undefined) throw new RegistrationError('this service is used through the context of an extension')
  const { fiber } = ctx
  if (!entry.isLive() || fiber.uid === null || fiber.state === FIBER.UNLOADING)
    throw new RegistrationError('the extension is not live any more')
  return entry
}

class Registration {
  constructor(entry, kind, name, serve) {
    this.entry = entry
    this.kind = kind
    this.name = name
    this.key = `${LABEL[kind]}:${name}`
    this.serve = serve /* what a call of the handle runs */
    this.handle = 0
    this.sent = false
    this.gone = false
    this.unregistered = undefined
    this.late = undefined /* the same for a handle that came after the withdrawal */
    this.admission = undefined
  }

  ownerMembers() {
    return [['owner', this.entry.owner.text], ['scope', this.entry.scopeText]]
  }

  /* admit(): resolves when the core has answered, whatever it said */
  async admit(specText) {
    const { entry } = this
    await entry.fading.get(this.key)
    if (this.gone) return
    this.sent = true
    const { host } = entry
    let answer
    try {
      answer = await host.channel.request('registry/register', objectText([
        ...this.ownerMembers(), ['kind', quote(this.kind)], ['spec', specText],
      ]))
    } catch (error) {
      this.refuse(error.message)
      return
    }
    if (!isObject(answer)) host.violate(new ProtocolError('registry/register was answered with nonsense'))
    else if (isSafeInteger(answer.handle) && answer.handle > 0) this.accept(answer.handle)
    else if (typeof answer.refused === 'string') this.refuse(answer.refused)
    else host.violate(new ProtocolError('registry/register was answered with nonsense'))
  }

  accept(handle) {
    this.handle = handle
    if (this.gone) {
      this.late = this.unregister()
      return
    }
    this.entry.host.handles.set(handle, this)
    this.entry.registrations.add(this)
  }

  refuse(reason) {
    this.gone = true
    this.entry.proposals.delete(this)
    const text = `${this.key} was refused: ${reason}`
    if (this.entry.state === 'activating') this.entry.refusals.push(text)
    else this.entry.host.log('error', text, this.entry)
  }

  async unregister() {
    const { host, owner } = this.entry
    const params = objectText([['owner', owner.text], ['handle', `${this.handle}`]])
    await host.channel.request('registry/unregister', params).catch(() => {})
    this.entry.proposals.delete(this)
  }

  /* withdraw(): from now on nobody calls it; resolves when the core knows */
  withdraw() {
    if (this.gone) return this.unregistered
    this.gone = true
    const { entry } = this
    entry.registrations.delete(this)
    if (this.handle !== 0) {
      if (entry.host.handles.get(this.handle) === this) entry.host.handles.delete(this.handle)
      return this.unregistered = this.unregister()
    }
    if (!this.sent) {
      entry.proposals.delete(this)
      return undefined
    }
    /* A replacement of the same name is proposed only when the core has heard that this one is gone. */
    const faded = this.admission.then(() => this.late).finally(() => {
      if (entry.fading.get(this.key) === faded) entry.fading.delete(this.key)
    })
    entry.fading.set(this.key, faded)
    return this.unregistered = faded
  }
}

/* propose(): registers @spec (members as JSON texts, taken now) under the fiber of @ctx and returns the disposer. */
export function propose(ctx, kind, name, spec, serve) {
  const entry = liveEntry(ctx)
  const specText = objectText(spec)
  if (utf8Length(specText) > SPEC_TEXT_BYTES_MAX) throw new RegistrationError(`${kind} ${name} is larger than ${SPEC_TEXT_BYTES_MAX} bytes`)
  const registration = new Registration(entry, kind, name, serve)
  const dispose = registrationEffect(ctx.fiber, () => () => registration.withdraw(), registration.key)
  registration.admission = registration.admit(specText)
  entry.proposals.add(registration)
  entry.pending.add(registration.admission)
  registration.admission.finally(() => entry.pending.delete(registration.admission))
  return () => dispose()
}

/* The members that @given may have; anything else is a mistake that would otherwise go unnoticed. */
export function checkKeys(what, given, known) {
  if (!isObject(given)) throw new RegistrationError(`${what} needs an object`)
  for (const key of Reflect.ownKeys(given))
    if (!known.includes(key)) throw new RegistrationError(`${what} does not know ${String(key)}`)
}

export function checkText(what, value) {
  if (typeof value !== 'string') throw new RegistrationError(`${what} is not a text`)
  if (!value.isWellFormed()) throw new RegistrationError(`${what} holds half of a surrogate pair`)
  return quote(value)
}

export function checkFunction(what, value) {
  if (typeof value !== 'function') throw new RegistrationError(`${what} is not a function`)
  return value
}
