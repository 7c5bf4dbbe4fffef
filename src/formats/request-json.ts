/** The JSON of a client's request: structure within bounds first, then syntax. */
import type { Failure } from '../domain/failure.ts'
import { requestScanLimits, scanJson, type Member } from '../lib/json-scan.ts'

export type ScannedRequest =
  | { readonly kind: 'scanned'; readonly value: unknown; readonly members: ReadonlyMap<string, Member> }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (kind: Failure['kind'], message: string): ScannedRequest => ({
  kind: 'rejected',
  failure: { kind, message },
})

export function scanRequest(text: string): ScannedRequest {
  const scan = scanJson(text, requestScanLimits)
  switch (scan.kind) {
    case 'too_deep':
      return reject('invalid_value', `JSON is nested deeper than ${requestScanLimits.depthMax} levels.`)
    case 'too_many_nodes':
      return reject('invalid_value', 'JSON holds too many values.')
    case 'repeated_key':
      return reject('invalid_json', 'A field is given more than once.')
    case 'malformed':
      return NOT_JSON
    case 'scanned':
      try {
        return { kind: 'scanned', value: JSON.parse(text) as unknown, members: scan.members }
      } catch {
        return NOT_JSON
      }
  }
}

const NOT_JSON = reject('invalid_json', 'The body is not valid JSON.')
