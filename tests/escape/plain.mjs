// SPDX-License-Identifier: MIT
//
// The control: tries one way out in a plain process. plain.mjs NAME, the world as JSON on standard input. --list names all ways.
import fs from 'node:fs'
import { attempt, groups, ways } from './ways/index.mjs'

const [name] = process.argv.slice(2)
if (name === '--list') {
  const rows = Object.entries(groups).flatMap(([group, members]) => Object.entries(members).map(([key, { why, control, inside, lives, mark, skip }]) => ({
    group, name: key, why, inside: inside ?? null, lives: lives ?? false, mark: mark ?? null, skip: skip ?? null,
    excuse: typeof control === 'string' ? control : null,
  })))
  process.stdout.write(JSON.stringify(rows))
} else {
  const world = JSON.parse(fs.readFileSync(0, 'utf8'))
  const { bun, control: wanted } = ways[name]
  const control = process.versions.bun ? bun ?? wanted : wanted
  const excuse = typeof control === 'function' ? control(world) : control ?? true
  const found = await attempt(name, world)
  process.stdout.write(JSON.stringify({ ...found, excuse: excuse === true ? null : excuse }), () => process.exit(0))
}
