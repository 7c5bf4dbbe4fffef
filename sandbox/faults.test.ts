import { expect, test } from 'bun:test'
import { FaultPlan } from './fault-plan.ts'
import { parseKnobs, parseKnobText, type FaultStep } from './faults.ts'

test('the spelling of headers: kebab-case, numbers, flags by their name alone', () => {
  const parsed = parseKnobText('status=429, retry-after=2,no-done,no-usage=false')
  expect(parsed).toEqual({ kind: 'knobs', knobs: { status: 429, retryAfter: 2, noDone: true, noUsage: false } })
})

test('the spelling of model names: camelCase, and exclamation marks between knobs', () => {
  const parsed = parseKnobText('stallAfterEvents=3!pace=20')
  expect(parsed).toEqual({ kind: 'knobs', knobs: { stallAfterEvents: 3, paceMs: 20 } })
})

test('the JSON of the control route', () => {
  expect(parseKnobs({ errorEvent: 2, garbage: true })).toEqual({
    kind: 'knobs',
    knobs: { errorEvent: 2, garbage: true },
  })
})

test('errorEvent as a flag means the first event', () => {
  expect(parseKnobText('error-event')).toEqual({ kind: 'knobs', knobs: { errorEvent: 1 } })
})

test('an unknown knob is refused by name, and the known ones are listed', () => {
  const parsed = parseKnobText('statsu=500')
  const message = parsed.kind === 'refused' ? parsed.message : ''
  expect(message).toContain(`'statsu'`)
  expect(message).toContain('stallAfterEvents')
})

test('names of members of every object are not knobs', () => {
  expect(parseKnobText('constructor')).toMatchObject({ kind: 'refused' })
})

test.each(['status', 'status=200', 'status=4.5', 'status=abc', 'noDone=3', 'failTimes=-1'])('%s is refused', (text) => {
  expect(parseKnobText(text)).toMatchObject({ kind: 'refused' })
})

test.each([[null], [[]], ['status=500'], [{ status: '500' }]])('%p is no JSON of knobs', (value) => {
  expect(parseKnobs(value)).toMatchObject({ kind: 'refused' })
})

test('own knobs win over the defaults, knob by knob', () => {
  const plan = new FaultPlan({ status: 500, delayMs: 5 })
  expect(plan.draw({ status: 429 })).toEqual({ status: 429, delayMs: 5 })
})

test('failTimes counts the requests with the same knobs, and leaves the pace alone', () => {
  const plan = new FaultPlan({})
  const own = { status: 500, failTimes: 2, paceMs: 3 }
  expect([1, 2, 3, 4].map(() => plan.draw(own).status)).toEqual([500, 500, undefined, undefined])
  expect(plan.draw(own)).toEqual({ paceMs: 3 })
  expect(plan.draw({ status: 503, failTimes: 1 }).status).toBe(503)
})

test('new defaults start with fresh counts', () => {
  const plan = new FaultPlan({ status: 500, failTimes: 1 })
  expect(plan.draw({}).status).toBe(500)
  expect(plan.draw({}).status).toBeUndefined()
  plan.replace({ status: 500, failTimes: 1 })
  expect(plan.draw({}).status).toBe(500)
})

test('a step before a knob, and super-resolution before a step', () => {
  expect(parseKnobText('poll-status=503,upscale-poll-lost,upscaleFails,task-ms=5')).toEqual({
    kind: 'knobs',
    knobs: { poll: { status: 503 }, upscale: { poll: { lost: 1 }, fails: true }, taskMs: 5 },
  })
})

test.each(['poll', 'pollstatus=500', 'poll-download-status=500', 'upscale-upscale-fails', 'poll-status=200'])(
  '%s is no knob of a step',
  (text) => {
    expect(parseKnobText(text)).toMatchObject({ kind: 'refused' })
  },
)

test('knobs of a step win over those of all, and work on that step alone', () => {
  const plan = new FaultPlan({ status: 500, poll: { status: 503 }, upscale: { status: 501, poll: { status: 504 } } })
  const statusAt = (...steps: FaultStep[]): number | undefined => plan.draw({}, { steps }).status
  expect([statusAt(), statusAt('submit'), statusAt('poll')]).toEqual([500, 500, 503])
  expect([statusAt('upscale', 'submit'), statusAt('upscale', 'poll')]).toEqual([501, 504])
})

test('used-up knobs leave those for later requests', () => {
  const plan = new FaultPlan({})
  const own = { status: 503, failTimes: 1, taskMs: 7, poll: { status: 500 } }
  expect(plan.draw(own, { steps: ['submit'] }).status).toBe(503)
  expect(plan.draw(own, { steps: ['submit'] })).toEqual({ taskMs: 7, poll: { status: 500 } })
  const each = { poll: { status: 500, failTimes: 1 } }
  const drawn = (scope: string) => plan.draw(each, { steps: ['poll'], scope }).status
  expect([drawn('a'), drawn('b'), drawn('a'), drawn('b')]).toEqual([500, 500, undefined, undefined])
})
