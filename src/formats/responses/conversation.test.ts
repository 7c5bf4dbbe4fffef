import { expect, test } from 'bun:test'
import { readResponsesClient } from './client.ts'
import type { ResponsesConversation } from './conversation.ts'

const facts = { requestId: 'req_01m7zh4vfyaqznjycpdm614pv0', createdAtMs: 0, publicModel: 'm' }

async function conversationOf(body: object): Promise<ResponsesConversation> {
  const text = JSON.stringify({ model: 'm', input: 'hello', background: true, ...body })
  const read = await readResponsesClient(text, text.length)
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  return read.request.conversation
}

test('a deleted turn is not stored, even if it is cancelled later', async () => {
  const conversation = await conversationOf({})
  conversation.recall([], [])
  const encoder = conversation.side('ours').encoder(facts)
  conversation.cancel('forgotten')
  conversation.cancel('stopped')
  encoder.fail({ kind: 'unavailable', message: 'stopped' })
  expect(conversation.ended()).toBeUndefined()
  expect(conversation.keptBytes).toBeUndefined()
})

test('referenced items count with their size, and their number is bounded', async () => {
  const id = 'msg_01m7zh4vfyaqznjycpdm614pv1_0'
  const item = {
    type: 'message',
    id,
    role: 'assistant',
    content: [{ type: 'output_text', text: 'x'.repeat(1_000_000) }],
  }
  const turn = {
    id: 'resp_01m7zh4vfyaqznjycpdm614pv1',
    state: 'ended',
    input: '[]',
    output: JSON.stringify([item]),
  } as const
  const naming = (times: number): Promise<ResponsesConversation> =>
    conversationOf({ input: Array.from({ length: times }, () => ({ type: 'item_reference', id })) })
  const three = await naming(3)
  expect(three.recall([], [turn])).toBeUndefined()
  expect(three.keptBytes).toBeWithin(3_000_000, 3_010_000)
  expect((await naming(40)).recall([], [turn])).toMatchObject({ kind: 'context_length', param: 'input[33].id' })
})
