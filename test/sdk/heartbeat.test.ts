import { expect, test } from 'bun:test'
import { chat } from '../support/gateway.ts'
import { startInBun, startInNode, startInPython, type ClientProcess } from './client-process.ts'
import { ask } from './openai-answers.ts'
import type { AddressedCall, Reply, StreamedAnswer } from './protocol.ts'
import { findPython } from './python-package.ts'
import { setStage, SILENCE_MS } from './stage.ts'

// At worst a heartbeat comes after two of its times: as ten seconds are to a silence of twenty-one.
const { gateway, join, expectPaid } = setStage({ TOLLGATE_HEARTBEAT_MS: String(Math.round(SILENCE_MS / 2.1)) })

/** Every client that there is on this machine; openai-*.test.ts say which there are not. */
async function startClients(): Promise<Record<string, ClientProcess>> {
  const node = Bun.which('node')
  const found = findPython()
  return {
    'openai-6 in Bun': startInBun('openai-6'),
    'openai-7 in Bun': startInBun('openai-7'),
    ...(node && { 'openai-6 in Node': await startInNode(node, 'openai-6') }),
    ...(found.kind === 'found' && { 'openai in Python': startInPython(found.python, found.folder, 'strict') }),
  }
}

const prompt = 'Say exactly: Silence is golden'
const body = { ...ask(prompt), stream_options: { include_usage: true } }

const streamOf = (reply: Reply): StreamedAnswer =>
  'seen' in reply ? (reply.seen as StreamedAnswer) : expect.unreachable(reply.error)

/** The bytes themselves show what the SDKs hide: that there were heartbeats. */
async function expectHeartbeats(model: string): Promise<void> {
  const text = await (await chat(gateway(), { model, stream: true, ...body })).text()
  expect(text.match(/^: ping$/gm)?.length).toBeGreaterThan(0)
  expect(text).toEndWith('data: [DONE]\n\n')
}

/** All clients at once, each with calls of its own, one after the other. */
async function expectPatience(models: readonly string[]): Promise<void> {
  const clients = await startClients()
  const listening = Object.entries(clients).map(async ([name, client]) => {
    for (const model of models) await expectAnswer(name, client, model)
    await client.stop()
  })
  await Promise.all([...models.map(expectHeartbeats), ...listening])
}

async function expectAnswer(name: string, client: ClientProcess, model: string): Promise<void> {
  const me = await join()
  const order: AddressedCall = {
    command: 'stream',
    baseUrl: gateway().baseUrl,
    key: me.key,
    body: { model, ...body },
  }
  const { chunks, error, requestId } = streamOf(await client.obey(order))
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  expect({ name, model, text, error }).toEqual({ name, model, text: 'Silence is golden', error: null })
  await expectPaid(me, [{ usage: chunks.at(-1)?.usage ?? expect.unreachable(), requestId }])
}

test(
  'a vendor that is silent before its first event, or between two, is no trouble for any client',
  async () => {
    await expectPatience(['begins-late', 'pauses'])
  },
  60_000 + 10 * SILENCE_MS,
)
