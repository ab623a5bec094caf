// SPDX-License-Identifier: MIT
// differential.mjs SUITE ORACLE AJV_FOLDER ROUNDS SEED: our verdicts against ajv's, on the suite's schemas and instances that were
// changed a little. Only groups of which ajv gets every test right are asked, and only where JavaScript's numbers can hold what is
// compared; what is left must agree. Prints how many verdicts were compared; exit status 1 when one differs.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [suite, oraclePath, ajvFolder, rounds, seed] = process.argv.slice(2)
const require = createRequire(`${ajvFolder}/package.json`)
const classes = {
  '2020-12': require('ajv/dist/2020.js').default,
  '2019-09': require('ajv/dist/2019.js').default,
  7: require('ajv').default,
}

// xorshift: the same changes for the same seed
let state = (Number(seed) || 1) >>> 0
function random(n) {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  state >>>= 0
  return state % n
}
const pick = (list) => list[random(list.length)]

const atoms = [null, true, false, 0, 1, -1, 2, 3, 10, 100, 1.5, -2.5, '', 'a', 'foo', 'bar', 'é', '😀', 'aaa', '1', [], {}, [1], ['foo'], { foo: 1 }]

function words(value, found = new Set()) {
  if (Array.isArray(value)) value.forEach((one) => words(one, found))
  else if (value && typeof value === 'object')
    for (const [key, one] of Object.entries(value)) {
      found.add(key)
      words(one, found)
    }
  else if (typeof value === 'string') found.add(value)
  return found
}

function mutate(value, keys, depth = 0) {
  if (depth > 3 || random(4) === 0) return structuredClone(pick(atoms))
  if (Array.isArray(value)) {
    const copy = value.map((one) => (random(3) === 0 ? mutate(one, keys, depth + 1) : one))
    if (random(3) === 0) copy.splice(random(copy.length + 1), 0, structuredClone(pick(atoms)))
    if (random(4) === 0) copy.splice(random(copy.length + 1), 1)
    if (random(5) === 0 && copy.length) copy.push(copy[random(copy.length)])
    return copy
  }
  if (value && typeof value === 'object') {
    const copy = {}
    for (const [key, one] of Object.entries(value)) if (random(5)) copy[key] = random(3) === 0 ? mutate(one, keys, depth + 1) : one
    if (random(2)) copy[pick(keys)] = structuredClone(pick(atoms))
    return copy
  }
  if (typeof value === 'number') return pick([value + 1, value - 1, -value, Math.trunc(value), value + 0.5])
  if (typeof value === 'string') return pick([value + 'a', value.slice(1), value.toUpperCase(), value + value, ` ${value}`, pick(keys)])
  return structuredClone(pick(atoms))
}

// JavaScript's doubles and ajv's remainder are not exact, and it takes "__proto__" for something special.
function isFair(value) {
  if (typeof value === 'number') return Number.isFinite(value) && Math.abs(value) < 1e15 && Number.isInteger(value * 1024)
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isFair)
  if (value && typeof value === 'object')
    return Object.entries(value).every(([key, one]) => key.isWellFormed() && !['__proto__', 'constructor', 'toString', 'hasOwnProperty'].includes(key) && isFair(one))
  return true
}

function compile(draft, schema) {
  try {
    const ajv = new classes[draft]({ strict: false, validateFormats: false, logger: false })
    const validate = ajv.compile(schema)
    // It recurses without end on some.
    return (data) => {
      try {
        return validate(data)
      } catch {
        return null
      }
    }
  } catch {
    return null
  }
}

const oracle = spawn(oraclePath, { stdio: ['pipe', 'pipe', 'inherit'] })
const answers = createInterface({ input: oracle.stdout })[Symbol.asyncIterator]()
async function ask(question) {
  oracle.stdin.write(`${JSON.stringify(question)}\n`)
  const { value, done } = await answers.next()
  if (done) throw new Error('the oracle ended')
  return JSON.parse(value)
}

let compared = 0
let different = 0
let groups = 0
for (const draft of Object.keys(classes)) {
  const folder = `${suite}/tests/draft${draft}`
  if (!existsSync(folder)) {
    console.log(`draft ${draft} is not in ${suite}: not compared`)
    continue
  }
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json')).sort())
    for (const group of JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))) {
      const { schema, tests } = group
      const validate = isFair(schema) ? compile(draft, schema) : null
      if (!validate || !tests.every((test) => validate(test.data) === test.valid)) continue
      groups++
      const keys = [...words([schema, tests.map((test) => test.data)]), 'x']
      const data = []
      for (let i = 0; i < Number(rounds); i++) {
        const one = mutate(pick(tests).data, keys)
        if (isFair(one)) data.push(one)
      }
      const verdicts = await ask({ draft, schema, data })
      data.forEach((one, i) => {
        compared++
        if ((verdicts[i] === 1) === validate(one)) return
        different++
        console.log(`${draft}/${file}: ${group.description}: ${JSON.stringify(schema)}\n  ${JSON.stringify(one)}: ours ${verdicts[i]}, ajv ${validate(one)}`)
      })
    }
}
oracle.stdin.end()
console.log(`${compared} verdicts in ${groups} groups, ${different} different`)
process.exit(different ? 1 : compared ? 0 : 77)
