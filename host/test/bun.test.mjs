// SPDX-License-Identifier: MIT
//
// The host on Bun: there is no lock for it, so that it refuses to run anything and says what is open (contract 3.2, 3.4).
import test from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { BUNDLE } from './harness.mjs'

const FLAGS = ['--no-install', '--no-env-file', '--config=/dev/null', '--no-addons']

const findBun = () => execFileSync(new URL('../../scripts/get-node', import.meta.url).pathname, ['--runtime', 'bun'], { encoding: 'utf8' }).trim()

test('L01 Bun is refused by what its self test finds open, before it says hello', () => {
  for (const tier of ['plugin', 'strip']) {
    const done = spawnSync(findBun(), [...FLAGS, BUNDLE, `--tier=${tier}`], { env: { BUN_JSC_useShadowRealm: '0', BUN_OPTIONS: '' }, input: '', encoding: 'utf8' })
    assert.equal(done.status, 70, done.stderr)
    assert.equal(done.stdout, '')
    for (const door of ['import of a data: URL', 'import of a blob: URL', 'Bun.plugin', 'bun:ffi', 'Select Node'])
      assert.ok(done.stderr.includes(door), done.stderr)
    // What the flags and the environment of a launch shut is shut.
    assert.ok(!done.stderr.includes('ShadowRealm'), done.stderr)
  }
})
