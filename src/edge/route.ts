/** Routes as data. They are the source of the router, the OpenAPI document, the docs page and `tollgate doctor`. */
import type { z } from 'zod'
import type { Failure, FailureKind } from '../domain/failure.ts'
import type { RequestBody, JsonBody, noBody } from './request-body.ts'
import type { EdgeServices } from './edge-options.ts'
import type { Media, Recipient } from './media.ts'
import type { answerShapes } from './public-answers.ts'
import type { RequestContext } from './request-context.ts'
import type { StateHandler } from './state.ts'
import type { FreeRoutes } from './unbilled-routes.ts'

type HandlerResult = void | Promise<void>

/** A JSON schema that is written by hand. */
type JsonSchema = Readonly<Record<string, unknown>>

/** An optional parameter. */
export type RouteParameter = { readonly name: string; readonly in: 'query' | 'header'; readonly schema: JsonSchema }

/** A JSON body. Its schema is the one that checks requests. It is loaded for the documents only, not by a start. */
export type DocumentedRequest = {
  /** The name of the schema in the OpenAPI document. */
  readonly shape: string
  readonly schema: () => Promise<z.ZodType>
  readonly example: object
}

export type RouteDocumentation = {
  /** The group of the route in the documents. */
  readonly tag: string
  readonly summary: string
  /** The body of a request. */
  readonly request?:
    | DocumentedRequest
    /** A form with files. */
    | { readonly form: JsonSchema }
  /**
   * `file`: a stored file, whole or in part. `events`: the answer is always a stream. `text`: the route is for programs
   * of the operator. `bytes`: the content types that the answer can have.
   */
  readonly answer: keyof typeof answerShapes | 'file' | 'events' | 'text' | { readonly bytes: readonly string[] }
  /** The content of the stream, if the answer can be a stream. */
  readonly stream?: string
  /** The model of the example, if the path has a model that is not for text. */
  readonly model?: string
  /** Required query parameters with their values. */
  readonly query?: Readonly<Record<string, string>>
  readonly parameters?: readonly RouteParameter[]
  /** Failures of this route besides those that follow from `reads` and `limits`. */
  readonly failures?: readonly (FailureKind | Failure)[]
}

/**
 * The limits that a request counts against before its handler runs. They decide what the handler is given. The server
 * checks the key, then the limits, then the body.
 */
type LimitedWork =
  /** Limits of the key and the account. Money is held. */
  | {
      readonly limits: 'key_and_account'
      readonly reads: RequestBody
      readonly handler: (services: EdgeServices, context: RequestContext, reads: RequestBody) => HandlerResult
      /** The name of the endpoint in request records. */
      readonly recordedAs: string
    }
  /** Limits of the key and the account, and limits of free counts per account. */
  | {
      readonly limits: 'free_counts'
      readonly reads: JsonBody
      readonly handler: (unbilled: FreeRoutes, context: RequestContext, reads: JsonBody) => HandlerResult
    }
  /** Limits of an account's free requests for stored objects. */
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
  /** A GET route also answers HEAD. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /**
   * A path has at most one parameter. `{id}` is one segment. `{file}` and `{model}` may contain slashes. A colon and
   * the name of one of Google's actions may follow `{model}`.
   */
  readonly path: string
  /** Other paths of the same route. */
  readonly aliases?: readonly string[]
  /** The monitoring port has this route too. Such a route is for operators and not part of the API. */
  readonly isMonitored?: true
  readonly documentation: RouteDocumentation
}

type LimitGroup = {
  /** The text of the OpenAPI document. */
  readonly description: string
  /** The names under which `tollgate doctor` shows these limits. */
  readonly names: readonly string[]
}

/** The meaning of `limits` of a route. */
export const routeLimits: Readonly<Record<PublicRoute['limits'], LimitGroup>> = {
  key_and_account: {
    description: 'Counts against the limits of the key, the account and the model. Money is held.',
    names: ['address_per_minute', 'address_concurrent'],
  },
  free_counts: {
    description: 'Free. Counts against the limits of the key and the account, and against those of free token counts.',
    names: [
      'free_count_requests_per_minute',
      'free_count_requests_concurrent',
      'free_count_bytes_per_minute',
      'free_count_bytes_per_minute_unfunded',
    ],
  },
  free_reads: {
    description: 'Free. Counts against the account’s limits for free requests.',
    names: ['free_state_requests_per_minute', 'free_state_requests_concurrent', 'free_unread_bytes_max'],
  },
  files: {
    description: 'No key is needed. Counts against the limits on files for each IP address.',
    names: ['content_per_minute', 'content_concurrent'],
  },
  none: { description: 'Free.', names: [] },
}
