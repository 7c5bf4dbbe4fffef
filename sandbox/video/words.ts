import { parseKnobText, type ParsedKnobs } from '../faults.ts'
import { splitModelId } from '../models.ts'

const WORDS_MAX_CHARS = 1_000
/** A note has no bracket in it: each search ends at the next one. */
const NOTE = /\[sandbox:([^\][]*)\]/gi

/** What a model name and a prompt say about how a video goes: `… [sandbox: fails]`, see faults.ts. */
export function knobsSaid(modelId: string, prompt: string): ParsedKnobs {
  const notes = Array.from(prompt.matchAll(NOTE), ([, words = '']) => words)
  return parseKnobText([splitModelId(modelId).knobs, ...notes].join(',').slice(0, WORDS_MAX_CHARS))
}
