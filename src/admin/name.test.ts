import { expect, test } from 'bun:test'
import { visibleName } from './name.ts'

test.each(['a', 'Team Ünï', '团队', 'first steps', '👩‍🚀 crew', '❤️', '👍🏽', '🏴', 'naïve', 'a'.repeat(100)])(
  '%j is a name',
  (name) => {
    expect(visibleName.parse(name)).toBe(name)
  },
)

test.each([
  ['nothing', ''],
  ['only spaces', '  '],
  ['101 characters', 'a'.repeat(101)],
  ['a slash', 'a/b'],
  ['a line break', 'a\nb'],
  ['a mark of direction', 'a\u202Eb'],
  ['a space of no width', '\u200B'],
  ['one within a word', 'r\u200Boot'],
  ['a joiner between letters', 'r\u200Doot'],
  ['a soft hyphen', 'ro\u00ADot'],
  ['a filler', '\u3164'],
  ['a filler of half the width', '\uFFA0'],
  ['a pattern without dots', '\u2800'],
  ['a selector behind a letter', 'root\uFE0F'],
  ['a selector of the supplement', 'root\u{E0100}'],
  ['a tag', 'root\u{E0041}'],
  ['a mark within the text', 'ro\uFEFFot'],
  ['half a character', '\uD800'],
])('%s is none', (_, name) => {
  expect(visibleName.safeParse(name).success).toBe(false)
})
