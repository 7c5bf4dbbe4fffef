/** Items of earlier turns, read from storage and put in place of references to them. */
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

/** The input with each reference replaced by its item, and the size of these items. */
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
    // The same text for an id that never existed, was deleted, or belongs to another account.
    if (!found) throw new BadInput('invalid_value', param, 'There is no item with this id.')
    const size = sizes.get(found) ?? Buffer.byteLength(JSON.stringify(found))
    sizes.set(found, size)
    bytes += size
    // A reference takes a few bytes and can be repeated as often as the request has room.
    if (bytes <= REFERRED_BYTES_MAX) return found
    throw new BadInput('context_length', param, 'The referenced items are larger than a request may be.')
  })
  return { items, bytes }
}

/** As much as a request itself may bring. */
const REFERRED_BYTES_MAX = limit(
  'referredBytesMax',
  32 * MIB,
  'A request that refers to items of more bytes is refused.',
)

/** A result needs the call that it belongs to. Vendors refuse it in words of their own, or even accept it. */
export function refuseLooseOutputs(items: readonly Fields[], from: number): void {
  const calls = new Set<unknown>()
  for (const [i, item] of items.entries()) {
    const { type, id, call_id: callId } = item
    if (isCall(type)) {
      // A local shell's output names the item instead of the call.
      if (!isBrokenCall(item)) calls.add(callId).add(type === 'local_shell_call' ? id : callId)
    } else if (isResult(type) && !calls.has(callId ?? id)) {
      // A call that ran at a vendor has no call id and is the vendor's concern.
      if (type === 'tool_search_output' && (callId ?? null) === null) continue
      const param = `input[${i - from}].call_id`
      throw new BadInput('invalid_value', param, 'There is no tool call with this call_id before its output.')
    }
  }
}
