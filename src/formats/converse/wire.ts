/** The parts of a Converse request and the paths that they are sent to. */
import { modelSegment } from '../core/model-path.ts'

/** A union: its one member names its kind. */
export type Block = { readonly [kind: string]: unknown }
export type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: Block[] }

/** One object for all requests, so that their headers are put together once. */
export const NO_HEADERS = {}

/** ARNs have slashes and colons. They are escaped like any other character. */
export const conversePath = (modelId: string, mode: 'whole' | 'stream'): string =>
  `/model/${modelSegment(modelId)}/${mode === 'stream' ? 'converse-stream' : 'converse'}`
