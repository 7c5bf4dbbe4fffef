/** The contract of `Tasks` as tests for any store. The suite uses only the port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { videoStages, type VideoStage, type VideoTask } from '../domain/video-task.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { Dice, shifted, withPort, written, type PortUnderTest } from '../store/port-contract.ts'
import { TASK_KEPT_MS, type TaskAcceptance, type Tasks, type TaskScope } from './tasks.ts'

const a: TaskScope = { accountId: 'a' }
const b: TaskScope = { accountId: 'b' }
let serial = 0

function makeTask(rest: Partial<VideoTask> = {}): VideoTask {
  const createdAtMs = Date.now()
  return {
    id: `task_${String(serial++).padStart(32, '0')}`,
    accountId: 'a',
    keyId: 'k',
    requestId: timeOrderedId('req_', createdAtMs + serial),
    model: 'video-1',
    stage: 'submitting',
    progress: 0,
    wish: { prompt: 'none', seconds: 5 } as unknown as VideoTask['wish'],
    terms: { sale: { id: 7, prices: [{ nano: 2n ** 60n }] }, offers: [] } as unknown as VideoTask['terms'],
    held: 2n ** 55n,
    offerId: undefined,
    upstreamId: undefined,
    upscaleId: undefined,
    made: undefined,
    usage: undefined,
    reason: undefined,
    createdAtMs,
    deadlineAtMs: createdAtMs + 3_600_000,
    startedAtMs: undefined,
    endedAtMs: undefined,
    ...rest,
  }
}

const MADE = { tokens: 12, seconds: 5 }
const acceptance = (upstreamId = `up_${serial++}`): TaskAcceptance => ({ offerId: 'o', upstreamId, attempts: [] })

type Transition = {
  readonly from: readonly VideoStage[]
  readonly to: VideoStage | 'same' | 'gone'
  /** Resolves to whether the transition was made. */
  readonly run: (under: PortUnderTest<Tasks>, task: VideoTask) => Promise<boolean>
}

const OPEN: readonly VideoStage[] = ['submitting', 'queued', 'running', 'upscaling', 'storing']
const done = (change: Promise<unknown>): Promise<boolean> =>
  change.then(
    () => true,
    () => false,
  )
const isWritten = async (under: PortUnderTest<Tasks>, steps: ReturnType<Tasks['insertSteps']>): Promise<boolean> =>
  (await under.write(steps)).kind === 'written'

/** Every transition, and the stages from which it is allowed. */
const transitions: Readonly<Record<string, Transition>> = {
  accepted: {
    from: ['submitting'],
    to: 'queued',
    run: ({ port }, task) => done(port.accepted(task, acceptance())),
  },
  running: { from: ['queued', 'running'], to: 'running', run: ({ port }, task) => done(port.running(task, 10)) },
  upscaling: {
    from: ['queued', 'running'],
    to: 'upscaling',
    run: ({ port }, task) => done(port.upscaling(task, MADE, 20)),
  },
  raised: { from: OPEN, to: 'same', run: ({ port }, task) => done(port.raised(task, 30)) },
  storing: {
    from: ['queued', 'running', 'upscaling'],
    to: 'storing',
    run: ({ port }, task) => done(port.storing(task, MADE, 40)),
  },
  complete: {
    from: ['storing'],
    to: 'completed',
    run: (under, task) =>
      isWritten(under, under.port.completeSteps({ ...task, usage: { tokens: 1, seconds: 5 }, endedAtMs: Date.now() })),
  },
  fail: {
    from: OPEN,
    to: 'failed',
    run: (under, task) =>
      isWritten(under, under.port.failSteps({ ...task, reason: 'no', endedAtMs: Date.now() }, undefined)),
  },
  forget: { from: ['submitting'], to: 'gone', run: (under, task) => isWritten(under, under.port.forgetSteps(task)) },
}

/** The shortest path to a stage. */
const ways: Readonly<Record<VideoStage, readonly string[]>> = {
  submitting: [],
  queued: ['accepted'],
  running: ['accepted', 'running'],
  upscaling: ['accepted', 'upscaling'],
  storing: ['accepted', 'storing'],
  completed: ['accepted', 'storing', 'complete'],
  failed: ['fail'],
}

/** Makes a task and brings it to a stage. */
async function taskAt(
  under: PortUnderTest<Tasks>,
  stage: VideoStage,
  rest: Partial<VideoTask> = {},
): Promise<VideoTask> {
  const task = makeTask(rest)
  await written(under, under.port.insertSteps(task))
  for (const name of ways[stage]) expect(await transitions[name]?.run(under, task)).toBe(true)
  return task
}

