import { expect, test } from 'bun:test'
import { readChatRequest } from '../../../test/support/read-chat.ts'

const said = { role: 'user', content: 'hi' }
const refusal = (fields: object): unknown => {
  const text = JSON.stringify({ model: 'm', messages: [said], ...fields })
  const read = readChatRequest(text, text.length)
  return read.kind === 'read' ? 'read' : [read.failure.kind, read.failure.param]
}
const part = (one: object): unknown => refusal({ messages: [{ role: 'user', content: [one] }] })

test.each([
  ['models', ['dear']],
  ['best_of', 3],
  ['plugins', [{ id: 'web' }]],
  ['web_search_options', {}],
  ['search_parameters', { mode: 'on' }],
  ['enable_search', true],
  ['provider', { order: ['dear'] }],
  ['route', 'fallback'],
  ['preset', 'dear'],
  ['fallbacks', [{ model: 'dear' }]],
  ['api_base', 'https://elsewhere.example'],
  ['API_Base', 'https://elsewhere.example'],
  ['mock_response', 'free'],
  ['Service_Tier', 'priority'],
  ['service_tier', 'priority'],
  ['Plugins', []],
  ['Max_Tokens', 9],
  ['ſtream', true],
])('%s is refused because its cost is unknown', (field, value) =>
  expect(refusal({ [field]: value })).toEqual(['unsupported_parameter', field]),
)

test('fields that are off, or that request text only, pass', () => {
  for (const fields of [
    { enable_search: false, models: null },
    { modalities: ['text'], audio: null },
    { service_tier: 'flex', store: true, prediction: { type: 'content', content: 'x' }, logit_bias: {} },
    {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'c' } },
      ],
    },
  ]) {
    expect(refusal(fields)).toBe('read')
  }
  expect(refusal({ modalities: ['text', 'audio'] })).toEqual(['unsupported_parameter', 'modalities'])
})

test('tools that run at the vendor are refused if they are the only ones or if one is forced', () => {
  const search = { type: 'web_search' }
  const tools = [{ type: 'function', function: { name: 'f' } }, search]
  expect(refusal({ tools })).toBe('read')
  expect(refusal({ tools: [search] })).toEqual(['unsupported_parameter', 'tools[0].type'])
  expect(refusal({ tools, tool_choice: search })).toEqual(['unsupported_parameter', 'tools[1].type'])
})

test('parts are text, images, or files inside the request', () => {
  for (const one of [
    { type: 'text', text: 'https://example.com' },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    { type: 'file', file: { file_data: 'AAAA' } },
  ]) {
    expect(part(one)).toBe('read')
  }
  const at = 'messages[0].content[0]'
  for (const [one, field] of [
    [{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }, 'type'],
    [{ type: 'document_url', document_url: 'https://example.com/a.pdf' }, 'type'],
    [{ type: 'file', file: { file_id: 'file-1' } }, 'file'],
    [{ type: 'file', file: { file_data: 'https://example.com/a.pdf' } }, 'file'],
    [{ type: 'file', file: { file_data: 'AAAA', file_url: 'https://example.com/a.pdf' } }, 'file'],
    [{ type: 'input_audio', input_audio: { data: 'gs://bucket/a.wav' } }, 'input_audio'],
    [{ type: 'input_audio', input_audio: { url: 'https://example.com/a.wav', data: 'AAAA' } }, 'input_audio'],
  ] as const) {
    expect(part(one)).toEqual(['unsupported_parameter', `${at}.${field}`])
  }
})
