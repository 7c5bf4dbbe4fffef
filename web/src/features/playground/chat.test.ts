import { expect, test } from 'bun:test'
import { codeOf, shortened } from './code.ts'
import { bodyOf, grown, openCalls, type Message } from './messages.ts'
import { exampleTools, noSettings, problemsOf } from './settings.ts'

const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }
const picture = { name: 'a.png', address: `data:image/png;base64,${'A'.repeat(400)}`, bytes: 300 }
const said: readonly Message[] = [
  { role: 'user', text: 'What is it?', pictures: [picture] },
  { role: 'assistant', text: '', calls: [call], state: 'done' },
  { role: 'tool', call, text: 'rain' },
]

test('a request has the pictures, the calls and what the tools said', () => {
  const body = bodyOf('m', { ...noSettings, system: 'Be brief.', topP: '0.5', tools: exampleTools }, said)
  expect(body).toMatchObject({
    model: 'm',
    top_p: 0.5,
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: { url: picture.address } }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ],
  })
  expect(body).not.toHaveProperty('temperature')
})

test('of an answer that was cut short the words are kept, and calls that are not whole are not', () => {
  const cut: Message = { role: 'assistant', text: 'It is', calls: [call], state: 'stopped' }
  const lost: Message = { role: 'assistant', text: 'no', calls: [], state: 'failed' }
  expect(bodyOf('m', noSettings, [cut, lost])['messages']).toEqual([{ role: 'assistant', content: 'It is' }])
  expect(openCalls([cut])).toEqual([])
  expect(openCalls(said.slice(0, 2))).toEqual([call])
})

test('calls grow piece by piece, several at once', () => {
  const deltas = [
    { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] },
    {
      tool_calls: [
        { index: 0, function: { arguments: '{"x"' } },
        { index: 1, id: 'b', function: { name: 'g' } },
      ],
    },
    { content: 'so', tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
  ]
  expect(deltas.reduce(grown, { text: '', calls: [] })).toEqual({
    text: 'so',
    calls: [
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '' },
    ],
  })
})

test('what is wrong with settings is said where it is', () => {
  const wrong = { ...noSettings, temperature: '3', topP: 'x', maxTokens: '0', tools: '[\n  {},\n]' }
  expect(problemsOf(wrong)).toMatchObject({
    temperature: { values: { most: 2 } },
    topP: { values: { most: 1 } },
    maxTokens: {},
    tools: { key: 'play.wrong.json', values: { line: 3, column: 1 } },
  })
  expect(problemsOf({ ...noSettings, tools: '{}' }).tools?.key).toBe('play.wrong.toolList')
  expect(problemsOf({ ...noSettings, tools: '[{"type":"function"}]' }).tools?.values).toEqual({ n: 1 })
  expect(problemsOf({ ...noSettings, tools: exampleTools, temperature: '0.7' })).toEqual({})
})

test('code is the request itself, in every language, and cut short only for the eye', async () => {
  const body = bodyOf('m', { ...noSettings, tools: exampleTools, system: `it's "so"\n🙂` }, said)
  const facts = { baseUrl: 'http://localhost/v1', body }
  const [, sent = ''] = /<<'JSON'\n([^]*)\nJSON$/.exec(codeOf('curl', facts)) ?? []
  expect(JSON.parse(sent)).toEqual(body)
  const [, literal = ''] = /create\(([^]*?)\)\nfor await/.exec(codeOf('typescript', facts)) ?? []
  expect(JSON.parse(literal)).toEqual(body)
  const python = Bun.which('python3')
  if (python) {
    const source = codeOf('python', facts).replaceAll(/^(?:from|client|for|    for|        print).*$/gm, '')
    const made = source.replace('client.chat.completions.create', 'dict').replace('stream = ', 'made = ')
    const run = Bun.spawnSync([python, '-c', `${made}\nimport json\nprint(json.dumps(made))`])
    expect(JSON.parse(run.stdout.toString())).toEqual(body)
  }
  expect(shortened(sent)).not.toContain('A'.repeat(100))
  expect(shortened(sent)).toContain('data:image/png;base64,AAAA')
})
