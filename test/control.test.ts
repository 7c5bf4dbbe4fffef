import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callControl, serveControl } from '../src/admin/control.ts'
import type { Office } from '../src/admin/operations.ts'

test('an operation that is silent for longer than ten seconds is waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-control-'))
  const backup: Office['backup'] = async () => {
    await Bun.sleep(14_000) // Bun looks every four seconds.
    return { ok: true, value: 'done' }
  }
  const control = serveControl(folder, { backup } as unknown as Office)
  expect(await callControl(folder, 'backup', { file: '/nowhere' })).toEqual({ ok: true, value: 'done' })
  await control.stop()
  rmSync(folder, { recursive: true })
}, 30_000)
