/** Calls of other vendors' models in a conversation that goes on before Gemini. */
import { parseExact } from '../../lib/exact-json.ts'
import { asFields, type Fields } from '../fields.ts'
import { familyOf } from './families.ts'
import { listOf, mapMember, memberOf, partsOf } from './members.ts'
import { isForeign, SKIP_VALIDATOR } from './signature.ts'
import { camelOf } from './spelling.ts'

/**
 * The body without signatures that another vendor's model has made: only their maker can read them. The first call of a
 * content must have one before models that sign theirs; in place of one that there never was stands the sentinel that
 * Google documents. Numbers keep their digits.
 */
export function withLawfulCalls(text: string, body: Fields, upstreamModel: string): string {
  const isRequired = familyOf(upstreamModel).signatures === 'required'
  const isLawful = (content: unknown): boolean =>
    lawfulParts(content, isRequired).every((part, i) => part === partsOf(content)[i])
  if (listOf(memberOf(body, 'contents')).every(isLawful)) return text
  // Read anew for its numbers.
  return JSON.stringify(
    mapMember(asFields(parseExact(text)), 'contents', (contents) =>
      listOf(contents).map((content) => mapMember(asFields(content), 'parts', () => lawfulParts(content, isRequired))),
    ),
  )
}

function lawfulParts(content: unknown, isRequired: boolean): readonly unknown[] {
  const parts = partsOf(content)
  if (memberOf(asFields(content), 'role') !== 'model') return parts
  const first = parts.findIndex((part) => memberOf(asFields(part), 'functionCall') !== undefined)
  return parts.map((part, i) => signedPart(asFields(part), isRequired && i === first) ?? part)
}

/** The part with a signature that may be there; undefined where it has one, or needs none. */
function signedPart(part: Fields, isRequired: boolean): Fields | undefined {
  const signature = memberOf(part, 'thoughtSignature')
  const isOwn = typeof signature === 'string' && signature !== '' && !isForeign(signature)
  if (isOwn || (signature === undefined && !isRequired)) return undefined
  const others = Object.entries(part).filter(([key]) => camelOf(key) !== 'thoughtSignature')
  return Object.fromEntries(isRequired ? [...others, ['thoughtSignature', SKIP_VALIDATOR]] : others)
}
