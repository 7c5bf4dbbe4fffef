/** The JSON of a client's request. Its structure is checked against bounds first, its syntax second. */
import type { Failure } from '../../domain/failure.ts'
import { nextTurn } from '../../lib/runtime/end-of-tick.ts'
import { noteRequest } from '../../lib/runtime/gc-hint.ts'
import type { Members } from '../../lib/json/json-members.ts'
import { repeatedName, requestScanLimits, scanJson, scanLongJson, type Scan } from '../../lib/json/json-scan.ts'
import { KIB } from '../../lib/primitives/units.ts'

type RejectedJson = { readonly kind: 'rejected'; readonly failure: Failure }
export type ScannedRequest =
  | { readonly kind: 'scanned'; readonly value: unknown; readonly members: Members }
  | RejectedJson

/** A larger body is read in several ticks, because its steps together would block the loop for too long. */
const LARGE_BODY_BYTES = 512 * KIB

const reject = (kind: Failure['kind'], message: string): RejectedJson => ({
  kind: 'rejected',
  failure: { kind, message },
})
const PROTO_NAME = reject('invalid_value', "The field name '__proto__' is not allowed.")
const NOT_JSON = reject('invalid_json', 'The body is not valid JSON.')
const EMPTY = reject('invalid_json', 'The body is empty: send a JSON object.')

export function scanRequest(text: string): ScannedRequest {
  const bounded = boundedMembers(scanJson(text, requestScanLimits), text)
  return 'kind' in bounded ? bounded : withoutTraps(parse(text, bounded), text)
}

/** Reads a scanned body. It is also given the text and its size. */
type Reads<T> = (scan: ScannedRequest, text: string, bytes: number) => T | Promise<T>

/** Scans a body and continues with `read`. A large body takes several ticks. */
export function afterScan<T>(text: string, bytes: number, read: Reads<T>): T | Promise<T> {
  noteRequest(bytes)
  return bytes > LARGE_BODY_BYTES
    ? scanLargeRequest(text).then((scan) => read(scan, text, bytes))
    : read(scanRequest(text), text, bytes)
}

/** Each step has one or more ticks. Decoding before and sending after have ticks of their own. */
async function scanLargeRequest(text: string): Promise<ScannedRequest> {
  await nextTurn()
  const bounded = boundedMembers(await scanLongJson(text, requestScanLimits), text)
  if ('kind' in bounded) return bounded
  await nextTurn()
  const scanned = parse(text, bounded)
  await nextTurn()
  const single = withoutTraps(scanned, text)
  await nextTurn()
  return single
}

/** The members of the body, if its structure is within bounds. */
function boundedMembers(scan: Scan, text: string): Members | RejectedJson {
  switch (scan.kind) {
    case 'scanned':
      return scan.members
    case 'too_deep':
      return reject('invalid_value', `JSON is nested deeper than ${requestScanLimits.depthMax} levels.`)
    case 'too_many_nodes':
      return reject('invalid_value', 'JSON holds too many values.')
    case 'too_dense':
      return reject('invalid_value', 'JSON holds too many escapes, digits or blanks.')
    case 'key_too_long':
      return reject('invalid_value', "A field's name is too long.")
    case 'repeated_key':
      return repeated(text)
    case 'malformed':
      return NOT_JSON
  }
}

function parse(text: string, members: Members): ScannedRequest {
  try {
    return { kind: 'scanned', value: JSON.parse(text) as unknown, members }
  } catch {
    return text === '' ? EMPTY : NOT_JSON
  }
}

/**
 * Refuses a body in which some object has two fields of one name. The scan counts both, and the parser keeps one. An
 * upstream may keep the other, and then read an address that was never checked here.
 */
function withoutTraps(scanned: ScannedRequest, text: string): ScannedRequest {
  if (scanned.kind === 'rejected') return scanned
  const found = { names: 0, hasProto: false }
  lookAt(scanned.value, found)
  if (found.hasProto) return PROTO_NAME
  return found.names === scanned.members.namesWithin ? scanned : repeated(text)
}

/**
 * Counts the names in a value, no deeper than the scan went. `__proto__` is an ordinary field here, but code that
 * copies it by assignment changes the prototype of the copy. No API has it. `constructor` may be a tool's name.
 */
function lookAt(value: unknown, found: { names: number; hasProto: boolean }): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const inner of value) lookAt(inner, found)
    return
  }
  for (const name in value) {
    found.names++
    if (name === '__proto__') found.hasProto = true
    lookAt((value as Record<string, unknown>)[name], found)
  }
}

/** The name is not searched in a large body: that would take as long as everything else together. */
function repeated(text: string): RejectedJson {
  const name = text.length > LARGE_BODY_BYTES ? undefined : repeatedName(text)?.slice(0, 100)
  return reject('invalid_json', `${name === undefined ? 'A field' : `The field '${name}'`} is given more than once.`)
}
