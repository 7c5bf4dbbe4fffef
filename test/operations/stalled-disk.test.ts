/**
 * A disk that does not answer for a while: nothing is acknowledged that it has not written, and nobody waits for ever.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, startGateway } from '../support/gateway.ts'

test('new work is refused, nothing is said before it is written down, and it goes on where it was', async () => {
  const gateway = await startGateway({ env: { TOLLGATE_HEARTBEAT_MS: '300' } })
  await (await chat(gateway, { model: 'sandbox-chat', max_tokens: 3 })).text()
  const ready = async (): Promise<number> => (await fetch(new URL('/readyz', gateway.baseUrl))).status
  // Another's lock on the database: the writer waits for it as for a disk, for five seconds at most.
  const other = new Database(join(gateway.folder, 'tollgate.db'))
  other.run('BEGIN IMMEDIATE')
  const startedMs = performance.now()
  const begun = [false, true].map(async (stream) => {
    const answer = await chat(gateway, { model: 'sandbox-chat', max_tokens: 3, stream })
    const headMs = performance.now() - startedMs
    return { status: answer.status, headMs, text: await answer.text() }
  })
  await Bun.sleep(1_000)
  expect(await ready()).toBe(200)
  await Bun.sleep(1_800)
  expect(await ready()).toBe(503)
  const refused = await chat(gateway, { model: 'sandbox-chat' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.text()).toContain('the disk does not respond to writes')
  // It is looked for once a second.
  for (let i = 0; i < 60 && !gateway.output().includes('store.stalled'); i++) await Bun.sleep(20)
  const releasedMs = performance.now() - startedMs
  other.run('COMMIT')
  other.close()
  for (const { status, headMs, text } of await Promise.all(begun)) {
    expect([status, text.includes('"finish_reason":"length"')]).toEqual([200, true])
    expect(headMs).toBeGreaterThan(releasedMs - 50)
  }
  expect(await ready()).toBe(200)
  expect(gateway.output().match(/"event":"store.stalled"/g)).toHaveLength(1)
  await gateway.close()
}, 20_000)
