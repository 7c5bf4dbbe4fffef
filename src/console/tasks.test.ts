import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PageShape } from './shapes.ts'
import { mergePages } from './tasks.ts'

type Item = { readonly id: string }

/** A list in memory that pages as the sources do: older than the cursor, newest first. */
function pageOf(
  all: readonly Item[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
): PageShape<Item> {
  const age = ({ id }: Item): string => id.slice(id.indexOf('_') + 1)
  const left = all.filter((item) => cursor === undefined || age(item) < cursor)
  const data = left.slice(0, limit)
  const last = data.at(-1)
  return { data, next_cursor: left.length > limit && last ? age(last) : null }
}

test('several lists become one, in order and with one cursor', () => {
  const ages = fc.uniqueArray(fc.integer({ min: 0, max: 9_999 }), { maxLength: 40 })
  fc.assert(
    fc.property(
      ages,
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (all, sides, limit) => {
        const sorted = all.toSorted((a, b) => b - a).map((age) => String(age).padStart(4, '0'))
        const images = sorted.filter((_, i) => sides[i]).map((age) => ({ id: `req_${age}` }))
        const videos = sorted.filter((_, i) => !sides[i]).map((age) => ({ id: `video_${age}` }))
        const seen: string[] = []
        let cursor: string | undefined
        for (let pages = 0; pages < 100; pages++) {
          const page = mergePages([pageOf(images, { limit, cursor }), pageOf(videos, { limit, cursor })], limit)
          expect(page.data.length).toBeLessThanOrEqual(limit)
          seen.push(...page.data.map(({ id }) => id.slice(id.indexOf('_') + 1)))
          if (page.next_cursor === null) break
          cursor = page.next_cursor
        }
        expect(seen).toEqual(sorted)
      },
    ),
  )
})
