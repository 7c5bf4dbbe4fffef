/** Seedance by Volcengine Ark and BytePlus ModelArk (documentation and SDK, August to November 2026). */
import { DURATION_AUTO } from '../../domain/video.ts'
import { chatFailures } from '../core/openai-failure.ts'
import { asFields, asList, asText, codeIn, numberIn, parseFields, type Fields } from '../core/fields.ts'
import type { FailureReader, UpstreamRequest } from '../core/contract.ts'
import {
  garbage,
  isPlainId,
  phaseOf,
  readStateOf,
  type ReadState,
  type ReadSubmission,
  type VideoAdapter,
  type VideoFinder,
  type VideoOrder,
} from './adapter.ts'
import { MINUTE_MS } from '../../lib/primitives/units.ts'

const TASKS = '/contents/generations/tasks'

/** Every field that a price depends on is sent, because a vendor's default may change. */
function submit({ body, wish, upstreamModel }: VideoOrder): UpstreamRequest {
  const { prompt, media } = body
  const fields = {
    model: upstreamModel,
    content: [
      ...(prompt === '' ? [] : [{ type: 'text', text: prompt }]),
      ...media.map(({ kind, url, role }) => ({ type: `${kind}_url`, [`${kind}_url`]: { url }, role })),
    ],
    resolution: wish.resolution,
    ...(wish.ratio === undefined ? {} : { ratio: wish.ratio }),
    duration: wish.seconds,
    seed: wish.seed,
    watermark: body.watermark,
    generate_audio: wish.audio,
    ...(body.webSearch ? { tools: [{ type: 'web_search' }] } : {}),
  }
  return { path: TASKS, headers: {}, body: JSON.stringify(fields), dropped: [] }
}

function readSubmission(text: string): ReadSubmission {
  const id = asText(parseFields(text)?.['id'])
  return isPlainId(id) ? { kind: 'accepted', upstreamId: id } : garbage('the answer names no task')
}

const get = (path: string): UpstreamRequest => ({ method: 'GET', path, headers: {}, body: '', dropped: [] })

/** The codes of a content filter, for the request or for the result. */
const POLICY = /Sensitive|PrivacyInformation|Policy|Violat|Copyright/i

function readState(text: string): ReadState {
  const task = parseFields(text)
  if (!task) return garbage('the answer is not a JSON object')
  const code = codeIn(asFields(task['error'])['code'])
  switch (phaseOf(task['status'])) {
    case 'queued':
      return readStateOf({ kind: 'queued' })
    case 'running':
      return readStateOf({ kind: 'running' })
    case 'done':
      return readVideo(task)
    case 'failed':
      return readStateOf({ kind: 'failed', why: POLICY.test(code ?? '') ? 'policy' : 'fault', code })
    case 'cancelled':
      return readStateOf({ kind: 'failed', why: 'cancelled', code })
    case 'expired':
      return readStateOf({ kind: 'failed', why: 'expired', code })
    default:
      return garbage('the task has an unknown state')
  }
}

function readVideo(task: Fields): ReadState {
  const url = asText(asFields(task['content'])['video_url'])
  if (url === '') return garbage('the task has succeeded without a video')
  const [frames, fps] = [numberIn(task['frames']), numberIn(task['framespersecond'])]
  const seconds = numberIn(task['duration']) ?? (frames && fps ? frames / fps : undefined)
  const made = { tokens: numberIn(asFields(task['usage'])['completion_tokens']), seconds }
  return readStateOf({ kind: 'done', made, source: { kind: 'url', url, credential: 'none' } })
}

/** Clocks differ, and a list may round its times. */
const SKEW_MS = MINUTE_MS
const SUBMISSION_MS_MAX = 180_000

/** The newest tasks of a model, as many as one page can hold. A task is known by its seed, which was drawn for it. */
const find: VideoFinder = {
  request: (upstreamModel) =>
    get(`${TASKS}?page_num=1&page_size=100&filter.model=${encodeURIComponent(upstreamModel.toWellFormed())}`),
  read(text, { wish, createdAtMs }) {
    const page = parseFields(text)
    if (!page || !Array.isArray(page['items'])) return undefined
    return asList(page['items'])
      .map(asFields)
      .filter((task) => {
        const atMs = (numberIn(task['created_at']) ?? 0) * 1000
        if (atMs < createdAtMs - SKEW_MS || atMs > createdAtMs + SUBMISSION_MS_MAX) return false
        const { seconds, resolution, seed } = wish
        const fits = seconds === DURATION_AUTO || (task['duration'] ?? seconds) === seconds
        return task['seed'] === seed && (task['resolution'] ?? resolution) === resolution && fits
      })
      .map(({ id }) => asText(id))
      .filter(isPlainId)
  },
}

const fundsCode = /AccountOverdue|QuotaExceeded/

/** As in the chat format, with codes of its own. Its messages end in an id that only the vendor can use. */
const failures: FailureReader = {
  response(status, headers, body) {
    const failure = chatFailures.response(status, headers, body)
    const code = failure.code ?? ''
    const message = failure.message.replace(/\s*Request id:.*$/is, '')
    if (status === 404 && code === 'ResourceNotFound') return { ...failure, message, kind: 'bad_request' }
    if (status === 404) return { ...failure, message, kind: 'model_gone' }
    if (status === 400 && POLICY.test(code)) return { ...failure, message, kind: 'policy' }
    if (status === 400 && code.startsWith('InvalidEndpoint')) return { ...failure, message, kind: 'model_gone' }
    return { ...failure, message, kind: fundsCode.test(code) ? 'funds' : failure.kind }
  },
  hidden: (text) => chatFailures.hidden(text),
}

export const ark: VideoAdapter = {
  failures,
  submit,
  readSubmission,
  poll: ({ upstreamId }) => get(`${TASKS}/${encodeURIComponent(upstreamId)}`),
  readState,
  answers: 'light',
  media: 'by_address',
  find,
}
