/** The contract of `Turns` as tests for any store. The suite uses only the port. */
import { describe, expect, test } from 'bun:test'
import type { KeptTurn } from '../formats/core/contract.ts'
import { MIB, MINUTE_MS } from '../lib/primitives/units.ts'
import {
  Dice,
  shifted,
  withPort,
  written,
  type InstancesUnderTest,
  type PortUnderTest,
} from '../store/port-contract.ts'
import { RECALLS_MAX, TURN_KEPT_MS, type Turns, type TurnScope } from './turns.ts'

export type TurnsUnderTest = PortUnderTest<Turns> & {
  /** Does to the turn of a request what the expiry of its hold does. The turn ends with this standing. */
  expire(requestId: string, standing: string): Promise<void>
}

/** Opens an empty store. */
type Open = (bounds: { readonly bytesPerAccountMax: number; readonly isShort: boolean }) => Promise<TurnsUnderTest>

const a: TurnScope = { accountId: 'a' }
const b: TurnScope = { accountId: 'b' }
const ROOMY = { bytesPerAccountMax: Number.POSITIVE_INFINITY, isShort: false }

const turn = (id: string, parentId?: string, rest: Partial<KeptTurn> = {}): KeptTurn => ({
  id,
  parentId,
  state: 'ended',
  head: '{}',
  standing: '{"status":"completed"}',
  input: `[{"id":"in_${id}","text":"é\u{1f600}"}]`,
  output: `["out ${id}"]`,
  trace: undefined,
  ...rest,
})

const bytesOf = ({ head, standing, input, output, trace = '' }: KeptTurn): number =>
  [head, standing, input, output, trace].reduce((sum, part) => sum + Buffer.byteLength(part), 0)

const keep = (under: TurnsUnderTest, scope: TurnScope, ...turns: readonly KeptTurn[]): Promise<void[]> =>
  Promise.all(turns.map((one) => written(under, under.port.keep(scope, one))))

/** The ids of a chain, or the reason why there is none. */
async function chainOf(port: Turns, scope: TurnScope, id: string): Promise<string> {
  const chain = await port.chain(scope, id)
  return chain.kind === 'found' ? chain.turns.map((one) => one.id).join(' ') : chain.kind
}

/** Runs the suite. */
export function describeTurnsContract(name: string, open: Open): void {
  describe(`${name} keeps the contract of stored turns`, () => {
    const on = (use: (under: TurnsUnderTest) => Promise<void>) => () => withPort(() => open(ROOMY), use)
    testTurns(on)
    testChains(on)
    testPages(on)
    testRoom(open)
    testTime(on)
    testHistories(on)
  })
}

type On = (use: (under: TurnsUnderTest) => Promise<void>) => () => Promise<void>

