/**
 * Tools that run at the vendor: a search costs by itself, and what it reads has no bound. Beside tools that the client
 * runs they are a wish it can live without: they are left out, and named (cline 3.0 offers Claude and Gemini a search
 * in every request, captured 2026-11-25). Alone, or where one must be called, they are what was asked for, and refused.
 */
import { parseExact } from '../../lib/json/exact-json.ts'
import type { Members } from '../../lib/json/json-members.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import { fieldListIn, type Fields } from './fields.ts'

/** A dialect's tools without those of the vendor; and what these are called. */
export type ToolSplit = { readonly own: readonly Fields[]; readonly vendors: readonly string[] }
export type SplitTools = (tools: readonly Fields[]) => ToolSplit

/** What was left out, as it is named to the client. */
export const namesOf = ({ vendors }: ToolSplit): readonly string[] => [
  ...new Set(vendors.map((name) => `tools.${name.slice(0, 100)}`)),
]

type ToolSource = { readonly text: string; readonly members: Members }

/** The edit of a body that has tools of the vendor in it, under this key: numbers of the others keep their digits. */
export function withoutVendorTools({ text, members }: ToolSource, key: string, split: SplitTools): Edit[] {
  const span = members.get(key)
  const read = span && parseExact(text.slice(span.start, span.end))
  const tools = fieldListIn(Array.isArray(read) ? read : [read]) ?? []
  return [{ key, value: JSON.stringify(split(tools).own) }]
}
