import { expect, test } from 'bun:test'
import { details, table, usd } from './table.ts'

const plain = { paint: (_: unknown, text: string): string => text }

test('text is aligned left, money right with one precision, and an empty cell is a dash', () => {
  const rows = [
    { name: 'acme', usd: '1200.5', note: null },
    { name: '漢字', usd: '0.000123', note: 'x' },
  ]
  const drawn = table(
    rows,
    [
      { title: 'name', of: ({ name }) => name },
      { title: 'usd', of: (row) => row.usd, kind: 'money' },
      { title: 'note', of: ({ note }) => note },
    ],
    plain,
  )
  expect(drawn).toBe(['NAME        USD  NOTE', 'acme  $1200.500  —', '漢字    <$0.001  x', ''].join('\n'))
})

test('a table without rows is empty', () => expect(table([], [{ title: 'a', of: () => 1 }], plain)).toBe(''))

test('untrusted text cannot control the terminal or start a line', () => {
  const text = details([['name', 'a\u001b[2Jb\nc\u202e']], plain)
  expect(text).toBe('name  a\ufffd[2Jb c\ufffd\n')
})

test('a debt has its sign before the dollar', () => expect(usd('-1.50')).toBe('-$1.50'))
