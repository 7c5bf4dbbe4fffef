import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askAddress, serveControl } from '../../src/admin/control.ts'
import type { AdminServices } from '../../src/admin/operations.ts'

const ADDRESS = { scheme: 'http' as const, host: '127.0.0.1', port: 4711, publicUrl: undefined }

test('a server says where it is; without one nobody does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-control-'))
  const control = serveControl(folder, {} as AdminServices, ADDRESS)
  expect(await askAddress(folder)).toEqual({ scheme: 'http' as const, host: '127.0.0.1', port: 4711 } as typeof ADDRESS)
  await control.stop()
  expect(await askAddress(folder)).toBeUndefined()
  rmSync(folder, { recursive: true })
})
