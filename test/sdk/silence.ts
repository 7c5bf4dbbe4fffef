/**
 * The edge's own stream body in front of events that come slowly: what clients make of the heartbeats in between, which
 * the gateway itself would send only after seconds.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { streamBody } from '../../src/edge/stream-body.ts'
import { Call } from '../../src/relay/call.ts'
import { ask } from './openai-answers.ts'
import type { Clerk } from './stage.ts'

const HEARTBEAT_MS = 10
const WORDS = ['Silence', ' is', ' golden']

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'quiet' }
const eventOf = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`

async function* slowEvents(): AsyncGenerator<string, void> {
  for (const content of WORDS) {
    await Bun.sleep(HEARTBEAT_MS * 5)
    yield eventOf({ role: 'assistant', content }, null)
  }
  await Bun.sleep(HEARTBEAT_MS * 5)
  yield `${eventOf({}, 'stop')}data: [DONE]\n\n`
}

function serveSlowly(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: () => {
      const call = new Call('req_1', {} as never, {} as never, performance.now())
      const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': call.id }
      return new Response(streamBody(call, slowEvents(), HEARTBEAT_MS), { headers })
    },
  })
}

export function testSilence(clerk: Clerk): void {
  let server: Bun.Server<undefined>
  beforeAll(() => {
    server = serveSlowly()
  })
  afterAll(() => server.stop(true))

  test('heartbeats before, between and after events are no events to the client', async () => {
    const raw = await (await fetch(server.url)).text()
    // In each of the four silences, and never inside an event.
    expect(raw.match(/^: ping$/gm)?.length).toBeGreaterThanOrEqual(WORDS.length + 1)
    expect(raw).toMatch(/^: ping\n/)
    const someone = { key: 'sk-tg-none', baseUrl: `${server.url.href}v1` }
    const body = { model: 'quiet', ...ask('Hush') }
    const { chunks, error } = await clerk.ask(someone, 'stream', { body })
    expect(error).toBeNull()
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '')).toEqual([...WORDS, ''])
    const { completion } = await clerk.ask(someone, 'assemble', { body })
    expect(completion.choices[0]).toMatchObject({ message: { content: WORDS.join('') }, finish_reason: 'stop' })
  })
}
