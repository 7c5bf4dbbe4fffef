/** The memory of a gateway while a large video goes to S3, and while slow clients read it. */
import { expect, test } from 'bun:test'
import { MIB } from '../../src/lib/primitives/units.ts'
import { INSTANCES } from '../support/gateway.ts'
import { residentMib } from '../support/memory.ts'
import { TestS3 } from '../support/s3.ts'
import { useGateway } from '../support/use-gateway.ts'
import { VideoClient } from '../support/video-client.ts'
import { emptyMp4, startVideoVendor, videoYaml } from '../support/video-vendor.ts'

const FILE_BYTES = 200 * MIB
const READERS = 12

const s3 = await TestS3.start()
const vendor = startVideoVendor()
const gateway = useGateway(
  { yaml: videoYaml(vendor.origin), env: { ...s3.env, TOLLGATE_VIDEO_POLL_MS: '25' } },
  async () => {
    await vendor.stop()
    await s3.stop()
  },
)

/** Reads a little, and then nothing. */
async function readLittle(url: string): Promise<{ bytes: number; close(): void }> {
  const reading = { bytes: 0, close: () => socket.terminate() }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(url).port),
    socket: {
      data(peer, chunk) {
        reading.bytes += chunk.length
        if (reading.bytes > 100_000) peer.pause()
      },
    },
  })
  socket.write(`GET ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\n\r\n`)
  return reading
}

test('a video of 200 MB is neither uploaded from memory nor read into it', async () => {
  const client = new VideoClient(gateway)
  vendor.plan.file = () => new Response(emptyMp4(5, MIB))
  await client.ended((await client.made()).id)
  const before = residentMib(gateway.pids)
  const file = emptyMp4(5, FILE_BYTES)
  vendor.plan.file = () => new Response(file)
  const { id } = await client.made()
  const url = (await client.ended(id, 120_000)).metadata?.url ?? ''
  const uploading = residentMib(gateway.pids, 'VmHWM') - before
  const readers = await Promise.all(Array.from({ length: READERS }, () => readLittle(url)))
  while (readers.some(({ bytes }) => bytes < 100_000)) await Bun.sleep(20)
  await Bun.sleep(1_000)
  const reading = residentMib(gateway.pids) - before
  for (const reader of readers) reader.close()
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of (await fetch(url)).body ?? []) hash.update(piece)
  const passing = residentMib(gateway.pids, 'VmHWM') - before
  expect(hash.digest('hex')).toBe(Bun.SHA256.hash(file, 'hex'))
  // Each instance has its own memory.
  expect(uploading).toBeLessThan(80 * INSTANCES)
  expect(reading).toBeLessThan(80 * INSTANCES)
  expect(passing).toBeLessThan(100 * INSTANCES)
}, 180_000)
