// SPDX-License-Identifier: MIT
// ajv beside JSON.parse: worker.mjs FOLDER, then "check NAME MSEC" a line; answers {"per_s": …}.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import Ajv2020 from 'ajv/dist/2020.js'

const folder = process.argv[2]
const load = (name) => readFileSync(`${folder}/${name}`, 'utf8')
const known = new Map()

function prepare(name) {
  if (!known.has(name)) {
    const ajv = new Ajv2020.default({ strict: false, validateFormats: false })
    known.set(name, { validate: ajv.compile(JSON.parse(load(`${name}.schema.json`))), text: load(`${name}.json`) })
  }
  return known.get(name)
}

function rate(name, msec) {
  const { validate, text } = prepare(name)
  const batch = Math.floor(200000 / (text.length + 100)) + 1
  const begin = process.hrtime.bigint()
  for (let n = 0; ;) {
    for (let i = 0; i < batch; i++)
      if (!validate(JSON.parse(text))) throw new Error('not valid')
    n += batch
    const spent = Number(process.hrtime.bigint() - begin) / 1e9
    if (spent >= msec / 1000) return n / spent
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [, name, msec] = line.split(' ')
  console.log(JSON.stringify({ per_s: rate(name, Number(msec)) }))
}