/** Runs the suite. `open` gives an empty store. */
export function describeTasksContract(name: string, open: () => Promise<PortUnderTest<Tasks>>): void {
  describe(`${name} keeps the contract of video tasks`, () => {
    let under: PortUnderTest<Tasks>
    beforeEach(async () => {
      under = await open()
    })
    afterEach(() => under.close())
    const context = { get: () => under }
    testTasks(context)
    testTransitions(context)
    testLists(context)
    testEnds(context)
  })
}

type SuiteContext = { readonly get: () => PortUnderTest<Tasks> }

function testTasks({ get }: SuiteContext): void {
  test('a task is read back as it was made, by its account alone, also by the next process', async () => {
    const task = makeTask()
    await written(get(), get().port.insertSteps(task))
    for (const port of [get().port, await get().reopen()]) {
      expect(await port.find(a, task.id)).toEqual(task)
      expect(await port.forConsole(a, task.requestId)).toEqual(task)
      expect(await port.find(b, task.id)).toBeUndefined()
      expect(await port.forConsole(b, task.requestId)).toBeUndefined()
      expect(await port.list(b, { limit: 5, order: 'asc', after: task.id })).toBeUndefined()
      expect(await port.stageOf(task.id)).toBe('submitting')
      expect(await port.stageOf('task_none')).toBeUndefined()
    }
    expect((await get().write(get().port.insertSteps(task))).kind).toBe('refused')
    expect(await (await get().reopen()).takeOver()).toEqual([{ task, attempts: [] }])
  })

  test('a vendor’s task belongs to one task of ours', async () => {
    const { port } = get()
    const [first, second] = [makeTask(), makeTask({ accountId: 'b' })]
    for (const task of [first, second]) await written(get(), port.insertSteps(task))
    const accepted = await Promise.all([first, second].map((task) => port.accepted(task, acceptance('up'))))
    expect(accepted.toSorted((x, y) => Number(x) - Number(y))).toEqual([false, true])
    const refused = accepted[0] ? second : first
    expect(await port.stageOf(refused.id)).toBe('submitting')
    expect(await port.accepted(refused, { ...acceptance('up'), offerId: 'other' })).toBe(true)
    expect(await port.knows(['up', 'none'])).toEqual(new Set(['up']))
    expect(await port.knows([])).toEqual(new Set())
  })

  test('the attempts of a submission are there for the next process', async () => {
    const task = makeTask()
    await written(get(), get().port.insertSteps(task))
    const attempts = [
      { offerId: 'o', providerId: 'p', upstreamModel: 'u', result: 'rate', message: '"é"', startedMs: 1, tookMs: 2 },
    ]
    await get().port.accepted(task, { ...acceptance(), attempts })
    expect(await (await get().reopen()).takeOver()).toMatchObject([
      { task: { id: task.id, stage: 'queued' }, attempts },
    ])
  })
}

function testTransitions({ get }: SuiteContext): void {
  test('each transition is made from its own stages alone, with all steps of its transaction', async () => {
    for (const stage of videoStages) {
      for (const [name, { from, to, run }] of Object.entries(transitions)) {
        const task = await taskAt(get(), stage)
        const isDone = await run(get(), task)
        const found = await get().port.stageOf(task.id)
        const wanted = !from.includes(stage) || to === 'same' ? stage : to === 'gone' ? undefined : to
        expect({ stage, name, isDone, found }).toEqual({ stage, name, isDone: from.includes(stage), found: wanted })
      }
    }
  })

  test('steps that do not fit refuse their whole transaction', async () => {
    const { port } = get()
    const [task, other] = [await taskAt(get(), 'running'), makeTask()]
    const ended = { ...task, usage: { tokens: 1, seconds: 1 }, endedAtMs: Date.now() }
    expect((await get().write([...port.insertSteps(other), ...port.completeSteps(ended)])).kind).toBe('refused')
    expect(await port.stageOf(other.id)).toBeUndefined()
  })

  test('of concurrent ends one is written', async () => {
    const task = await taskAt(get(), 'storing')
    const ends = ['complete', 'fail', 'fail', 'complete'].map((name) =>
      Promise.resolve(transitions[name]?.run(get(), task)),
    )
    expect((await Promise.all(ends)).filter(Boolean)).toHaveLength(1)
  })

  test('progress never falls, and a task starts once', async () => {
    const { port } = get()
    const task = await taskAt(get(), 'queued')
    await port.running(task, 50)
    const started = await port.find(a, task.id)
    expect(started?.startedAtMs).toBeGreaterThanOrEqual(task.createdAtMs)
    await shifted(60_000, async () => {
      await port.running(task, 20)
      await port.raised(task, 10)
    })
    expect(await port.find(a, task.id)).toMatchObject({ progress: 50, startedAtMs: started?.startedAtMs ?? 0 })
    await port.upscaling(task, MADE, 60)
    await port.acceptedUpscale(task, 'up_1')
    expect(await done(port.acceptedUpscale(task, 'up_2'))).toBe(false)
    await port.storing(task, MADE, 30)
    expect(await port.find(a, task.id)).toMatchObject({ progress: 60, upscaleId: 'up_1', made: MADE })
    await transitions['complete']?.run(get(), task)
    expect(await port.find(a, task.id)).toMatchObject({ progress: 100, usage: { tokens: 1, seconds: 5 } })
  })
}

