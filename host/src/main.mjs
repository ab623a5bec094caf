// SPDX-License-Identifier: MIT
//
// The extension host. Runs inside the sandbox of one plugin's unit, reached over descriptors 0 and 1. The order of the steps
// matters: what the host needs is captured first, the doors are shut and tried before anything of an extension is loaded.
import { endProcess, fileURLToPath, processVersion, readFileSync, setTimer, sha256Hex } from './primordials.mjs'
import { ERROR_BYTES_MAX, EXIT_LOCK, EXIT_OK, EXIT_PROTOCOL, EXIT_USAGE, PROTOCOL } from './limits.mjs'
import { errorText, objectText, quote } from './json.mjs'
import { startAdmission } from './admission.mjs'
import { Extensions } from './activation.mjs'
import { FrameError } from './frame.mjs'
import { Host } from './host.mjs'
import { lockRuntime } from './lock.mjs'
import { ProtocolError } from './rpc.mjs'
import { shareLibraries } from './shared.mjs'
import { testBun } from './bun.mjs'
import { testLock } from './selftest.mjs'
import { TIERS } from './wire.mjs'

const FLUSH_MS = 500

const { stdin, stdout } = process
const writeOut = stdout.write.bind(stdout)

function tierOf(argv) {
  const found = /^--tier=(.*)$/.exec(argv.at(-1) ?? '')
  if (found && TIERS.includes(found[1]) && argv.length === 3) return found[1]
  process.stderr.write(`codewhale-extension-host: the last and only argument is --tier=, one of ${TIERS.join(', ')}\n`)
  endProcess(EXIT_USAGE)
}

/* Whatever was written before goes out first, as long as somebody reads it. */
function exit(code) {
  stdin.destroy()
  if (stdout.writableLength === 0) endProcess(code)
  writeOut('', () => endProcess(code))
  setTimer(() => endProcess(code), FLUSH_MS)
}

/* An error of the host itself */
function fail(error) {
  process.stderr.write(`codewhale-extension-host: ${error?.stack ?? errorText(error, ERROR_BYTES_MAX)}\n`)
  endProcess(EXIT_LOCK)
}

function helloText(tier, verified) {
  const list = `[${verified.map(quote).join(',')}]`
  return objectText([
    ['protocol', `{"min":${PROTOCOL},"max":${PROTOCOL}}`],
    ['host_version', quote(HOST_VERSION)],
    ['bundle_sha256', quote(sha256Hex(readFileSync(fileURLToPath(import.meta.url), 'utf8')))],
    ['runtime', objectText([['name', '"node"'], ['version', quote(processVersion.slice(1))]])],
    ['tier', quote(tier)],
    ['builtin_modules', '[]'],
    ['verified_doors', list],
  ])
}

function listen(host) {
  stdin.on('data', chunk => {
    try {
      host.channel.receive(chunk)
    } catch (error) {
      if (error instanceof FrameError || error instanceof ProtocolError) host.violate(error)
      else fail(error)
    }
  })
  stdin.on('end', () => exit(host.channel.reader.between() ? EXIT_OK : EXIT_PROTOCOL))
  stdin.on('error', () => exit(EXIT_PROTOCOL))
  stdout.on('error', () => endProcess(EXIT_OK))
}

/* No lock is known for Bun, so that there is one for Node alone. What it would have to shut is tried on every start all the same:
 * whoever asked for Bun is told what is open, and not that somebody does not like it. */
if (process.versions.bun !== undefined) {
  const open = await testBun()
  process.stderr.write(`codewhale-extension-host: Bun ${process.versions.bun} cannot be locked: ${open.join('; ')}. Select Node, ^22.19 or 24 and newer\n`)
  endProcess(EXIT_LOCK)
}

const tier = tierOf(process.argv)
const host = new Host({ tier, write: writeOut, exit })
const extensions = tier === 'plugin' ? new Extensions(host) : undefined
host.extensions = extensions

function onUncaught(error) {
  if (!extensions?.blame(error)) fail(error)
}

shareLibraries()
startAdmission()
lockRuntime(onUncaught)
const { verified, open } = await testLock()
if (open.length > 0) {
  process.stderr.write(`codewhale-extension-host: the lock does not hold: ${open.join('; ')}\n`)
  endProcess(EXIT_LOCK)
}
listen(host)
host.hello(helloText(tier, verified))
