/** Requests for a vendor without ids of calls. It matches results by their order alone. */
import { parseExact } from '../../lib/json/exact-json.ts'
import { asFields, type Fields } from '../core/fields.ts'
import { callsOfResults } from './call-results.ts'
import { isFields, listedItems, mapMember, memberOf, partsOf } from './members.ts'

/**
 * The body without the ids of calls and results, which Vertex refuses (https://github.com/looplj/axonhub/issues/874,
 * 2026-11). The results are put in the order of their calls, because clients send them in any order. A body without ids
 * stays byte for byte. Numbers keep their digits.
 */
export function withoutCallIds(text: string): string {
  if (!text.includes('"id"')) return text
  const body = parseExact(text)
  if (!isFields(body)) return text
  return JSON.stringify(mapMember(body, 'contents', (contents) => withoutIds(inOrder(contents))))
}

type Part = { readonly content: number; readonly part: number; readonly result: Fields }

/** The contents with results in the order of their calls. */
function inOrder(contents: unknown): unknown[] {
  const list = listedItems(contents)
  const moved = new Map<unknown, unknown>()
  let calls: Fields[] = []
  let results: Part[] = []
  const close = (): void => {
    const sorted = rankedBy(calls, results)
    for (const [i, { content, part }] of results.entries()) {
      const from = sorted[i]
      if (from) moved.set(partsOf(list[content])[part], partsOf(list[from.content])[from.part])
    }
    results = []
  }
  for (const [content, one] of list.entries()) {
    const parts = partsOf(one)
    if (memberOf(asFields(one), 'role') === 'model') {
      if (results.length > 0) {
        close()
        calls = []
      }
      calls.push(...parts.flatMap((part) => fieldsOf(part, 'functionCall')))
      continue
    }
    for (const [part, inner] of parts.entries()) {
      for (const result of fieldsOf(inner, 'functionResponse')) results.push({ content, part, result })
    }
  }
  close()
  return list.map((content) =>
    mapMember(asFields(content), 'parts', (parts) => listedItems(parts).map((part) => moved.get(part) ?? part)),
  )
}

function fieldsOf(part: unknown, name: string): Fields[] {
  const value = memberOf(asFields(part), name)
  return isFields(value) ? [value] : []
}

/** The results in the order of their calls. Results without a call come last. */
function rankedBy(calls: readonly Fields[], results: readonly Part[]): readonly Part[] {
  const places = callsOfResults(
    calls,
    results.map(({ result }) => result),
  )
  const ranks = new Map(results.map((one, i) => [one, places[i] ?? calls.length]))
  return results.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

function withoutIds(contents: readonly unknown[]): readonly unknown[] {
  const stripped = (value: unknown): unknown => {
    if (!isFields(value)) return value
    const { id: _, ...others } = value
    return others
  }
  return contents.map((content) =>
    mapMember(asFields(content), 'parts', (parts) =>
      listedItems(parts).map((part) =>
        isFields(part) ? mapMember(mapMember(part, 'functionCall', stripped), 'functionResponse', stripped) : part,
      ),
    ),
  )
}
