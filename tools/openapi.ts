/**
 * bun tools/openapi.ts: writes docs/openapi.json, what the video routes take and answer. Requests come from the schema
 * that checks them, failures from the one table; tools/openapi.test.ts holds the file to both.
 */
import { z } from 'zod'
import { statusOf, videoStages } from '../src/domain/video-task.ts'
import { writeFailure } from '../src/formats/core/openai-failure.ts'
import { videoRequest } from '../src/formats/videos/request.ts'
import { FAILED_CODE } from '../src/formats/videos/view.ts'
import type { FailureKind } from '../src/domain/failure.ts'

export const FILE = `${import.meta.dir}/../docs/openapi.json`

const statuses = [...new Set(videoStages.map(statusOf))]
const text = { type: 'string' }
const time = { type: 'integer', description: 'Unix time, seconds' }
const object = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
})
const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object): object => ({ 'application/json': { schema } })
const ok = (description: string, schema: object): object => ({ description, content: json(schema) })

const task = {
  id: text,
  object: { const: 'video' },
  status: { enum: statuses },
  model: text,
  progress: { type: 'integer', minimum: 0, maximum: 100 },
  created_at: time,
  completed_at: time,
  usage: object({ completion_tokens: { type: 'integer' }, total_tokens: { type: 'integer' } }),
  metadata: object({
    url: { type: 'string', format: 'uri', description: 'where the video is; no key is needed there' },
  }),
  error: object({ message: text, code: { const: FAILED_CODE } }),
}

const envelope = object({ code: { const: 'success' }, message: text, data: { type: 'object' } })
const list = object({
  object: { const: 'list' },
  data: { type: 'array', items: ref('Video') },
  first_id: { type: ['string', 'null'] },
  last_id: { type: ['string', 'null'] },
  has_more: { type: 'boolean' },
})

/** Failures as answers, those of one status together. */
function failures(...kinds: readonly FailureKind[]): Record<string, object> {
  const codes = Map.groupBy(
    kinds.map((kind) => writeFailure({ kind, message: '' })),
    ({ status }) => status,
  )
  return Object.fromEntries(
    [...codes].map(([status, written]) => [
      String(status),
      { description: written.map(({ code }) => code).join(', '), content: json(ref('Error')) },
    ]),
  )
}

const keyFailures = failures('invalid_key', 'account_suspended')
const noTask = { '404': { description: 'task_not_found', content: json(ref('Error')) } }

const create = {
  summary: 'Creates a task that makes a video.',
  parameters: [{ name: 'Idempotency-Key', in: 'header', schema: text }],
  requestBody: { required: true, content: json(ref('VideoRequest')) },
  responses: {
    '200': ok('The task, queued.', { allOf: [ref('Video'), object({ task_id: text })] }),
    ...failures('invalid_value', 'invalid_type', 'missing_parameter', 'unsupported_parameter', 'invalid_json'),
    ...failures('invalid_key', 'insufficient_balance'),
    ...failures('account_suspended', 'model_not_allowed'),
    ...failures('model_not_found', 'idempotency_running', 'request_too_large', 'unsupported_media_type'),
    ...failures('idempotency_mismatch', 'unavailable'),
    ...failures('rate_limited', 'spend_limited'),
  },
}

const id = { name: 'id', in: 'path', required: true, schema: text }
const query = (name: string, schema: object): object => ({ name, in: 'query', schema })

const paths = {
  '/v1/videos': {
    post: create,
    get: {
      summary: 'Lists the tasks of the account.',
      parameters: [
        query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
        query('order', { enum: ['asc', 'desc'], default: 'desc' }),
        query('after', text),
      ],
      responses: { '200': ok('A page.', list), ...failures('invalid_value'), ...keyFailures },
    },
  },
  '/v1/videos/{id}': {
    parameters: [id],
    get: { summary: 'Shows a task.', responses: { '200': ok('The task.', ref('Video')), ...keyFailures, ...noTask } },
    delete: {
      summary: 'Deletes a task that has ended, and its file.',
      responses: {
        '200': ok('Gone.', object({ id: text, object: { const: 'video.deleted' }, deleted: { const: true } })),
        ...keyFailures,
        ...noTask,
        ...failures('not_completed'),
      },
    },
  },
  '/v1/videos/{id}/content': {
    parameters: [id],
    get: {
      summary: 'The video, to whoever has its address. Takes Range, If-Range and If-None-Match.',
      security: [],
      parameters: [{ name: 'Range', in: 'header', schema: text }],
      responses: {
        ...Object.fromEntries(
          ['200', '206'].map((status) => [
            status,
            { description: 'The video, or a part of it.', content: { 'video/mp4': {} } },
          ]),
        ),
        '304': { description: 'It has not changed.' },
        '416': { description: 'There is no such part.' },
        ...noTask,
        ...failures('not_completed', 'expired', 'rate_limited'),
      },
    },
  },
  '/v1/video/generations': { post: create },
  '/v1/video/generations/{id}': {
    parameters: [id],
    get: {
      summary: 'Shows a task in the envelope of its kind.',
      responses: { '200': ok('The task.', envelope), ...keyFailures, ...noTask },
    },
  },
}

/** The document as text. */
export function writeDocument(): string {
  const { $schema: _, ...request } = z.toJSONSchema(videoRequest, { io: 'input', unrepresentable: 'any' })
  const error = object({
    error: object({ message: text, type: text, param: { type: ['string', 'null'] }, code: text }),
  })
  const document = {
    openapi: '3.1.0',
    info: { title: 'Tollgate: videos', version: '1' },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { VideoRequest: request, Video: object(task, ['id', 'object', 'status']), Error: error },
    },
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

if (import.meta.main) await Bun.write(FILE, writeDocument())
