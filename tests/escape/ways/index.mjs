// SPDX-License-Identifier: MIT
//
// All ways by name. A way is {why, run(world), control?, inside?, lives?, mark?, skip?}:
//   why      what it would mean if it succeeded
//   control  why a plain process need not succeed: a reason, or a function of the world; without it, it must
//   bun      why the control need not succeed on Bun
//   inside   why the walls alone need not hold it: nothing leaves the unit by it, and the lock of the host shuts it
//   lives    it leaves a process behind; the end of the unit must end that
//   mark     the name of a file that is there afterwards if it succeeded: only that counts, not what it says itself
//   skip     'walls': not tried there, since it ends the one who tries
import { files } from './files.mjs'
import { kernel } from './kernel.mjs'
import { limits } from './limits.mjs'
import { native } from './native.mjs'
import { outliving } from './outliving.mjs'
import { processes } from './processes.mjs'
import { realms } from './realms.mjs'
import { sockets } from './sockets.mjs'

export const groups = { sockets, files, processes, kernel, limits, native, realms, outliving }
export const ways = Object.assign({}, ...Object.values(groups))

const LIMIT_MS = 9000

/* attempt() -> {name, out, evidence} or {name, out: false, code, reason} */
export async function attempt(name, world) {
  let timer
  const limit = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error('it took too long')), LIMIT_MS) })
  try {
    const evidence = await Promise.race([(async () => ways[name].run(world))(), limit])
    return { name, out: true, evidence: `${evidence}`.slice(0, 300) }
  } catch (error) {
    return { name, out: false, code: `${error?.code ?? error?.name ?? ''}`, reason: `${error?.message ?? error}`.slice(0, 500) }
  } finally {
    clearTimeout(timer)
  }
}
