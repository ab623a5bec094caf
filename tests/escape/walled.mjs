// SPDX-License-Identifier: MIT
//
// Tries ways out in a walled unit whose runtime has neither flags nor lock: as if everything inside the process were lost already.
// Reads /data/world.json ({world, names}), writes one line a way to /data/results. A way that ends the process leaves a line
// without an outcome.
import fs from 'node:fs'

const { attempt } = await import('/plugin/native/ways/index.mjs')
const { world, names } = JSON.parse(fs.readFileSync('/data/world.json', 'utf8'))
const note = row => fs.appendFileSync('/data/results', `${JSON.stringify(row)}\n`)

for (const name of names) {
  note({ name, begun: true })
  note(await attempt(name, world))
}
process.exit(0)
