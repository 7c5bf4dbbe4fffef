/** Items of earlier turns: read from what is kept, and put in the place of references to them. */
import { parseExact } from '../../lib/json/exact-json.ts'
import { asFields, asList, type Fields } from '../core/fields.ts'
import type { PastTurn } from '../core/contract.ts'
import { BadInput } from './items.ts'
import { isBrokenCall, isCall, isResult } from './item-kinds.ts'
import { MIB } from '../../lib/primitives/units.ts'
import { limit } from '../../lib/primitives/limit.ts'

export const bytesOfTurn = ({ input, output }: PastTurn): number => Buffer.byteLength(input) + Buffer.byteLength(output)

export const itemsIn = (text: string): Fields[] => asList(parseExact(text)).map(asFields)

export const itemsOfTurn = ({ input, output }: PastTurn): Fields[] => [...itemsIn(input), ...itemsIn(output)]

/** The input with the items themselves in the place of references to them, and what those come to. */
export function resolved(
  input: readonly Fields[],
  known: readonly Fields[],
): { readonly items: readonly Fields[]; readonly bytes: number } {
  if (!input.some(({ type }) => type === 'item_reference')) return { items: input, bytes: 0 }
  const byId = new Map(known.map((item) => [item['id'], item]))
  const sizes = new Map<Fields, number>()
  let bytes = 0
  const items = input.map((item, i) => {
    if (item['type'] !== 'item_reference') return item
    const param = `input[${i}].id`
    const found = byId.get(item['id'])
    // The same words for an id that never was, was deleted, or is somebody else's.
    if (!found) throw new BadInput('invalid_value', param, 'There is no item with this id.')
    const size = sizes.get(found) ?? Buffer.byteLength(JSON.stringify(found))
    sizes.set(found, size)
    bytes += size
    // A reference is a few bytes, and can be made as often as the request has room for it.
    if (bytes <= REFERRED_BYTES_MAX) return found
    throw new BadInput('context_length', param, 'The items that are named come to more than a request may bring.')
  })
  return { items, bytes }
}

/** As much as a request may bring itself. */
const REFERRED_BYTES_MAX = limit('referredBytesMax', 32 * MIB, 'A request that names more bytes of items is refused.')

/** A result needs the call it belongs to: vendors refuse it in words of their own, or worse, take it. */
export function refuseLooseOutputs(items: readonly Fields[], from: number): void {
  const calls = new Set<unknown>()
  for (const [i, item] of items.entries()) {
    const { type, id, call_id: callId } = item
    if (isCall(type)) {
      // A local shell's output names the item instead.
      if (!isBrokenCall(item)) calls.add(callId).add(type === 'local_shell_call' ? id : callId)
    } else if (isResult(type) && !calls.has(callId ?? id)) {
      // What ran at a vendor has no call id, and is the vendor's affair.
      if (type === 'tool_search_output' && (callId ?? null) === null) continue
      const param = `input[${i - from}].call_id`
      throw new BadInput('invalid_value', param, 'There is no tool call with this call_id before its output.')
    }
  }
}
