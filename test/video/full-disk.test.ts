/** A video that is downloaded while the disk is full. `/dev/full` takes no byte, as such a disk does. */
import { expect, test } from 'bun:test'
import { bringFile } from '../../src/video/file.ts'
import { AbortGroup } from '../../src/video/abort-group.ts'
import { emptyMp4 } from '../support/video-vendor.ts'

const path = '/dev/full'
type Deps = Parameters<typeof bringFile>[0]
type From = Parameters<typeof bringFile>[2]

test('a full disk is told apart from a bad download, however the file comes', async () => {
  const file = emptyMp4(5, 100_000)
  const vendor = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(file) })
  const origin = vendor.url.origin
  const provider = { baseUrl: `${origin}/api`, reach: 'private' }
  const sources: readonly From['source'][] = [
    { kind: 'url', url: `${origin}/file.mp4`, credential: 'none' },
    { kind: 'inline', base64: file.toString('base64') },
  ]
  const deps = { halt: new AbortGroup() } as Pick<Deps, 'halt'> as Deps
  const blob = { path } as Parameters<typeof bringFile>[1]
  for (const source of sources) {
    const from = { source, vendor: { provider } } as From
    expect(await bringFile(deps, blob, from)).toEqual({ kind: 'no_room' })
  }
  await vendor.stop(true)
})
