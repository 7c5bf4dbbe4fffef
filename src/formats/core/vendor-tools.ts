/**
 * Tools that run at the vendor. Each search has its own price, and what it reads has no bound. Beside tools of the
 * client they are optional: they are left out, and the answer names them (cline 3.0 offers Claude and Gemini a search
 * in every request, captured 2026-11-25). If they are alone, or if one must be called, the request is refused.
 */
import { parseExact } from '../../lib/json/exact-json.ts'
import type { Members } from '../../lib/json/json-members.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import { fieldListIn, type Fields } from './fields.ts'

/** A dialect's tools without those of the vendor, and the names of the latter. */
export type ToolSplit = { readonly own: readonly Fields[]; readonly vendors: readonly string[] }
export type SplitTools = (tools: readonly Fields[]) => ToolSplit

/** The names of the tools that were left out, for the client. */
export const namesOf = ({ vendors }: ToolSplit): readonly string[] => [
  ...new Set(vendors.map((name) => `tools.${name.slice(0, 100)}`)),
]

type ToolSource = { readonly text: string; readonly members: Members }

/** The edit that removes the vendor's tools under this key. Numbers in the other tools keep their digits. */
export function withoutVendorTools({ text, members }: ToolSource, key: string, split: SplitTools): Edit[] {
  const span = members.get(key)
  const read = span && parseExact(text.slice(span.start, span.end))
  const tools = fieldListIn(Array.isArray(read) ? read : [read]) ?? []
  return [{ key, value: JSON.stringify(split(tools).own) }]
}
