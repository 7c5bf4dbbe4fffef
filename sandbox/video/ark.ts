/** Seedance as Volcengine Ark and BytePlus ModelArk serve it: tasks to create, poll, list and delete. */
import { complain } from '../complaint.ts'
import type { Knobs } from '../faults.ts'
import { findModel } from '../models.ts'
import { hashOf } from '../random.ts'
import type { SandboxReply } from '../reply.ts'
import type { RequestTarget, SandboxCall, VendorRoute } from '../route.ts'
import { arkRequest, arkConflict, type ArkRequest } from './ark-request.ts'
import { arkVoice, refuseAsArk } from './ark-voice.ts'
import { changedMs, jobStateOf, type SandboxJob, type Jobs } from './jobs.ts'
import { linkTo, steerByJob } from './link.ts'
import { proportionOf, videoSidesOf } from './sides.ts'
import { knobsSaid } from './words.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

const TASKS = '/contents/generations/tasks'
/** The base path that the gateway expects of every vendor, and Ark's own. */
const BASES = ['/v1', '/api/v3']

export function arkRoutes(jobs: Jobs): readonly VendorRoute[] {
  const shared = { kind: 'vendor', voice: arkVoice } as const
  const steerHere = ({ tail }: RequestTarget) => steerByJob(jobs, tail)
  return BASES.flatMap((base): VendorRoute[] => [
    {
      ...shared,
      method: 'POST',
      path: base + TASKS,
      steps: ['submit'],
      steer: ({ body }) => ({ parsed: saidIn(body) }),
      answer: (call) => create(call, jobs),
    },
    { ...shared, method: 'GET', path: base + TASKS, steps: ['poll'], answer: (call) => list(call, jobs) },
    {
      ...shared,
      method: 'GET',
      path: `${base}${TASKS}/*`,
      steps: ['poll'],
      steer: steerHere,
      answer: (call) => show(call, jobs),
    },
    { ...shared, method: 'DELETE', path: `${base}${TASKS}/*`, answer: (call) => remove(call, jobs) },
  ])
}

const SEED_FOR_ANY = -1
const FPS = 24

function create({ body, faults }: SandboxCall, jobs: Jobs): SandboxReply {
  const parsed = safeParse(arkRequest, body, { reportInput: true })
  if (!parsed.success) return refuseAsArk(400, complain(parsed.error))
  const request = parsed.data
  const videos = findModel(request.model)?.videos
  if (!videos) {
    const message = `The model or endpoint ${request.model} does not exist or you do not have access to it.`
    return refuseAsArk(404, { message, code: 'no_such_model' })
  }
  const conflict = arkConflict(request)
  if (conflict) return refuseAsArk(400, conflict)
  const resolution = request.resolution ?? '720p'
  if (!videos.resolutions.includes(resolution)) {
    const message = `The parameter resolution specified in the request is not valid: ${request.model} makes ${videos.resolutions.join(', ')}.`
    return refuseAsArk(400, { message, code: 'invalid_value', param: 'resolution' })
  }
  // A picture in the content may have megabytes, so everything is derived from this hash.
  const content = hashOf(JSON.stringify(request.content))
  const made = plan({ ...request, resolution }, content)
  const expiresAfter = request.execution_expires_after ?? EXPIRES_AFTER_SECONDS
  const job = jobs.start({
    prefix: `cgt-${stamp()}-`,
    stage: 'generate',
    film: made.film,
    faults,
    said: knobsIn(body),
    fingerprint: { ...request, content },
    about: made.about,
    expiresMs: expiresAfter * 1000,
  })
  return { kind: 'json', status: 200, body: { id: job.id } }
}

const EXPIRES_AFTER_SECONDS = 172_800
/** The assumed length of a reference video, which is not read. */
const SECONDS_OF_REFERENCE = 5
const PIXELS_PER_TOKEN = 1_024

/** The plan of a video. Options that the request leaves out follow from its content. */
function plan(
  request: ArkRequest & { resolution: NonNullable<ArkRequest['resolution']> },
  contentHash: number,
): Pick<SandboxJob, 'film' | 'about'> {
  const { content, resolution, model } = request
  const seed = request.seed === undefined || request.seed === SEED_FOR_ANY ? contentHash : request.seed
  const asked = request.duration ?? 5
  const seconds = asked === -1 ? 4 + (seed % 12) : asked
  const ratio = request.ratio === undefined || request.ratio === 'adaptive' ? '16:9' : request.ratio
  const sides = videoSidesOf(resolution, proportionOf(ratio))
  const audio = request.generate_audio ?? true
  const references = content.filter(({ type }) => type === 'video_url').length
  const tokens = (sides.width * sides.height * FPS * (seconds + references * SECONDS_OF_REFERENCE)) / PIXELS_PER_TOKEN
  const about = {
    model,
    seed,
    resolution,
    ratio,
    duration: seconds,
    framespersecond: FPS,
    service_tier: 'default',
    execution_expires_after: request.execution_expires_after ?? EXPIRES_AFTER_SECONDS,
    generate_audio: audio,
    draft: false,
    tokens: Math.ceil(tokens),
    searches: request.tools?.length ? 1 : 0,
    ...(request.safety_identifier !== undefined && { safety_identifier: request.safety_identifier }),
  }
  const scene = hashOf(String(contentHash), seed)
  return { film: { ...sides, fps: FPS, seconds, seed: scene, audio: audio ? 'silent' : 'none' }, about }
}