function testLists({ get }: SuiteContext): void {
  test('pages hold each task of the account once, in either order', async () => {
    const dice = new Dice(9)
    const made: VideoTask[] = []
    for (let i = 0; i < 40; i++)
      made.push(await taskAt(get(), dice.pick(...videoStages), { accountId: dice.pick('a', 'b') }))
    const mine = made.filter(({ accountId }) => accountId === 'a')
    for (const order of ['asc', 'desc'] as const) {
      const wanted = mine.toSorted((x, y) => (x.requestId < y.requestId === (order === 'asc') ? -1 : 1))
      const found: string[] = []
      for (let after: string | undefined; ;) {
        const limit = 1 + dice.below(7)
        const page = (await get().port.list(a, { limit, order, after })) ?? []
        found.push(...page.slice(0, limit).map(({ id }) => id))
        if (page.length <= limit) break
        expect(page.length).toBe(limit + 1)
        after = found.at(-1)
      }
      expect(found).toEqual(wanted.map(({ id }) => id))
    }
    const people: string[] = []
    for (let before: string | undefined; ;) {
      const page = await get().port.before(a, { limit: 7, before })
      if (page.length === 0) break
      people.push(...page.map(({ requestId }) => requestId))
      before = people.at(-1)
    }
    const ids = mine.map(({ requestId }) => requestId)
    expect(people).toEqual(ids.toSorted().toReversed())
    expect(await get().port.list(a, { limit: 5, order: 'asc', after: 'task_none' })).toBeUndefined()
    const next = await get().reopen()
    const open: string[] = []
    for (let taken = await next.takeOver(); taken.length > 0; taken = next.isShared ? await next.takeOver() : [])
      open.push(...taken.map(({ task }) => task.id))
    const stages = new Map(await Promise.all(made.map(async ({ id }) => [id, await get().port.stageOf(id)] as const)))
    const unended = made.filter(({ id }) => !['completed', 'failed'].includes(stages.get(id) ?? ''))
    const order = (x: VideoTask, y: VideoTask): number => (x.requestId < y.requestId ? -1 : 1)
    expect(open).toEqual(unended.toSorted(order).map(({ id }) => id))
  })
}

