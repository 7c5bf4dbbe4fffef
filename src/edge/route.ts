/** Routes as data. The router, the OpenAPI document, the docs page and the list in `tollgate doctor` come from them. */
import type { Failure, FailureKind } from '../domain/failure.ts'
import type { RequestBody, JsonBody, noBody } from './request-body.ts'
import type { EdgeServices } from './edge-options.ts'
import type { Media, Recipient } from './media.ts'
import type { answerShapes } from './public-answers.ts'
import type { requestShapes } from './public-requests.ts'
import type { RequestContext } from './request-context.ts'
import type { StateHandler } from './state.ts'
import type { FreeRoutes } from './unbilled-routes.ts'

type HandlerResult = void | Promise<void>

/** A JSON schema that is written by hand. */
type JsonSchema = Readonly<Record<string, unknown>>

/** A parameter that a client may leave out. */
export type RouteParameter = { readonly name: string; readonly in: 'query' | 'header'; readonly schema: JsonSchema }

export type RouteDocumentation = {
  readonly tag: 'Text' | 'Embeddings' | 'Images' | 'Videos' | 'Account' | 'Operation'
  readonly summary: string
  /** The body of a request. Schemas are named, so that a start does not load them. */
  readonly request?:
    | { readonly shape: keyof typeof requestShapes; readonly example: object }
    /** A form with files. */
    | { readonly form: JsonSchema }
  /** `events`: always a stream. `text`: for programs of the operator. */
  readonly answer: keyof typeof answerShapes | 'file' | 'events' | 'text'
  /** The content of a stream, where the answer may be one. */
  readonly stream?: string
  /** The model of the example, where the path holds the model and it is no model of text. */
  readonly model?: string
  /** Parameters that the address must have. */
  readonly query?: Readonly<Record<string, string>>
  readonly parameters?: readonly RouteParameter[]
  /** Failures of this route, besides those that follow from `reads` and `limits`. */
  readonly failures?: readonly (FailureKind | Failure)[]
}

/**
 * What a request is counted against before its handler runs, and with it what the handler is given. The order of
 * checks is that of the server: key, limits, body.
 */
type LimitedWork =
  /** Limits of key and account; money is held. */
  | {
      readonly limits: 'key_and_account'
      readonly reads: RequestBody
      readonly handler: (services: EdgeServices, context: RequestContext, reads: RequestBody) => HandlerResult
      /** The name of the endpoint in request records. */
      readonly recordedAs: string
    }
  /** Limits of key and account, and those of an account's free counts. */
  | {
      readonly limits: 'free_counts'
      readonly reads: JsonBody
      readonly handler: (unbilled: FreeRoutes, context: RequestContext, reads: JsonBody) => HandlerResult
    }
  /** Limits of an account's free requests for what is stored. */
  | ({ readonly limits: 'free_reads'; readonly reads: typeof noBody } & StateHandler)
  /** Limits of files by address and by file. No key is needed. */
  | {
      readonly limits: 'files'
      readonly reads: typeof noBody
      readonly handler: (media: Media, recipient: Recipient, param: string) => Promise<Failure | undefined>
    }
  /** Answered from memory. */
  | {
      readonly limits: 'none'
      readonly reads: typeof noBody
      readonly handler: (services: EdgeServices, context: RequestContext, param: string) => HandlerResult
    }

export type PublicRoute = LimitedWork & {
  /** A route for GET answers HEAD, too. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /**
   * One parameter at most. `{id}` is one segment. `{file}` and `{model}` may hold slashes. Behind `{model}` a colon and
   * the name of one of Google's actions may follow.
   */
  readonly path: string
  /** Other paths of the same route. */
  readonly aliases?: readonly string[]
  /** The monitoring port has this route, too. Such a route is for operators and not part of the API. */
  readonly isMonitored?: true
  readonly documentation: RouteDocumentation
}

type LimitGroup = {
  /** For the OpenAPI document. */
  readonly description: string
  /** The names under which `tollgate doctor` shows these limits. */
  readonly names: readonly string[]
}

/** The meaning of `limits` of a route. */
export const routeLimits: Readonly<Record<PublicRoute['limits'], LimitGroup>> = {
  key_and_account: {
    description: 'Counts against the limits of the key and the account, and holds money.',
    names: [],
  },
  free_counts: {
    description: 'Free. Counts against the limits of the key and the account, and those of free counts.',
    names: [
      'free_count_requests_per_minute',
      'free_count_requests_concurrent',
      'free_count_bytes_per_minute',
      'free_count_bytes_per_minute_unfunded',
    ],
  },
  free_reads: {
    description: 'Free. Counts against the limits of an account for free requests.',
    names: ['free_state_requests_per_minute', 'free_state_requests_concurrent', 'free_unread_bytes_max'],
  },
  files: {
    description: 'Needs no key. Counts against the limits of files for one address.',
    names: ['content_per_minute', 'content_concurrent'],
  },
  none: { description: 'Free.', names: [] },
}
