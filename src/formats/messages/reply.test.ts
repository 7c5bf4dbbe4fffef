import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readMessagesReply } from './reply.ts'
import { readMessagesUsage } from './usage.ts'

const answer = { requestId: 'req_1', createdAtMs: 0, publicModel: 'public' }
const counted = readMessagesUsage({ input_tokens: 7, output_tokens: 9 }) ?? expect.unreachable()
const usage = { input_tokens: 1, output_tokens: 2 }

function written(text: string): string {
  const read = readMessagesReply(text)
  return read.kind === 'reply' ? read.reply.write(answer, read.reply.usage ?? counted) : read.failure.kind
}

test('a whole reply passes byte for byte, except for the model’s name', () => {
  const extra = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
  const property = fc.property(extra, fc.nat(2), fc.constantFrom('public', 'vendor/m-2'), (more, indent, model) => {
    const { error: _, ...rest } = more
    const content = [{ type: 'text', text: 'usage model "x"', model: 'x' }]
    const text = JSON.stringify({ ...rest, content, model, usage }, null, indent)
    const at = text.lastIndexOf(`"${model}"`)
    expect(written(text)).toBe(`${text.slice(0, at)}"public"${text.slice(at + model.length + 2)}`)
  })
  fc.assert(property, { numRuns: 500 })
})

test('text of every kind counts if no usage is reported, and the count is stated', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Hi' },
    { type: 'tool_use', name: 'f', input: { a: 1 } },
  ]
  const read = readMessagesReply(JSON.stringify({ type: 'message', content }))
  if (read.kind === 'failed') return expect.unreachable()
  expect([read.reply.usage, read.reply.produced]).toEqual([undefined, 'Hm.\nHi\nf{"a":1}'])
  expect(JSON.parse(written(JSON.stringify({ content })))).toMatchObject({
    usage: { input_tokens: 7, output_tokens: 9 },
  })
})

test('a body that is no message is the vendor’s failure', () => {
  for (const text of ['', 'null', '[]', '{}', '{"content":"x"}']) expect(written(text)).toBe('garbage')
  expect(written('{"type":"error","error":{"type":"overloaded_error","message":"m"}}')).toBe('overload')
})