function testEnds({ get }: SuiteContext): void {
  test('an ended task is deleted once, by its account, with all steps of the transaction', async () => {
    const { port } = get()
    const [ended, open, other] = [await taskAt(get(), 'completed'), await taskAt(get(), 'running'), makeTask()]
    expect(await port.delete(b, ended.id, [])).toBe(false)
    expect(await port.delete(a, open.id, port.insertSteps(other))).toBe(false)
    expect(await port.stageOf(other.id)).toBeUndefined()
    const deletions = [1, 2, 3].map((_, i) => port.delete(a, ended.id, i === 0 ? port.insertSteps(other) : []))
    expect((await Promise.all(deletions)).filter(Boolean)).toHaveLength(1)
    expect(await port.find(a, ended.id)).toBeUndefined()
    expect(await port.forConsole(a, ended.requestId)).toBeUndefined()
    expect(await port.stageOf(ended.id)).toBeUndefined()
    expect((await port.before(a, { limit: 10, before: undefined })).map(({ id }) => id)).not.toContain(ended.id)
  })

  test('an orphan is listed until it is settled, once, and is kept as long', async () => {
    const { port } = get()
    const tasks = [await taskAt(get(), 'running'), await taskAt(get(), 'queued', { accountId: 'b' })]
    for (const task of tasks) {
      await written(get(), port.failSteps({ ...task, reason: 'lost', endedAtMs: Date.now() }, `why ${task.requestId}`))
    }
    const wanted = tasks.map(({ requestId }) => ({ requestId, why: `why ${requestId}` }))
    expect(await port.orphans()).toMatchObject(wanted)
    const [first, second] = tasks as [VideoTask, VideoTask]
    const settled = await Promise.all([port.settleOrphan(first.requestId), port.settleOrphan(first.requestId)])
    expect(settled.filter(Boolean)).toHaveLength(1)
    expect(await port.settleOrphan('req_none')).toBe(false)
    await shifted(TASK_KEPT_MS + 60_000, () => port.sweep())
    expect(await port.stageOf(first.id)).toBeUndefined()
    expect(await port.orphans()).toMatchObject([{ requestId: second.requestId, accountId: 'b' }])
  })

  test('ended tasks are kept for their time, and open ones for ever', async () => {
    const { port } = get()
    const [ended, open] = [await taskAt(get(), 'completed'), await taskAt(get(), 'running')]
    await shifted(TASK_KEPT_MS - 60_000, () => port.sweep())
    expect(await port.stageOf(ended.id)).toBe('completed')
    await shifted(2 * TASK_KEPT_MS, () => port.sweep())
    expect([await port.stageOf(ended.id), await port.stageOf(open.id)]).toEqual([undefined, 'running'])
  })
}

export type TasksOfInstances = {
  /** Opens the port as an instance that lives, or that has ended. */
  readonly instance: (id: string) => Promise<PortUnderTest<Tasks>>
  /** Ends an instance, as its death does. */
  readonly end: (id: string) => Promise<void>
  close(): Promise<void>
}

/** Runs the part of the suite for instances on one store. */
export function describeTasksOfInstances(name: string, open: () => Promise<TasksOfInstances>): void {
  describe(`${name} keeps the contract of video tasks between instances`, () => {
    test('the tasks of an instance that died are each taken over once, oldest first, and those of a living one never', () =>
      withPort(open, async ({ instance, end }) => {
        const [dying, living, other] = [await instance('dying'), await instance('living'), await instance('other')]
        const tasks: VideoTask[] = []
        for (let i = 0; i < 50; i++) tasks.push(await taskAt(dying, 'queued'))
        const own = await taskAt(living, 'queued')
        for (const { port } of [living, other, dying]) expect(await port.takeOver()).toEqual([])
        await end('dying')
        const taken = new Map<string, string>()
        for (let round = 0; round < 3; round++) {
          await Promise.all(
            [living, other].map(async ({ port }, i) => {
              const found = await port.takeOver()
              const ids = found.map(({ task }) => task.requestId)
              expect(ids).toEqual(ids.toSorted())
              // Each gets a share, so that another one finds some.
              expect(ids.length).toBeLessThan(tasks.length / 2)
              for (const { task } of found) {
                expect(taken.has(task.id)).toBe(false)
                taken.set(task.id, ['living', 'other'][i] ?? '')
              }
            }),
          )
        }
        expect([...taken.keys()].toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
        expect(new Set(taken.values()).size).toBe(2)
        expect(await other.port.stageOf(own.id)).toBe('queued')
      }))

    test('only its owner moves a task', () =>
      withPort(open, async ({ instance, end }) => {
        const [dying, living] = [await instance('dying'), await instance('living')]
        const task = await taskAt(dying, 'queued')
        for (const [, { run }] of Object.entries(transitions)) expect(await run(living, task)).toBe(false)
        expect(await living.port.stageOf(task.id)).toBe('queued')
        await end('dying')
        expect((await living.port.takeOver()).map((taken) => taken.task.id)).toEqual([task.id])
        for (const [, { run }] of Object.entries(transitions)) expect(await run(dying, task)).toBe(false)
        expect(await transitions['storing']?.run(living, task)).toBe(true)
        expect(await transitions['complete']?.run(living, task)).toBe(true)
        // Its end is seen, and it is deleted, on any instance.
        expect(await dying.port.find(a, task.id)).toMatchObject({ stage: 'completed' })
        expect(await dying.port.delete(a, task.id, [])).toBe(true)
        expect(await living.port.find(a, task.id)).toBeUndefined()
      }))
  })
}
