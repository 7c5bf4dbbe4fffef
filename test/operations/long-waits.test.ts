/** Long waits whose length is the point. They run at the same time, because they need no work. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callControl, serveControl } from '../../src/admin/control.ts'
import type { AdminServices } from '../../src/admin/operations.ts'
import { startGateway } from '../support/gateway.ts'
import { VideoClient } from '../support/video-client.ts'
import { arkError, startVideoVendor, videoYaml } from '../support/video-vendor.ts'

test.concurrent('an operation that is silent for longer than ten seconds is waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-control-'))
  const backup: AdminServices['backup'] = async () => {
    await Bun.sleep(14_000) // Bun looks every four seconds.
    return { ok: true, value: 'done' }
  }
  const address = { scheme: 'http' as const, host: '127.0.0.1', port: 4711, publicUrl: undefined }
  const catchUp = (): Promise<void> => Promise.resolve()
  const control = serveControl(folder, { backup, catchUp } as unknown as AdminServices, address)
  expect(await callControl(folder, 'backup', { file: '/nowhere' })).toEqual({ ok: true, value: 'done' })
  await control.stop()
  rmSync(folder, { recursive: true })
}, 30_000)

test.concurrent('a submission of a video that takes longer than a client waits stands; refused in the end, it is refunded', async () => {
  const vendor = startVideoVendor()
  const gateway = await startGateway({ yaml: videoYaml(vendor.origin), env: { TOLLGATE_VIDEO_POLL_MS: '25' } })
  const client = new VideoClient(gateway)
  vendor.plan.submit = async () => {
    await Bun.sleep(21_000)
    return arkError(400, 'InvalidParameter')
  }
  const cost = await client.cost(async () => {
    const startedMs = performance.now()
    const task = await client.made()
    expect([task.status, Math.round((performance.now() - startedMs) / 1_000)]).toEqual(['queued', 20])
    expect((await client.ended(task.id)).error?.message).toBe('The video could not be made.')
  })
  expect(cost).toBe('0.000000')
  await gateway.close()
  await vendor.stop()
}, 40_000)
