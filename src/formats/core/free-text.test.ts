/** Custom tools at upstreams that know functions only, and the free text of their calls in the answer. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Delta, Reply, Turn } from '../../domain/turn.ts'
import { freeText, FreeText, withFunctions } from './free-text.ts'

const patch = '*** Begin Patch\n*** Add File: "a".txt\n+é \u{1F600} \\n\t\n*** End Patch'
const turn: Turn = {
  messages: [
    {
      role: 'assistant',
      parts: [{ kind: 'tool_call', id: 'c1', name: 'apply_patch', arguments: patch, tool: 'custom' }],
    },
    { role: 'tool', callId: 'c1', parts: [{ kind: 'text', text: 'Done.' }] },
  ],
  tools: [
    { kind: 'function', name: 'look' },
    {
      kind: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' },
    },
  ],
  choices: 1,
  foreign: [],
}

const call = (name: string, n = 0, choice = 0): Delta => ({
  kind: 'call',
  choice,
  call: n,
  id: `c${n}`,
  name,
  tool: 'function',
})
const words = (text: string, n = 0, choice = 0): Delta => ({ kind: 'arguments', choice, call: n, text })
const finish = (choice = 0): Delta => ({ kind: 'finish', choice, reason: 'tool_calls' })

const heard = (deltas: readonly Delta[]): Record<string, string> => {
  const texts: Record<string, string> = {}
  for (const delta of deltas) {
    if (delta.kind !== 'arguments') continue
    const key = `${delta.choice}/${delta.call}`
    texts[key] = (texts[key] ?? '') + delta.text
  }
  return texts
}

test('a custom tool becomes a function of one text with its grammar in words, and so do its calls in the history', () => {
  const { tools, messages } = withFunctions(turn)
  expect(tools[0]).toBe(turn.tools[0] ?? expect.unreachable())
  expect(tools[1]).toEqual({
    kind: 'function',
    name: 'apply_patch',
    description:
      "Edits files.\n\nThe input must match this lark grammar:\nstart: /.+/s\n\nGive the whole text as 'input', as it is.",
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  })
  expect(messages[0]).toMatchObject({ parts: [{ tool: 'function', arguments: JSON.stringify({ input: patch }) }] })
})

test('a turn without custom tools stays the same object', () => {
  const plain: Turn = { ...turn, tools: turn.tools.slice(0, 1), messages: [] }
  expect(withFunctions(plain)).toBe(plain)
})

describe('the free text of a call', () => {
  test('comes as it is decoded, wherever its JSON is cut', () => {
    const json = JSON.stringify({ input: patch })
    const escaped = json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const text = fc.constantFrom(json, escaped, ` { "input" : "${json.slice(10)}`)
    fc.assert(
      fc.property(text, fc.array(fc.nat(json.length), { maxLength: 20 }), (whole, places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), whole.length]
        const pieces = cuts.slice(1).map((cut, i) => words(whole.slice(cuts[i], cut)))
        const deltas = new FreeText(turn).deltas([call('apply_patch'), ...pieces, finish()])
        expect(heard(deltas)).toEqual({ '0/0': patch })
        expect(deltas[0]).toMatchObject({ kind: 'call', tool: 'custom' })
      }),
    )
  })

  test('comes before its call has ended', () => {
    const reader = new FreeText(turn)
    reader.deltas([call('apply_patch')])
    expect(reader.deltas([words('{"input":"*** Begin')])).toEqual([words('*** Begin')])
  })

  test('of several open calls and choices is told apart, and functions keep their arguments', () => {
    const deltas = new FreeText(turn).deltas([
      call('apply_patch', 0),
      call('look', 1),
      call('apply_patch', 0, 1),
      words('{"input":"a'),
      words('{"input":1}', 1),
      words('{"patch":"c"}', 0, 1),
      words('b"}'),
      finish(),
      finish(1),
    ])
    expect(heard(deltas)).toEqual({ '0/0': 'ab', '0/1': '{"input":1}', '1/0': 'c' })
    expect(deltas.at(-1)).toEqual(finish(1))
  })

  test('is found if a model renamed the argument or left it out', () => {
    const of = (json: string): string | undefined =>
      heard(new FreeText(turn).deltas([call('apply_patch'), words(json), finish()]))['0/0']
    for (const [json, text] of [
      ['{"patch":"x\\ny"}', 'x\ny'],
      ['{"patch":["x","y"]}', 'x\ny'],
      ['{"input":"x\ny"}', 'x\ny'],
      ['{"input":"x","note":"z"}', 'x'],
      [patch, patch],
      ['{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ] as const) {
      expect(of(json)).toBe(text)
      expect(freeText(json)).toBe(text)
    }
  })

  test('of a whole reply is the same as in deltas', () => {
    const json = JSON.stringify({ input: patch })
    const part = { kind: 'tool_call', id: 'c0', name: 'apply_patch', arguments: json, tool: 'function' } as const
    const reply: Reply = {
      choices: [{ parts: [part], finish: 'tool_calls' }],
      usage: undefined,
      deltas: [call('apply_patch'), words(json), finish()],
    }
    const { choices, deltas } = new FreeText(turn).reply(reply)
    expect(choices[0]?.parts).toEqual([{ ...part, tool: 'custom', arguments: patch }])
    expect(heard(deltas ?? [])).toEqual({ '0/0': patch })
  })
})
