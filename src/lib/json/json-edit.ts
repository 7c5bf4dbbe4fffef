/** Edits of JSON text that leave every other byte unchanged. */
import { parseExact } from './exact-json.ts'
import { isSpace, type Members, type Member, type Span } from './json-members.ts'
import { type ScanLimits, QUOTE, COMMA, COLON, OPEN_OBJECT, closingQuote, scanJson } from './json-scan.ts'

/** One edit of an object's text: a member's new value as JSON text, or its removal. */
export type Edit = { readonly key: string; readonly value: string | undefined }

type Splice = Span & { readonly text: string }

function editOne(text: string, members: Members, key: string, value: string): string {
  const member = members.get(key)
  if (member) return text.slice(0, member.start) + value + text.slice(member.end)
  const from = text.indexOf('{') + 1
  return `${text.slice(0, from)}${JSON.stringify(key)}:${value}${members.size > 0 ? ',' : ''}${text.slice(from)}`
}

/** Applies edits to the outermost object. All other bytes stay unchanged. New members are put first. */
export function editJson(text: string, members: Members, edits: readonly Edit[]): string {
  const [first] = edits
  // Nearly every text has one edit, which needs no lists.
  if (edits.length === 1 && first?.value !== undefined) return editOne(text, members, first.key, first.value)
  const splices: Splice[] = []
  const added: string[] = []
  const removed = new Set<string>()
  for (const { key, value } of edits) {
    const member = members.get(key)
    if (member && value !== undefined) splices.push({ start: member.start, end: member.end, text: value })
    else if (member) removed.add(key)
    else if (value !== undefined) added.push(`${JSON.stringify(key)}:${value}`)
  }
  if (removed.size > 0) splices.push(...removals([...members], removed))
  splices.sort((a, b) => a.start - b.start)
  let from = added.length === 0 ? 0 : text.indexOf('{') + 1
  let out = text.slice(0, from) + added.join(',') + (added.length > 0 && members.size > removed.size ? ',' : '')
  for (const splice of splices) {
    out += text.slice(from, splice.start) + splice.text
    from = splice.end
  }
  return out + text.slice(from)
}

/** The spans that remove members with their commas: up to the next member, or at the end from the one before. */
function removals(members: readonly (readonly [string, Member])[], removed: ReadonlySet<string>): Splice[] {
  const lastKept = members.findLastIndex(([name]) => !removed.has(name))
  return members.flatMap(([name, { keyStart, end }], i) => {
    if (!removed.has(name)) return []
    const next = i < lastKept ? members[i + 1]?.[1] : undefined
    const before = i > 0 ? members[i - 1]?.[1] : undefined
    return next ? { start: keyStart, end: next.keyStart, text: '' } : { start: before?.end ?? keyStart, end, text: '' }
  })
}

/**
 * Edits a member that stands before everything nested, where a few searches find it. Most vendors write the model
 * there, and a scan would read the whole answer for it. Undefined: the scan must find the member. The text is valid
 * JSON, so a quote after a comma or a brace opens a string, and a string before a colon is a name.
 */
function editInFront(text: string, { key, value }: Edit): string | undefined {
  const name = `"${key}"`
  const at = text.indexOf(name)
  // A second occurrence may be in another object, and an escaped name may be the same name.
  if (at === -1 || value === undefined || text.indexOf(name, at + name.length) !== -1) return undefined
  if (!PLAIN_NAME.test(key) || text.includes('\\u')) return undefined
  const open = text.indexOf('{')
  if (isWithin(text.indexOf('{', open + 1), at) || isWithin(text.indexOf('['), at)) return undefined
  const before = text.charCodeAt(skipSpace(text, at - 1, -1))
  const colon = skipSpace(text, at + name.length, 1)
  if ((before !== COMMA && before !== OPEN_OBJECT) || text.charCodeAt(colon) !== COLON) return undefined
  const start = skipSpace(text, colon + 1, 1)
  return text.charCodeAt(start) === QUOTE
    ? text.slice(0, start) + value + text.slice(closingQuote(text, start) + 1)
    : undefined
}

/** A name that can be written in another way only with `\u`. */
const PLAIN_NAME = /^\w+$/

const isWithin = (at: number, end: number): boolean => at !== -1 && at < end

function skipSpace(text: string, from: number, step: 1 | -1): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += step
  return at
}

/**
 * Edits the text of an object that is valid JSON. If the edits need a scan and the scan fails (a repeated key, more
 * values than the limits allow), the text is written anew from what JSON.parse reads. So the edits always take effect.
 */
export function reviseJson(text: string, edits: readonly Edit[], limits: ScanLimits): string {
  const [first] = edits
  const edited = first && edits.length === 1 ? editInFront(text, first) : undefined
  if (edited !== undefined) return edited
  const scan = scanJson(text, limits)
  if (scan.kind === 'scanned') return editJson(text, scan.members, edits)
  const changed = edits.map(({ key, value }) => [key, value === undefined ? undefined : parseExact(value)])
  return JSON.stringify({ ...(parseExact(text) as object), ...Object.fromEntries(changed) })
}
