import { detached } from '../../lib/primitives/copy-string.ts'

/**
 * The shape of a stream's ordinary events. Token after token, an upstream sends the same JSON with different text in
 * it. Once one such event has been read in full, an event with the same bytes before and after its text needs no
 * parsing: 0.3 µs instead of 2.5.
 */
export type Template = {
  /** The bytes around the content, as they arrive and as they go to the client. */
  readonly before: string
  readonly after: string
  readonly sentBefore: string
  readonly sentAfter: string
}

/** A character that would end a JSON string, escape something, or not be allowed in it. */
// oxlint-disable-next-line no-control-regex
const NOT_PLAIN = /["\\\u0000-\u001f]/
const KEY = '"content":"'
/** A text that no event contains by chance. */
const PROBE = '\u{f8f0}probe\u{f8f1}'

type Probe = { choices?: { delta?: { content?: unknown } }[] }

/** The content of an event that fits the template. Undefined if the event has to be read in full. */
export function contentInTemplate(data: string, { before, after }: Template): string | undefined {
  if (data.length <= before.length + after.length || !data.startsWith(before) || !data.endsWith(after)) return undefined
  const content = data.slice(before.length, data.length - after.length)
  return NOT_PLAIN.test(content) ? undefined : content
}

/**
 * Learns from an event that was read in full and had only `content`. The template is tested: another text in the same
 * place must be read back as the content of the one choice. Otherwise there is no template.
 */
export function learnTemplate(data: string, sent: string, content: string): Template | undefined {
  if (NOT_PLAIN.test(content)) return undefined
  const come = split(data, content)
  const go = split(sent, content)
  if (!come || !go) return undefined
  const probe = JSON.parse(come.before + PROBE + come.after) as Probe
  if (probe.choices?.[0]?.delta?.content !== PROBE) return undefined
  return { before: come.before, after: come.after, sentBefore: go.before, sentAfter: go.after }
}

function split(text: string, content: string): { before: string; after: string } | undefined {
  const at = text.indexOf(`${KEY}${content}"`)
  if (at === -1) return undefined
  const start = at + KEY.length
  // A template lives as long as its stream. The read that it was learned from must not.
  return { before: detached(text.slice(0, start)), after: detached(text.slice(start + content.length)) }
}
