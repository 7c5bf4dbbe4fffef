import { takeTurn, type Hints } from './hints.ts'
import type { Schema } from './schema.ts'

/** A number within the bounds. It is from the message, else from 1 to 9, and round and small if possible. */
export function exampleNumber(schema: Schema, { kind, hints }: { kind: 'integer' | 'number'; hints: Hints }): number {
  const step = schema.multipleOf ?? (kind === 'integer' ? 1 : undefined)
  const lowest = Math.max(schema.minimum ?? -Infinity, schema.exclusiveMinimum ?? -Infinity)
  const highest = Math.min(schema.maximum ?? Infinity, schema.exclusiveMaximum ?? Infinity)
  const candidates = [
    takeTurn(hints.numbers, hints.turn),
    1 + ((hints.random.below(9) + hints.turn) % 9),
    onStep(lowest, step) + (step ?? 1) * (1 + hints.turn),
    onStep(lowest, step) + (step ?? 1),
    onStep(lowest, step),
    -onStep(-highest, step),
    -onStep(-highest, step) - (step ?? 1),
    (lowest + highest) / 2,
    0,
  ]
  const fits = (candidate: number | undefined): candidate is number =>
    candidate !== undefined &&
    Number.isFinite(candidate) &&
    candidate >= lowest &&
    candidate <= highest &&
    candidate !== schema.exclusiveMinimum &&
    candidate !== schema.exclusiveMaximum &&
    (kind === 'number' || Number.isInteger(candidate)) &&
    (schema.multipleOf === undefined || isMultiple(candidate, schema.multipleOf))
  return candidates.find(fits) ?? 0
}

/** The first multiple at or above a bound. */
function onStep(bound: number, step: number | undefined): number {
  return step === undefined ? bound : Math.ceil(bound / step) * step
}

/** 0.3 is a multiple of 0.1, though not in binary. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}
