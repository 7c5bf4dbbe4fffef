import type { Failure } from '../../domain/failure.ts'

/**
 * Fields by which a body says how its request is routed (OpenRouter, 2026-08). The reader of a dialect refuses them.
 * Then the edge takes them out of the body, and the reader gets the rest (hints.ts). So a body without them costs
 * nothing, and no reader can pass them on.
 */
export const hintFields = ['provider', 'models', 'route'] as const
/** Messages has `fallbacks` in place of `models`. */
export const messagesHintFields = [...hintFields, 'fallbacks'] as const

export type HintField = (typeof messagesHintFields)[number]

/** Whether a body was refused because of such a field, or lacks a model that `models` may name. */
export const mayHaveHints = ({ kind, param }: Failure, fields: readonly HintField[]): boolean =>
  kind === 'missing_parameter'
    ? param === 'model'
    : kind === 'unsupported_parameter' && (fields as readonly (string | undefined)[]).includes(param)

/** The refusal of a field in a body that has none of them. Left out, it would be a promise that is not kept. */
export function refuseStrayHint(fields: Readonly<Record<string, unknown>>): Failure | undefined {
  const field = hintFields.find((name) => (fields[name] ?? null) !== null)
  if (field === undefined) return undefined
  const help = field === 'route' ? '' : ` Send the header 'x-tollgate-${field}' instead.`
  return { kind: 'unsupported_parameter', message: `'${field}' is no field of this endpoint.${help}`, param: field }
}

/** The refusal of a field, where a route does not take it. */
export const refuseHintField = (field: string): Failure => ({
  kind: 'unsupported_parameter',
  message: `'${field}' is not supported: its cost has no price here.`,
  param: field,
})