function testTurns(on: On): void {
  test(
    'a running turn whose steps the store has refused is forgotten, and can begin once more',
    on(async (under) => {
      const begun = turn('resp_1', undefined, { state: 'running' })
      under.port.keep(a, begun)
      under.port.forget(a, 'req_1')
      under.port.forget(a, 'req_1')
      expect(under.port.bytesOf(a)).toBe(0)
      await keep(under, a, begun)
      await keep(under, a, turn('resp_1'))
      expect(await under.port.find(a, 'resp_1')).toMatchObject({ state: 'ended' })
      expect(under.port.bytesOf(a)).toBe(bytesOf(turn('resp_1')))
    }),
  )

  test(
    'a turn is read back as it was kept, by its account alone',
    on(async (under) => {
      const kept = turn('resp_1', undefined, { head: '{ "x" : 1.50 }', trace: '[]', output: '["\\u0000"]' })
      await keep(under, a, kept)
      const { input, ...shown } = kept
      for (const port of [under.port, await under.reopen()]) {
        expect(await port.find(a, 'resp_1')).toEqual(shown)
        expect(await port.sizeOf(a, 'resp_1')).toBe(bytesOf(kept))
        expect(await port.some(a, ['resp_1'])).toMatchObject({ turns: [{ input, output: kept.output }] })
        expect(await port.find(b, 'resp_1')).toBeUndefined()
        expect(await port.sizeOf(b, 'resp_1')).toBe(0)
        expect(await port.some(b, ['resp_1'])).toEqual({ kind: 'found', turns: [] })
        expect(await chainOf(port, b, 'resp_1')).toBe('not_found')
        expect(await port.delete(b, 'resp_1')).toBe(false)
      }
    }),
  )

  test(
    'the same id in two accounts is two turns',
    on(async (under) => {
      await keep(under, a, turn('resp_1', undefined, { input: '["a"]' }))
      await keep(under, b, turn('resp_1', undefined, { input: '["b"]' }))
      expect(await under.port.delete(a, 'resp_1')).toBe(true)
      expect(await under.port.chain(b, 'resp_1')).toMatchObject({ turns: [{ input: '["b"]' }] })
      expect(await under.port.find(a, 'resp_1')).toBeUndefined()
    }),
  )

  test(
    'a turn that was deleted is gone, and is deleted once',
    on(async (under) => {
      await keep(under, a, turn('resp_1'))
      const deleted = await Promise.all([1, 2, 3].map(() => under.port.delete(a, 'resp_1')))
      expect(deleted.filter(Boolean)).toHaveLength(1)
      expect(await under.port.find(a, 'resp_1')).toBeUndefined()
      expect(under.port.bytesOf(a)).toBe(0)
    }),
  )

  test(
    'a running turn is replaced by its end, and fails with its hold',
    on(async (under) => {
      const begun = turn('resp_1', undefined, { state: 'running', output: '[]' })
      await keep(under, a, begun)
      expect(await under.port.find(a, 'resp_1')).toMatchObject({ state: 'running' })
      await keep(under, a, turn('resp_1'))
      expect(await under.port.find(a, 'resp_1')).toMatchObject({ state: 'ended', output: '["out resp_1"]' })
      await keep(under, a, turn('resp_2', 'resp_1', { state: 'running' }))
      for (const requestId of ['req_1', 'req_2', 'req_none']) await under.expire(requestId, '{"status":"failed"}')
      expect(await under.port.find(a, 'resp_1')).toMatchObject({ standing: '{"status":"completed"}' })
      expect(await under.port.find(a, 'resp_2')).toMatchObject({ state: 'ended', standing: '{"status":"failed"}' })
      expect(await chainOf(under.port, a, 'resp_2')).toBe('failed')
    }),
  )

  test(
    'the input of a turn that cost nothing is not kept, and nobody can continue it',
    on(async (under) => {
      await written(under, under.port.keepUnserved(a, turn('resp_1', undefined, { input: 'x'.repeat(10_000) })))
      await keep(under, a, turn('resp_2', 'resp_1'))
      expect(await under.port.sizeOf(a, 'resp_1')).toBeLessThan(1_000)
      expect([await chainOf(under.port, a, 'resp_1'), await chainOf(under.port, a, 'resp_2')]).toEqual([
        'failed',
        'failed',
      ])
    }),
  )
}

