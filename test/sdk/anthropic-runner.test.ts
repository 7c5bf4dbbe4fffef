/**
 * The tool runner of Anthropic's SDK: it asks for a stored thread, gets the vendor's error for a missing one, and then
 * sends the whole conversation.
 */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { modelOf, setMessagesStage, thrown } from './messages-stage.ts'

const { join, anthropic, gateway } = setMessagesStage()

const weatherIn = (asked: string[]) =>
  betaTool({
    name: 'get_weather',
    description: 'Weather of a city',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }) => {
      asked.push(city)
      return `rain in ${city}`
    },
  })

describe.each(['native', 'chatty'] as const)('before a %s vendor', (vendor) => {
  const model = modelOf(vendor)

  test.each([false, true])('the runner calls its tool and ends with an answer, streamed: %p', async (stream) => {
    const me = await join()
    const asked: string[] = []
    const runner = anthropic(me).beta.messages.toolRunner({
      model,
      max_tokens: 500,
      stream,
      messages: [{ role: 'user', content: 'Weather in Oslo?' }],
      tools: [weatherIn(asked)],
    })
    const last = await runner.runUntilDone()
    expect(asked).toEqual(['Oslo'])
    expect(last.stop_reason).toBe('end_turn')
    expect(JSON.stringify(last.content)).toContain('rain in Oslo')
  })

  test('who asks for a thread is refused as the vendor refuses what threads do not support', async () => {
    const me = await join()
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
      const body = { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], thread } as const
      const error = await thrown(anthropic(me).beta.messages.create(body as never))
      expect(error).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError)
      expect(error).toMatchObject({
        status: 400,
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      })
    }
    const counted = await fetch(`${gateway().baseUrl}/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': me.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], thread: { type: 'create' } }),
    })
    expect(await counted.json()).toMatchObject({
      error: { type: 'invalid_request_error', details: { unsupported: ['thread'] } },
    })
  })
})
