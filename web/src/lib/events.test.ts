import { expect, test } from 'bun:test'
import { eventsOf } from './events.ts'

const text =
  'data: {"n":1}\n\n: ping\n\nevent: x\r\ndata:{"n":2}\r\n\r\ndata: {"é":"🙂"}\n\ndata: [DONE]\n\ndata: {"n":9}\n\n'

test('events are the same wherever their bytes are divided', async () => {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at <= bytes.length; at++) {
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        for (const part of [bytes.slice(0, at), bytes.slice(at)]) stream.enqueue(part)
        stream.close()
      },
    })
    expect(await Array.fromAsync(eventsOf(new Response(body)))).toEqual([{ n: 1 }, { n: 2 }, { é: '🙂' }])
  }
})

test('whoever reads no further lets go of the answer', async () => {
  let isLeft = false
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode('data: {"n":1}\n\n')),
    cancel: () => void (isLeft = true),
  })
  for await (const event of eventsOf(new Response(body))) {
    expect(event).toEqual({ n: 1 })
    break
  }
  expect(isLeft).toBe(true)
})