function testChains(on: On): void {
  test(
    'a chain is read oldest first, branches apart, and never through another account or a gap',
    on(async (under) => {
      await keep(under, a, turn('r1'), turn('r2', 'r1'), turn('r3', 'r2'), turn('r2b', 'r1'), turn('lost', 'none'))
      await keep(under, b, turn('thief', 'r3'))
      expect(await chainOf(under.port, a, 'r3')).toBe('r1 r2 r3')
      expect(await chainOf(under.port, a, 'r2b')).toBe('r1 r2b')
      for (const [scope, id] of [
        [a, 'lost'],
        [a, 'none'],
        [b, 'thief'],
        [b, 'r3'],
      ] as const) {
        expect([id, await chainOf(under.port, scope, id)]).toEqual([id, 'not_found'])
      }
      await under.port.delete(a, 'r2')
      expect(await chainOf(under.port, a, 'r3')).toBe('not_found')
    }),
  )

  test(
    'a conversation beyond what is read back is refused, not cut',
    on(async (under) => {
      const input = JSON.stringify(['x'.repeat(12 * MIB)])
      await keep(under, a, turn('r1', undefined, { input }), turn('r2', 'r1', { input }), turn('r3', 'r2', { input }))
      expect(await chainOf(under.port, a, 'r2')).toBe('r1 r2')
      expect(await chainOf(under.port, a, 'r3')).toBe('too_long')
      expect((await under.port.some(a, ['r1', 'r2', 'r3'])).kind).toBe('too_long')
    }),
  )

  test(
    'an account that reads too much at once is refused, and another one is not',
    on(async (under) => {
      await keep(under, a, turn('r1'))
      await keep(under, b, turn('r1'))
      const many = Array.from({ length: RECALLS_MAX + 20 }, () => under.port.chain(a, 'r1'))
      const other = under.port.chain(b, 'r1')
      const kinds = (await Promise.all(many)).map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'busy').length).toBeGreaterThan(0)
      expect((await other).kind).toBe('found')
      expect((await under.port.chain(a, 'r1')).kind).toBe('found')
    }),
  )
}

function testPages(on: On): void {
  test(
    'pages have each item once, in either order, as the text that was received',
    on(async (under) => {
      const dice = new Dice(12)
      const items = Array.from(
        { length: 40 },
        (_, i) => `{"id":"i${i}","n":1.50,"odd":"\\ud800é \\u0000","x":"${'x'.repeat(dice.below(90_000))}"}`,
      )
      await keep(under, a, turn('r1', undefined, { input: `[${items.join(',')}]` }))
      for (const order of ['asc', 'desc'] as const) {
        const found: string[] = []
        for (let after: string | undefined; ;) {
          const page = await under.port.inputPage(a, 'r1', { order, limit: 1 + dice.below(20), after })
          if (page.kind !== 'page') throw new Error(page.kind)
          found.push(...page.items.map(({ json }) => json))
          after = page.items.at(-1)?.id
          if (!page.hasMore) break
          expect(page.items.length).toBeGreaterThan(0)
        }
        expect(found).toEqual(order === 'asc' ? items : items.toReversed())
      }
    }),
  )

  test(
    'an item is named by its id, however the id is written',
    on(async (under) => {
      const ids = ['plain', 'q"\\', 'é', '\u{1f600}', 'tab\t']
      const written = ['"plain"', '"q\\"\\\\"', '"\\u00e9"', '"\\ud83d\\ude00"', '"tab\\u0009"']
      const input = `[${written.map((id) => `{"id":${id},"x":"\\u0000"}`).join(',')}]`
      await keep(under, a, turn('r1', undefined, { input }))
      for (const [i, after] of ids.entries()) {
        const page = await under.port.inputPage(a, 'r1', { order: 'asc', limit: 5, after })
        expect([after, page.kind === 'page' && page.items.length]).toEqual([after, ids.length - 1 - i])
      }
    }),
  )

  test(
    'a page says whether its turn or its item is unknown',
    on(async (under) => {
      await keep(under, a, turn('r1'), turn('empty', undefined, { input: '[]' }))
      const kindOf = async (scope: TurnScope, id: string, after?: string): Promise<string> =>
        (await under.port.inputPage(scope, id, { order: 'asc', limit: 5, after })).kind
      expect(await kindOf(a, 'r1')).toBe('page')
      expect(await kindOf(a, 'r1', 'in_r1')).toBe('page')
      expect(await kindOf(a, 'empty')).toBe('page')
      expect(await kindOf(a, 'r1', 'none')).toBe('no_such_item')
      expect(await kindOf(a, 'none')).toBe('not_found')
      expect(await kindOf(b, 'r1', 'in_r1')).toBe('not_found')
    }),
  )
}