function saidIn(body: unknown): ReturnType<typeof knobsSaid> {
  const { model, content } = Object(body) as { model?: unknown; content?: unknown }
  const texts = (Array.isArray(content) ? content : []).map((one: unknown) => (Object(one) as { text?: unknown }).text)
  const prompt = texts.filter((text) => typeof text === 'string').join('\n')
  return knobsSaid(typeof model === 'string' ? model : '', prompt)
}

function knobsIn(body: unknown): Knobs {
  const said = saidIn(body)
  return said.kind === 'knobs' ? said.knobs : {}
}

function show({ tail, faults, origin }: SandboxCall, jobs: Jobs): SandboxReply {
  const job = jobs.look(tail, 'generate')
  return job ? { kind: 'json', status: 200, body: shown(job, faults, origin) } : unknown(tail)
}

const unknown = (id: string): SandboxReply =>
  refuseAsArk(404, { message: `The specified task ${id} is not found.`, code: 'not_found' })

const ERRORS = {
  filtered: {
    code: 'OutputVideoSensitiveContentDetected',
    message: 'The request failed because the output video may contain sensitive information.',
  },
  failed: { code: 'InternalServiceError', message: 'The service encountered an unexpected internal error.' },
}

function shown(job: SandboxJob, faults: Knobs, origin: string): object {
  const status = jobStateOf(job)
  const { tokens, searches, ...about } = job.about
  const common = { id: job.id, ...about, status, created_at: unix(job.createdMs), updated_at: unix(changedMs(job)) }
  if (status === 'failed') return { ...common, error: ERRORS[job.end === 'filtered' ? 'filtered' : 'failed'] }
  if (status !== 'succeeded') return { ...common, error: null }
  const total = Number(tokens) + (faults.wrongUsage ? 7 : 0)
  const usage = { completion_tokens: tokens, total_tokens: total, tool_usage: { web_search: searches } }
  return {
    ...common,
    content: { video_url: linkTo(job, origin) },
    ...(!faults.noUsage && { usage }),
    error: null,
  }
}

const unix = (ms: number): number => Math.floor(ms / 1000)

/** `20260514183217` */
const stamp = (): string => new Date().toISOString().replace(/\D/g, '').slice(0, 14)

const PAGE_SIZE_MAX = 500

function list({ query, faults, origin }: SandboxCall, jobs: Jobs): SandboxReply {
  const [number, size] = [pageOf(query?.get('page_num'), 1), pageOf(query?.get('page_size'), 10)]
  if (number === undefined || size === undefined || size > PAGE_SIZE_MAX) {
    return refuseAsArk(400, {
      message: 'page_num and page_size are counts.',
      code: 'invalid_value',
      param: 'page_size',
    })
  }
  const ids = query?.getAll('filter.task_ids') ?? []
  const [status, model] = [query?.get('filter.status'), query?.get('filter.model')]
  const found = jobs
    .list('generate')
    .filter((job) => ids.length === 0 || ids.includes(job.id))
    .filter((job) => !status || jobStateOf(job) === status)
    .filter((job) => !model || job.about['model'] === model)
  const items = found.slice((number - 1) * size, number * size).map((job) => shown(job, faults, origin))
  return { kind: 'json', status: 200, body: { total: found.length, items } }
}

function pageOf(text: string | null | undefined, otherwise: number): number | undefined {
  if (text === null || text === undefined) return otherwise
  return /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined
}

/** Cancels a queued task and forgets an ended one. A running or cancelled task stays. */
function remove({ tail }: SandboxCall, jobs: Jobs): SandboxReply {
  const job = jobs.look(tail, 'generate')
  if (!job) return unknown(tail)
  const state = jobStateOf(job)
  if (state === 'running' || state === 'cancelled') {
    return refuseAsArk(409, { message: `A ${state} task cannot be deleted.`, code: 'conflict' })
  }
  if (state === 'queued') job.isCancelled = true
  else job.isDeleted = true
  return { kind: 'json', status: 200, body: {} }
}
