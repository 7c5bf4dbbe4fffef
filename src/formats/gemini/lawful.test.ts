/** Conversations with models of other vendors, sent to a model of this API. */
import { expect, test } from 'bun:test'
import { DirectGemini } from './direct.ts'
import { readGeminiRequest } from './request.ts'
import { SKIP_VALIDATOR, writeSignature } from './signature.ts'

const quirks = { outputMaxField: 'max_tokens', usageInStream: 'unasked', usageDialect: 'inclusive' } as const

function told(contents: object[], model = 'gemini-3-pro-preview') {
  const text = JSON.stringify({ contents }).replaceAll('"DIGITS"', '1.0')
  const read = readGeminiRequest({ text, bytes: text.length, model: 'public', stream: false })
  if (read.kind === 'rejected') throw new Error(read.failure.message)
  const to = { upstreamModel: model, outputTokensMax: undefined, quirks }
  const { body, dropped } = new DirectGemini(read.request).request(to)
  return { text, body, dropped, contents: (JSON.parse(body) as { contents: object[] }).contents }
}

const hi = { role: 'user', parts: [{ text: 'go' }] }
const call = (name: string, id?: string): object => ({
  name,
  args: { at: 'DIGITS' },
  ...(id === undefined ? {} : { id }),
})
const result = (name: string, output: string, id?: string): object => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output } },
})
const foreign = writeSignature({ origin: 'messages', data: 'abc' })

test('a conversation of its own models goes up byte for byte', () => {
  const contents = [
    hi,
    { role: 'model', parts: [{ functionCall: call('f'), thoughtSignature: 'own' }, { functionCall: call('f') }] },
    { role: 'user', parts: [result('f', 'a')] },
    { role: 'user', parts: [result('f', 'b')] },
  ]
  const { body, text, dropped } = told(contents)
  expect(body).toBe(text)
  expect(dropped).toEqual([])
})

test('a call of another model gets a stand-in for its signature, if the family demands one', () => {
  const parts = [{ functionCall: call('f', '1') }, { functionCall: call('g', '2') }]
  const contents = [
    hi,
    { role: 'model', parts },
    { role: 'user', parts: [result('f', 'a', '1'), result('g', 'b', '2')] },
  ]
  const { contents: sent, body } = told(contents)
  expect(sent[1]).toMatchObject({ parts: [{ thoughtSignature: SKIP_VALIDATOR }, {}] })
  expect(JSON.stringify(sent[1]).match(/thoughtSignature/g)).toHaveLength(1)
  expect(body).toContain('"at":1.0')
  expect(told(contents, 'gemini-2.5-flash').body).not.toContain('thoughtSignature')
})

test('thoughts that another vendor sealed are removed, and the text beside them stays', () => {
  const contents = [
    hi,
    {
      role: 'model',
      parts: [
        { text: 'hidden', thought: true, thoughtSignature: foreign },
        { text: 'shown', thought_signature: foreign },
        { function_call: call('f'), thought_signature: foreign },
      ],
    },
    { role: 'user', parts: [result('f', 'a')] },
    { role: 'model', parts: [{ text: '', thought: true, thoughtSignature: foreign }] },
    hi,
  ]
  const { contents: sent, dropped } = told(contents)
  expect(dropped).toEqual(['reasoning'])
  expect(sent[1]).toMatchObject({ parts: [{ text: 'shown' }, { thoughtSignature: SKIP_VALIDATOR }] })
  expect(sent).toHaveLength(4)
  expect(JSON.stringify(sent)).not.toContain(foreign)
})

test('an interrupted call gets a result, in the order of the calls', () => {
  const signed = (name: string): object => ({ functionCall: call(name), thoughtSignature: 'own' })
  const outputs = (content: object | undefined): string[] =>
    [...JSON.stringify(content).matchAll(/"output":"([^"]*)"/g)].map(([, text = '']) => text.slice(0, 8))
  const parts = [signed('f'), signed('g'), signed('h')]
  const some = told([hi, { role: 'model', parts }, { role: 'user', parts: [{ text: 'wait' }, result('g', 'b')] }])
  expect(outputs(some.contents[2])).toEqual(['The call', 'b', 'The call'])
  expect(JSON.stringify(some.contents[2])).toContain('wait')
  const none = told([hi, { role: 'model', parts: [signed('f')] }, hi])
  expect(outputs(none.contents[2])).toEqual(['The call'])
  const last = told([hi, { role: 'model', parts: [signed('f')] }])
  expect(outputs(last.contents[2])).toEqual(['The call'])
})
