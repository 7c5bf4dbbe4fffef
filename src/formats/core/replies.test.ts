/** Bodies that came with 200 but are no answer. The next offer is tried, and nobody pays. */
import { describe, expect, test } from 'bun:test'
import type { Turn } from '../../domain/turn.ts'
import { readMessagesReply } from '../messages/reply.ts'
import { upstreamSideOf } from '../upstream-sides.ts'

const quirks = { outputMaxField: 'max_tokens', usageInStream: 'on_request', usageDialect: 'inclusive' } as const
const turn = { messages: [], tools: [] } as unknown as Turn

const none: Readonly<Record<string, readonly unknown[]>> = {
  chat: [
    { choices: [null] },
    { choices: ['x', 1, null] },
    { choices: [{}] },
    { choices: [{ message: null }] },
    { choices: [{ message: 'x' }] },
    { choices: [{ message: [] }] },
    { choices: { 0: { message: {} } } },
  ],
  messages: [{ content: [null] }, { content: ['x'] }, { content: [[]] }, { content: {} }, { content: 'x' }],
  responses: [
    { output: [null] },
    { output: ['x'] },
    { output: [[]] },
    { output: {} },
    { status: 'failed', output: [] },
    { status: 'cancelled', output: [] },
    { status: 'queued', output: [] },
    { status: {}, output: [] },
  ],
  gemini: [{ candidates: [null] }, { candidates: ['x'] }, { candidates: {} }, { candidates: [[]] }],
}

describe.each(Object.entries(none))('%s', (dialect, replies) => {
  test.each(replies)('%j is no answer', (reply) => {
    const read = upstreamSideOf([dialect as 'chat']).readReply(JSON.stringify(reply), quirks, turn)
    expect(read).toMatchObject({ kind: 'failed' })
    if (dialect === 'messages') expect(readMessagesReply(JSON.stringify(reply))).toMatchObject({ kind: 'failed' })
  })
})
