import { expect, test } from 'bun:test'
import { answerChat } from '../sandbox/chat/chat.ts'
import { sandboxModels } from './sandbox-provider.ts'

const usageOf = (fields: object): { prompt_tokens: number; completion_tokens: number } => {
  const body = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'write 60000 tokens' }], ...fields }
  const reply = answerChat({ body, tail: '', faults: {}, origin: '' })
  if (reply.kind !== 'json') throw new Error(JSON.stringify(reply))
  return (reply.body as { usage: ReturnType<typeof usageOf> }).usage
}

test('without a limit, a choice has no more tokens than the gateway holds for', () => {
  const { outputTokensMax } = sandboxModels.find(({ id }) => id === 'sandbox-chat')?.limits ?? {}
  expect(usageOf({}).completion_tokens).toBe(Number(outputTokensMax))
  expect(usageOf({ max_tokens: 20_000 }).completion_tokens).toBe(20_000)
  expect(usageOf({ max_completion_tokens: 20_000 }).completion_tokens).toBe(20_000)
})