function testRoom(open: Open): void {
  test('the turns of an account and its promises have a bound together', () =>
    withPort(
      () => open({ bytesPerAccountMax: 1_000, isShort: false }),
      async ({ port }) => {
        expect(port.bytesMax).toBe(1_000)
        expect(port.promise(a, 'req_1', 600)).toBe('promised')
        expect(port.promise(a, 'req_2', 401)).toBe('full')
        expect(port.promise(b, 'req_3', 600)).toBe('promised')
        expect([port.bytesOf(a), port.bytesOf(b)]).toEqual([600, 600])
        port.release(a, 'req_1')
        port.release(a, 'req_1')
        port.release(a, 'req_none')
        expect(port.bytesOf(a)).toBe(0)
        expect(port.promise(a, 'req_2', 1_000)).toBe('promised')
      },
    ))

  test('nothing is promised while the disk is short', () =>
    withPort(
      () => open({ bytesPerAccountMax: 1_000, isShort: true }),
      async ({ port }) => expect(port.promise(a, 'req_1', 1)).toBe('no_room'),
    ))
}

function testTime(on: On): void {
  test(
    'an expired turn is gone for every reader at once, and frees its room when it is swept',
    on(async (under) => {
      await keep(under, a, ...Array.from({ length: 120 }, (_, i) => turn(`old${i}`)))
      await shifted(TURN_KEPT_MS - 60_000, async () => {
        await keep(under, a, turn('young', 'old0'))
        await under.port.sweep()
        expect(await chainOf(under.port, a, 'young')).toBe('old0 young')
      })
      await shifted(TURN_KEPT_MS + 60_000, async () => {
        const { port } = under
        expect(await port.find(a, 'old1')).toBeUndefined()
        expect(await port.sizeOf(a, 'old1')).toBe(0)
        expect(await port.delete(a, 'old1')).toBe(false)
        expect(await port.some(a, ['old1'])).toEqual({ kind: 'found', turns: [] })
        expect(await port.inputPage(a, 'old1', { order: 'asc', limit: 1, after: undefined })).toEqual({
          kind: 'not_found',
        })
        for (const id of ['old0', 'young']) expect(await chainOf(port, a, id)).toBe('not_found')
        await port.sweep()
        expect(port.bytesOf(a)).toBe(bytesOf(turn('young', 'old0')))
        expect(await port.find(a, 'young')).toBeDefined()
      })
    }),
  )
}

function testHistories(on: On): void {
  test(
    'any history of turns and deletions agrees with a model, to the byte',
    on(async (under) => {
      const dice = new Dice(2_024)
      const model = new Map<string, KeptTurn>()
      const nameOf = ({ accountId }: TurnScope, id: string): string => `${accountId} ${id}`
      const chainIn = (scope: TurnScope, id: string): string => {
        const one = model.get(nameOf(scope, id))
        if (!one) return 'not_found'
        if (one.parentId === undefined) return id
        const before = chainIn(scope, one.parentId)
        return before === 'not_found' ? before : `${before} ${id}`
      }
      for (let step = 0; step < 400; step++) {
        const [scope, id] = [dice.pick(a, b), `r${dice.below(12)}`]
        const name = nameOf(scope, id)
        const known = model.get(name)
        if (dice.once(3)) {
          expect(await under.port.delete(scope, id)).toBe(known !== undefined)
          model.delete(name)
        } else if (!known || known.state === 'running') {
          const state = known ? 'ended' : dice.pick('running', 'ended')
          // Parents are older than their children, so no chain is a ring.
          const parentId = known ? known.parentId : dice.pick(undefined, `r${dice.below(12)}`)
          const next = turn(id, parentId === undefined || parentId >= id ? undefined : parentId, {
            state,
            output: `["${'é'.repeat(dice.below(50))}"]`,
          })
          await keep(under, scope, next)
          model.set(name, next)
        }
        const probe = `r${dice.below(12)}`
        expect(await chainOf(under.port, scope, probe)).toBe(chainIn(scope, probe))
        const all = [...model].filter(([one]) => one.startsWith(`${scope.accountId} `))
        expect(under.port.bytesOf(scope)).toBe(all.reduce((sum, [, one]) => sum + bytesOf(one), 0))
      }
      const next = await under.reopen()
      for (const scope of [a, b]) expect(next.bytesOf(scope)).toBe(under.port.bytesOf(scope))
    }),
  )
}

