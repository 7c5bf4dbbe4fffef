/** Super-resolution by Volcengine AI MediaKit (its agent skills and MCP server, August to November 2026). */
import { chatFailures } from '../core/openai-failure.ts'
import { asFields, asText, codeIn, numberIn, parseFields, type Fields } from '../core/fields.ts'
import type { UpstreamRequest } from '../core/contract.ts'
import {
  garbage,
  isPlainId,
  phaseOf,
  readStateOf,
  type ReadState,
  type TaskAdapter,
  type UpscaleOrder,
} from './adapter.ts'

function submit({ url, wish, token }: UpscaleOrder): UpstreamRequest {
  const fields = {
    video_url: url,
    scene: wish.scene,
    tool_version: wish.version,
    resolution: wish.resolution,
    resolution_limit: wish.limit,
    fps: wish.fps,
    client_token: token,
  }
  return { path: '/tools/enhance-video', headers: {}, body: JSON.stringify(fields), dropped: [] }
}

/** The facts of a task, which some versions put into `result` or `data`. */
function factsIn(text: string): Fields | undefined {
  const fields = parseFields(text)
  if (!fields) return undefined
  const data = asFields(fields['data'])
  return { ...fields, ...data, ...asFields(fields['result']), ...asFields(data['result']) }
}

function readState(text: string): ReadState {
  const facts = factsIn(text)
  if (!facts) return garbage('the answer is not a JSON object')
  switch (phaseOf(facts['status'])) {
    case 'queued':
      return readStateOf({ kind: 'queued' })
    case 'running':
      return readStateOf({ kind: 'running' })
    case 'done': {
      const url = [facts['play_url'], facts['video_url'], facts['url']].map(asText).find((one) => one !== '')
      if (url === undefined) return garbage('the task has completed without a video')
      const made = { tokens: undefined, seconds: numberIn(facts['duration']) }
      return readStateOf({ kind: 'done', made, source: { kind: 'url', url, credential: 'none' } })
    }
    case 'failed':
      return readStateOf({ kind: 'failed', why: 'fault', code: codeOf(facts) })
    case 'cancelled':
      return readStateOf({ kind: 'failed', why: 'cancelled', code: codeOf(facts) })
    case 'expired':
      return readStateOf({ kind: 'failed', why: 'expired', code: codeOf(facts) })
    default:
      return garbage('the task has an unknown state')
  }
}

const codeOf = (facts: Fields): string | undefined => codeIn(asFields(facts['error'])['code']) ?? codeIn(facts['code'])

export const mediakit: TaskAdapter<UpscaleOrder> = {
  failures: chatFailures,
  submit,
  readSubmission(text) {
    const id = asText(factsIn(text)?.['task_id'])
    return isPlainId(id) ? { kind: 'accepted', upstreamId: id } : garbage('the answer names no task')
  },
  poll: ({ upstreamId }) => ({
    method: 'GET',
    path: `/tasks/${encodeURIComponent(upstreamId)}`,
    headers: {},
    body: '',
    dropped: [],
  }),
  readState,
  answers: 'light',
}
