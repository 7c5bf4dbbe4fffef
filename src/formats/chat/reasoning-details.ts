/**
 * Sealed reasoning in the chat format, which has no field for it: `reasoning_details`, an extension that clients send
 * back with its message. Without it a model that signs its reasoning cannot continue after a tool call.
 */
import { dialects, type ReasoningPart, type SealedData } from '../../domain/turn.ts'
import { asFields, asList, asText, textIn } from '../core/fields.ts'

export type ReasoningDetail = {
  readonly type: 'reasoning.sealed'
  readonly text: string
  readonly origin: SealedData['origin']
  readonly form?: string | undefined
  readonly account?: string | undefined
  readonly data: string
}

export const detailOf = (text: string, { origin, form, account, data }: SealedData): ReasoningDetail => ({
  type: 'reasoning.sealed',
  text,
  origin,
  form,
  account,
  data,
})

export const isSealedDetail = (detail: unknown): boolean => asFields(detail)['type'] === 'reasoning.sealed'

/** Reads each detail once. Clients that join deltas may have some of them twice. */
export function readDetails(value: unknown): ReasoningPart[] {
  const parts = new Map<string, ReasoningPart>()
  for (const detail of asList(value).map(asFields)) {
    const origin = dialects.find((dialect) => dialect === detail['origin'])
    const data = asText(detail['data'])
    if (detail['type'] !== 'reasoning.sealed' || !origin || parts.has(data)) continue
    parts.set(data, {
      kind: 'reasoning',
      text: asText(detail['text']),
      sealed: { origin, form: textIn(detail['form']), account: textIn(detail['account']), data },
    })
  }
  return [...parts.values()]
}
