// SPDX-License-Identifier: MIT
//
// Builds the extension host: npm's locked packages + src/ -> one ES module, its digest as a C header, and the notices of
// what was bundled. Everything happens in a work folder of the build tree; the source tree is only read.
//
//   node build.mjs --source DIR --work DIR --npm PROGRAM --bundle FILE --header FILE --notices FILE
//
// The result depends on the sources and the lock alone: paths that esbuild writes into its output are relative to the work
// folder, which always has the same layout.
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: Object.fromEntries(['source', 'work', 'npm', 'bundle', 'header', 'notices'].map(name => [name, { type: 'string' }])),
})
const source = resolve(options.source)
const work = resolve(options.work)

function fail(text) {
  process.stderr.write(`host/build.mjs: ${text}\n`)
  process.exit(1)
}

function digest(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/* npm ci is skipped while the lock that made the installed tree is the one in the source. */
function installPackages() {
  const stamp = join(work, 'installed')
  const wanted = digest(join(source, 'package-lock.json'))
  mkdirSync(work, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(source, name), join(work, name))
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const result = spawnSync(options.npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: work,
    stdio: ['ignore', 2, 2],
  })
  if (result.error) fail(`cannot run ${options.npm}: ${result.error.message}`)
  if (result.status !== 0) fail(`${options.npm} ci failed; the extension host needs npm and a package registry to build, or -Dhost-bundle=false`)
  writeFileSync(stamp, wanted)
}

function copySources() {
  rmSync(join(work, 'src'), { recursive: true, force: true })
  cpSync(join(source, 'src'), join(work, 'src'), { recursive: true })
}

/* One section a package that has at least one byte in the bundle, in the order of their names. */
function noticesOf(metafile) {
  const packages = new Set()
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)
      if (found && bytesInOutput > 0) packages.add(found[1])
    }
  }
  const sections = [...packages].sort().map(name => {
    const folder = join(work, 'node_modules', name)
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const text = ['LICENSE', 'LICENSE.md', 'LICENCE'].map(file => join(folder, file)).find(existsSync)
    if (!text) fail(`${name} ${version} is bundled but has no licence file`)
    return `${name} ${version} (${license})\n\n${readFileSync(text, 'utf8').trim()}\n`
  })
  return `The extension host contains these packages.\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`
}

installPackages()
copySources()

const { version } = JSON.parse(readFileSync(join(work, 'package.json'), 'utf8'))
const esbuild = createRequire(join(work, 'package.json'))('esbuild')
const result = await esbuild.build({
  absWorkingDir: work,
  entryPoints: ['src/main.mjs'],
  outfile: 'codewhale-extension-host.mjs',
  bundle: true,
  platform: 'node',
  // What the self tests try to load is looked for when they run. /proc/self would be this build itself.
  external: ['bun:*', 'data:*', '/proc/*'],
  format: 'esm',
  target: 'node22',
  // One byte a character: the runtime decodes and parses it faster.
  charset: 'ascii',
  // Whitespace and syntax only: names stay, so that a stack trace in the journal can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  keepNames: false,
  legalComments: 'none',
  define: { HOST_VERSION: JSON.stringify(version) },
  metafile: true,
  logLevel: 'warning',
})
if (result.errors.length > 0) fail('esbuild reported errors')
/* Two builds of one source give the same bytes, whoever builds where. */
const strangers = Object.keys(result.metafile.inputs).filter(path => !/^(src|node_modules)\//.test(path))
if (strangers.length > 0) fail(`the bundle holds what is neither ours nor a locked package's: ${strangers.join(', ')}`)

const bundle = join(work, 'codewhale-extension-host.mjs')
cpSync(bundle, options.bundle)
writeFileSync(options.header, `/* SPDX-License-Identifier: MIT */
#pragma once

/* SHA-256 of codewhale-extension-host.mjs as it was built */
#define HOST_BUNDLE_SHA256 "${digest(bundle)}"
`)
writeFileSync(options.notices, noticesOf(result.metafile))