/** Runs the part of the suite for two instances on one store. */
export function describeTurnsOfInstances(
  name: string,
  open: (bounds: { readonly bytesPerAccountMax: number }) => Promise<InstancesUnderTest<TurnsUnderTest>>,
): void {
  describe(`${name} keeps the contract of stored turns between instances`, () => {
    const on = (use: (under: InstancesUnderTest<TurnsUnderTest>) => Promise<void>) => () =>
      withPort(() => open(ROOMY), use)

    test(
      'a conversation continues on any instance, and is deleted by any',
      on(async ({ first, second }) => {
        await keep(first, a, turn('r1'))
        await keep(second, a, turn('r2', 'r1'))
        await keep(first, a, turn('r3', 'r2'))
        for (const { port } of [first, second]) {
          expect(await chainOf(port, a, 'r3')).toBe('r1 r2 r3')
          expect((await port.inputPage(a, 'r2', { order: 'asc', limit: 5, after: undefined })).kind).toBe('page')
        }
        const deleted = await Promise.all([first.port.delete(a, 'r2'), second.port.delete(a, 'r2')])
        expect(deleted.filter(Boolean)).toHaveLength(1)
        for (const { port } of [first, second]) expect(await chainOf(port, a, 'r3')).toBe('not_found')
      }),
    )

    test(
      'a running turn is seen by all, and one that is deleted meanwhile does not come back',
      on(async ({ first, second }) => {
        const running = { state: 'running', output: '[]' } as const
        await keep(first, a, turn('r1', undefined, running), turn('r2', undefined, running))
        expect(await second.port.find(a, 'r1')).toMatchObject({ state: 'running' })
        expect(await second.port.delete(a, 'r2')).toBe(true)
        await keep(first, a, turn('r1'), turn('r2'))
        for (const { port } of [first, second]) {
          expect(await port.find(a, 'r1')).toMatchObject({ state: 'ended', output: '["out r1"]' })
          expect(await port.find(a, 'r2')).toBeUndefined()
        }
      }),
    )

    test('an instance learns within minutes what the others keep and delete', () =>
      withPort(
        () => open({ bytesPerAccountMax: 1_000 }),
        async ({ first, second }) => {
          const large = turn('r1', undefined, { output: 'x'.repeat(800) })
          await keep(first, a, large)
          const room = (): string => {
            const found = second.port.promise(a, 'req_1', 300)
            second.port.release(a, 'req_1')
            return found
          }
          const now = performance.now.bind(performance)
          const after = async (ms: number, found: string): Promise<void> => {
            performance.now = () => now() + ms
            room()
            for (let i = 0; i < 200 && room() !== found; i++) await Bun.sleep(10)
            expect([ms, room()]).toEqual([ms, found])
          }
          try {
            await after(0, 'full')
            expect(second.port.bytesOf(a)).toBe(bytesOf(large))
            await first.port.delete(a, 'r1')
            await after(7 * MINUTE_MS, 'promised')
            expect(second.port.bytesOf(a)).toBe(0)
          } finally {
            performance.now = now
          }
        },
      ))

    test(
      'a turn whose instance died is failed by another',
      on(async ({ first, second }) => {
        await keep(first, a, turn('resp_1', undefined, { state: 'running' }))
        await second.expire('req_1', '{"status":"failed"}')
        for (const { port } of [first, second]) {
          expect(await port.find(a, 'resp_1')).toMatchObject({ state: 'ended', standing: '{"status":"failed"}' })
          expect(await chainOf(port, a, 'resp_1')).toBe('failed')
        }
      }),
    )
  })
}
