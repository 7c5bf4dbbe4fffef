import { expect, test } from 'bun:test'
import { phaseOf } from './adapter.ts'
import { ark } from './ark.ts'
import { mediakit } from './mediakit.ts'

const stateIn = (adapter: typeof ark | typeof mediakit, task: object): unknown => {
  const read = adapter.readState(JSON.stringify(task))
  return read.kind === 'state' ? read.state.kind : read.kind
}
const video = { content: { video_url: 'https://example.com/a.mp4' }, video_url: 'https://example.com/a.mp4' }

test.each([
  ['queued', ['queued', 'QUEUED', 'pending', 'NOT_START', 'SUBMITTED', 'Queueing', ' queued ']],
  ['running', ['running', 'RUNNING', 'processing', 'IN_PROGRESS', 'in progress', 'in-progress']],
  ['done', ['succeeded', 'SUCCEEDED', 'Succeeded', 'succeed', 'success', 'SUCCESS', 'completed', 'COMPLETED']],
  [
    'failed',
    ['failed', 'FAILED', 'FAILURE', 'Fail', 'error', 'cancelled', 'CANCELED', 'canceled', 'expired', 'EXPIRED'],
  ],
] as const)('%s, in the words of vendors and of relays', (kind, words) => {
  for (const status of words) {
    expect([status, stateIn(ark, { ...video, status }), stateIn(mediakit, { ...video, status })]).toEqual([
      status,
      kind,
      kind,
    ])
  }
})

test('an unknown word is no state', () => {
  for (const status of ['', 'unknown', 'constructor', '__proto__', 7, null, ['succeeded'], undefined]) {
    expect([phaseOf(status), stateIn(ark, { ...video, status })]).toEqual([undefined, 'failed'])
  }
})
