// SPDX-License-Identifier: MIT
//
// ctx.logger (contract 4.9): Cordis' own logger, whose records go to the core as "log", under the name of the plugin that wrote them
import { cordis } from '../cordis.mjs'
import { ENTRY } from '../owner.mjs'

const LEVEL = { __proto__: null, error: 'error', warn: 'warn', info: 'info', debug: 'debug' }

export function logMessage(host, message) {
  const entry = message.fiber?.deref()?.ctx[ENTRY]
  const level = LEVEL[message.type] ?? 'info'
  let text
  try {
    text = cordis.Logger.format({ colors: false }, message)
  } catch {
    text = 'a message that cannot be formatted'
  }
  const say = () => host.log(level, text, entry)
  const [error] = message.args
  if (entry?.state === 'activating' && level === 'error' && error instanceof Error) entry.heldErrors.push({ error, say })
  else say()
}
