/** Veo by Google's Gemini API and by Vertex AI: one model with two ways to poll (documentation, November 2026). */
import type { VideoMade } from '../../domain/video-task.ts'
import { geminiFailures } from '../core/google-failure.ts'
import { upstreamPath } from '../core/google-model-path.ts'
import { asFields, asList, asText, numberIn, parseFields, type Fields } from '../core/fields.ts'
import type { UpstreamRequest } from '../core/contract.ts'
import {
  garbage,
  readStateOf,
  type ReadState,
  type ReadSubmission,
  type VideoAdapter,
  type VideoOrder,
} from './adapter.ts'
import type { VideoMedium } from '../core/video-body.ts'

const DATA = /^data:([^;,]+);base64,/i

/** An image in a request. Every medium is inline at this point. */
function imageOf({ url }: VideoMedium): object {
  const [head = '', mimeType = ''] = DATA.exec(url.slice(0, 128)) ?? []
  return { bytesBase64Encoded: url.slice(head.length), mimeType }
}

type Dialect = 'gemini' | 'vertex'

function submit({ body, wish, upstreamModel }: VideoOrder, dialect: Dialect): UpstreamRequest {
  const of = (role: VideoMedium['role']): VideoMedium[] => body.media.filter((one) => one.role === role)
  const [[first], [last], references] = [of('first_frame'), of('last_frame'), of('reference_image')]
  const instance = {
    ...(body.prompt === '' ? {} : { prompt: body.prompt }),
    ...(first ? { image: imageOf(first) } : {}),
    ...(last ? { lastFrame: imageOf(last) } : {}),
    ...(references.length === 0
      ? {}
      : { referenceImages: references.map((one) => ({ image: imageOf(one), referenceType: 'asset' })) }),
  }
  const parameters = {
    ...(wish.ratio === undefined ? {} : { aspectRatio: wish.ratio }),
    durationSeconds: wish.seconds,
    resolution: wish.resolution,
    seed: wish.seed,
    sampleCount: 1,
    ...(dialect === 'vertex' ? { generateAudio: wish.audio } : {}),
  }
  const text = JSON.stringify({ instances: [instance], parameters })
  return { path: upstreamPath(upstreamModel, 'predictLongRunning'), headers: {}, body: text, dropped: [] }
}

/** `models/veo/operations/x`, or on Vertex `projects/…/operations/x`. It becomes a path, so no segment may lead up. */
const OPERATION = /^(?:[\w-][\w.-]*\/)+[\w-][\w.-]*$/

function readSubmission(text: string): ReadSubmission {
  const name = asText(parseFields(text)?.['name'])
  const isName = name.length <= 500 && OPERATION.test(name)
  return isName ? { kind: 'accepted', upstreamId: name } : garbage('the answer names no operation')
}

/** Google's codes for operations that mean more than a failure. */
const ends: Readonly<Record<number, 'cancelled' | 'expired'>> = { 1: 'cancelled', 4: 'expired' }

function readState(text: string): ReadState {
  const operation = parseFields(text)
  if (!operation) return garbage('the answer is not a JSON object')
  if (operation['done'] !== true) return readStateOf({ kind: 'running' })
  const error = asFields(operation['error'])
  if (Object.keys(error).length > 0) {
    const code = numberIn(error['code'])
    return readStateOf({ kind: 'failed', why: ends[code ?? 0] ?? 'fault', code: code?.toString() })
  }
  return readVideo(asFields(operation['response']))
}

const NO_WORD: VideoMade = { tokens: undefined, seconds: undefined }

function readVideo(response: Fields): ReadState {
  const answer = asFields(response['generateVideoResponse'])
  const samples = [
    ...asList(answer['generatedSamples']),
    ...asList(response['generatedVideos']),
    ...asList(response['videos']),
  ].map(asFields)
  for (const sample of samples) {
    const video = { ...sample, ...asFields(sample['video']) }
    const [uri, base64] = [asText(video['uri']), asText(video['bytesBase64Encoded'])]
    if (uri !== '') {
      return readStateOf({ kind: 'done', made: NO_WORD, source: { kind: 'url', url: uri, credential: 'same_origin' } })
    }
    if (base64 !== '') return readStateOf({ kind: 'done', made: NO_WORD, source: { kind: 'inline', base64 } })
  }
  const filtered = numberIn(answer['raiMediaFilteredCount']) ?? numberIn(response['raiMediaFilteredCount']) ?? 0
  if (filtered > 0) return readStateOf({ kind: 'failed', why: 'policy', code: 'raiMediaFiltered' })
  return garbage('the operation is done without a video')
}

const shared = { failures: geminiFailures, readSubmission, readState, media: 'inline' } as const

export const veo: VideoAdapter = {
  ...shared,
  submit: (order) => submit(order, 'gemini'),
  poll: ({ upstreamId }) => ({ method: 'GET', path: `/${upstreamId}`, headers: {}, body: '', dropped: [] }),
  answers: 'light',
}

export const vertexVeo: VideoAdapter = {
  ...shared,
  submit: (order) => submit(order, 'vertex'),
  poll: ({ upstreamId, upstreamModel }) => ({
    path: upstreamPath(upstreamModel, 'fetchPredictOperation'),
    headers: {},
    body: JSON.stringify({ operationName: upstreamId }),
    dropped: [],
  }),
  answers: 'heavy',
}
