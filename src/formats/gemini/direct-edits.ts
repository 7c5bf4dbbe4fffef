/** What a response of Gemini's API is read for and what is put right in it, whole or one of a stream. */
import { wordsOfParts } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import type { Fields } from '../core/fields.ts'
import { readParts } from './parts.ts'
import { correctedGeminiUsage } from './usage.ts'

/** The words of all candidates, for an estimate. */
export const textOfCandidates = (candidates: readonly Fields[]): string =>
  candidates.map((candidate) => wordsOfParts(readParts(candidate))).join('\n')

/** What has to be put right in a response: the model's name, and a total that is not the sum of its parts. */
export function editsOf(response: Fields, publicModel: string, usage: Usage | undefined): Edit[] {
  const edits: Edit[] = []
  if (response['modelVersion'] !== undefined && response['modelVersion'] !== publicModel) {
    edits.push({ key: 'modelVersion', value: JSON.stringify(publicModel) })
  }
  const fixed = usage && correctedGeminiUsage(response['usageMetadata'], usage)
  if (fixed !== undefined) edits.push({ key: 'usageMetadata', value: fixed })
  return edits
}
