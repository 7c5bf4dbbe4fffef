/** Reads a response of Gemini's API, whole or of a stream, and corrects it. */
import { wordsOfParts } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import type { Fields } from '../core/fields.ts'
import { readParts } from './parts.ts'
import { correctedGeminiUsage } from './usage.ts'

/** The text of all candidates, for an estimate. */
export const textOfCandidates = (candidates: readonly Fields[]): string =>
  candidates.map((candidate) => wordsOfParts(readParts(candidate))).join('\n')

/** The corrections of a response: the model's name, and a total that is not the sum of its parts. */
export function editsOf(response: Fields, publicModel: string, usage: Usage | undefined): Edit[] {
  const edits: Edit[] = []
  if (response['modelVersion'] !== undefined && response['modelVersion'] !== publicModel) {
    edits.push({ key: 'modelVersion', value: JSON.stringify(publicModel) })
  }
  const fixed = usage && correctedGeminiUsage(response['usageMetadata'], usage)
  if (fixed !== undefined) edits.push({ key: 'usageMetadata', value: fixed })
  return edits
}
