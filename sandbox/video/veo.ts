/**
 * Veo as the Gemini API and Vertex AI serve it: an operation that ends later. The Gemini API keeps the video as a file
 * that requires the key and redirects to another address. Vertex AI returns the video in the operation.
 */
import { complain } from '../complaint.ts'
import { refuseAsGemini } from '../gemini/voice.ts'
import { findModel, splitModelId } from '../models.ts'
import { hashOf } from '../random.ts'
import type { ErrorFields, SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute } from '../route.ts'
import { jobStateOf, type SandboxJob, type Jobs } from './jobs.ts'
import { linkTo, steerByJob } from './link.ts'
import type { Shelf } from './shelf.ts'
import { proportionOf, videoSidesOf } from './sides.ts'
import { veoRequest, type VeoRequest } from './veo-request.ts'
import { knobsSaid } from './words.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

const SUBMIT = ':predictLongRunning'
const OPERATIONS = '/operations/'

export function veoRoutes(jobs: Jobs, shelf: Shelf): readonly VendorRoute[] {
  const shared = { kind: 'vendor', voice: { refuse: refuseAsGemini } } as const
  const submit = (version: string, folder: string): VendorRoute => ({
    ...shared,
    method: 'POST',
    path: `${version}${folder}*${SUBMIT}`,
    modelIn: modelOf,
    steps: ['submit'],
    steer: ({ tail, body }) => ({ parsed: knobsSaid(modelOf(tail), promptOf(body)) }),
    answer: (call) => create(call, jobs, folder),
  })
  return [
    submit('/v1beta/', 'models/'),
    {
      ...shared,
      method: 'GET',
      path: '/v1beta/models/*',
      steps: ['poll'],
      steer: ({ tail }) => steerByJob(jobs, idIn(tail)),
      answer: (call) => showOperation(call, jobs),
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1beta/files/*:download',
      answer: (call) => openFile(call, jobs),
    },
    ...['/v1/', '/v1beta1/'].flatMap((version): VendorRoute[] => [
      submit(version, 'projects/'),
      {
        ...shared,
        method: 'POST',
        path: `${version}projects/*:fetchPredictOperation`,
        steps: ['poll'],
        steer: ({ body }) => steerByJob(jobs, idIn(operationIn(body))),
        answer: (call) => fetchOperation(call, jobs, shelf),
      },
    ]),
  ]
}

/** `models/sandbox-video`, with or without a project and a location before it. */
const modelOf = (tail: string): string => tail.slice(tail.lastIndexOf('/') + 1)
const idIn = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

const promptOf = (body: unknown): string => {
  const { instances } = Object(body) as { instances?: unknown }
  const { prompt } = Object(Array.isArray(instances) ? instances[0] : undefined) as { prompt?: unknown }
  return typeof prompt === 'string' ? prompt : ''
}

const operationIn = (body: unknown): string => {
  const { operationName } = Object(body) as { operationName?: unknown }
  return typeof operationName === 'string' ? operationName : ''
}

const invalid = (message: string): ErrorFields => ({ message, code: 'invalid_value' })

function create({ body, tail, faults }: SandboxCall, jobs: Jobs, folder: string): SandboxReply {
  const model = modelOf(tail)
  if (!findModel(model)?.videos) {
    const message = `models/${model} is not found for API version v1beta, or is not supported for predictLongRunning.`
    return refuseAsGemini(404, { message, code: null })
  }
  const parsed = safeParse(veoRequest, body, { reportInput: true })
  if (!parsed.success) return refuseAsGemini(400, complain(parsed.error))
  const conflict = findConflict(parsed.data)
  if (conflict) return refuseAsGemini(400, conflict)
  const said = knobsSaid(model, promptOf(body))
  const job = jobs.start({
    prefix: '',
    stage: 'generate',
    film: filmOf(parsed.data),
    faults,
    said: said.kind === 'knobs' ? said.knobs : {},
    fingerprint: [model, parsed.data],
    about: {},
  })
  return { kind: 'json', status: 200, body: { name: `${folder}${splitModelId(tail).name}${OPERATIONS}${job.id}` } }
}

function findConflict({ instances: [{ prompt, image, lastFrame, referenceImages }], parameters = {} }: VeoRequest) {
  const { resolution, durationSeconds = 8 } = parameters
  if (prompt === undefined && !image) return invalid('A prompt or an image is required.')
  if (lastFrame && !image) return invalid('lastFrame needs an image to begin with.')
  if (referenceImages && (image || lastFrame)) return invalid('referenceImages exclude image and lastFrame.')
  const isLarge = resolution === '1080p' || resolution === '4k'
  if ((isLarge || referenceImages) && durationSeconds !== 8) return invalid('durationSeconds has to be 8 for that.')
  return undefined
}

function filmOf({ instances, parameters = {} }: VeoRequest): SandboxJob['film'] {
  const { resolution = '720p', aspectRatio = '16:9', durationSeconds: seconds = 8, seed = 0 } = parameters
  const sides = videoSidesOf(resolution, proportionOf(aspectRatio))
  const audio = parameters.generateAudio === false ? 'none' : 'silent'
  return { ...sides, fps: 24, seconds, seed: hashOf(JSON.stringify(instances), seed), audio }
}

function showOperation({ tail, origin }: SandboxCall, jobs: Jobs): SandboxReply {
  const job = tail.includes(OPERATIONS) ? jobs.look(idIn(tail), 'generate') : undefined
  if (!job) return refuseAsGemini(404, { message: 'Requested entity was not found.', code: null })
  const name = `models/${tail}`
  const uri = `${origin}/v1beta/files/${job.id}:download?alt=media`
  const samples = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
  const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse'
  const filtered = { generateVideoResponse: FILTERED }
  return operation(name, job, { '@type': type, ...(job.end === 'filtered' ? filtered : samples) })
}

const FILTERED = {
  raiMediaFilteredCount: 1,
  raiMediaFilteredReasons: ['The video was not made because it may violate the usage guidelines.'],
}

async function fetchOperation({ body }: SandboxCall, jobs: Jobs, shelf: Shelf): Promise<SandboxReply> {
  const name = operationIn(body)
  const job = name.includes(OPERATIONS) ? jobs.look(idIn(name), 'generate') : undefined
  if (!job) return refuseAsGemini(404, { message: 'Requested entity was not found.', code: null })
  const type = 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse'
  if (job.end === 'filtered') return operation(name, job, { '@type': type, ...FILTERED })
  if (jobStateOf(job) !== 'succeeded') return operation(name, job, {})
  const bytesBase64Encoded = Buffer.from(await shelf.fetch(job.film)).toString('base64')
  const videos = [{ bytesBase64Encoded, mimeType: 'video/mp4' }]
  return operation(name, job, { '@type': type, raiMediaFilteredCount: 0, videos })
}

const ERRORS = {
  failed: { code: 13, message: 'Video generation failed due to an internal server issue.' },
  expired: { code: 4, message: 'The operation has taken too long.' },
  cancelled: { code: 1, message: 'The operation was cancelled.' },
} as const

/** A filtered operation is done without an error and without a video. */
function operation(name: string, job: SandboxJob, response: object): SandboxReply {
  const state = jobStateOf(job)
  if (state === 'queued' || state === 'running') return { kind: 'json', status: 200, body: { name } }
  const end = state === 'succeeded' || job.end === 'filtered' ? { response } : { error: ERRORS[state] }
  return { kind: 'json', status: 200, body: { name, done: true, ...end } }
}

/** Requires any key, so a browser that has only the address fails. It redirects to a link of its own. */
function openFile({ tail, query, headers, origin }: SandboxCall, jobs: Jobs): SandboxReply {
  if (!headers?.has('x-goog-api-key') && !headers?.has('authorization') && !query?.has('key')) {
    const message =
      "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity."
    return refuseAsGemini(403, { message, code: null })
  }
  const job = jobs.find(tail)
  if (!job || jobStateOf(job) !== 'succeeded') {
    return refuseAsGemini(404, { message: `File files/${tail} was not found.`, code: null })
  }
  return { kind: 'json', status: 302, body: {}, headers: { location: linkTo(job, origin) } }
}
