import { parseKnobText, type ParsedKnobs } from '../faults.ts'
import { splitModelId } from '../models.ts'

const WORDS_MAX_CHARS = 1_000
/** A note contains no bracket, so each search ends at the next one. */
const NOTE = /\[sandbox:([^\][]*)\]/gi

/** The knobs of a video in its model name and its prompt: `… [sandbox: fails]`, see faults.ts. */
export function knobsSaid(modelId: string, prompt: string): ParsedKnobs {
  const notes = Array.from(prompt.matchAll(NOTE), ([, words = '']) => words)
  return parseKnobText([splitModelId(modelId).knobs, ...notes].join(',').slice(0, WORDS_MAX_CHARS))
}
