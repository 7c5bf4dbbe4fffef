import { afterEach, expect, setSystemTime, test } from 'bun:test'
import type { Knobs } from '../faults.ts'
import type { Film } from './film.ts'
import { Jobs, jobStateOf, type SandboxJob } from './jobs.ts'
import { Shelf } from './shelf.ts'

const film: Film = { width: 64, height: 64, fps: 1, seconds: 1, seed: 0, audio: 'none' }
const start = (jobs: Jobs, fingerprint: unknown, faults: Knobs = {}): SandboxJob =>
  jobs.start({ prefix: 'job-', stage: 'generate', film, faults, said: {}, fingerprint, about: {}, expiresMs: 50_000 })

afterEach(() => {
  setSystemTime()
})

test('time alone carries a task from one state to the next', () => {
  setSystemTime(1_000_000)
  const jobs = new Jobs(10_000)
  const job = start(jobs, 'a')
  const stateAt = (ms: number): string => {
    setSystemTime(1_000_000 + ms)
    return jobStateOf(job)
  }
  expect([0, 1_999, 2_000, 9_999, 10_000, 1_000_000].map(stateAt)).toEqual([
    'queued',
    'queued',
    'running',
    'running',
    'succeeded',
    'succeeded',
  ])
})

test('a job that never ends expires', () => {
  setSystemTime(1_000_000)
  const job = start(new Jobs(10), 'a', { hangs: true })
  setSystemTime(1_049_999)
  expect(jobStateOf(job)).toBe('running')
  setSystemTime(1_050_000)
  expect(jobStateOf(job)).toBe('expired')
})

test('records go after a week, and the oldest beyond 20,000', () => {
  setSystemTime(1_000_000)
  const jobs = new Jobs(10)
  const first = start(jobs, 0)
  for (let i = 1; i < 20_000; i++) start(jobs, i)
  expect(jobs.find(first.id)).toBe(first)
  start(jobs, 20_000)
  expect(jobs.find(first.id)).toBeUndefined()
  expect(jobs.list('generate')).toHaveLength(20_000)
  setSystemTime(1_000_000 + 7 * 86_400_000 + 1)
  start(jobs, 'later')
  expect(jobs.list('generate')).toHaveLength(1)
})

test('a request that comes twice is counted as sent twice', () => {
  const jobs = new Jobs(10)
  for (const fingerprint of ['a', 'b', 'a', 'a']) start(jobs, fingerprint)
  expect(jobs.report()).toMatchObject({ generations: { submitted: 4, duplicates: 2 } })
})

test('a shelf makes a film once for all requests that wait for it, and keeps a bounded number of bytes', async () => {
  const shelf = new Shelf(10_000)
  const [one, two] = await Promise.all([shelf.fetch(film), shelf.fetch({ ...film })])
  expect(one).toBe(two)
  expect(shelf.report()).toMatchObject({ shot: 1, kept: 1, bytes_kept: one.length })
  for (let seed = 1; seed <= 20; seed++) await shelf.fetch({ ...film, seed })
  const { kept, bytes_kept: bytes } = shelf.report() as { kept: number; bytes_kept: number }
  expect(kept).toBeWithin(2, 20)
  expect(bytes).toBeLessThanOrEqual(10_000)
  const latest = await shelf.fetch({ ...film, seed: 20 })
  expect(await shelf.fetch({ ...film, seed: 20 })).toBe(latest)
  expect(await shelf.fetch(film)).not.toBe(one)
})
