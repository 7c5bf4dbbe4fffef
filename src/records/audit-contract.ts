/** The contract of `Audit` as tests for any store. The suite uses only the port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Dice, type PortUnderTest } from '../store/port-contract.ts'
import type { Actor, Audit, AuditFilter } from './audit.ts'

const actor: Actor = { kind: 'user', id: 'user_1', name: 'Ada', address: '192.0.2.0', requestId: 'req_1' }

type Note = { readonly id: string; readonly subject: string; readonly actorId: string; readonly action: string }

/** Runs the suite. `open` gives an empty store. */
export function describeAuditContract(name: string, open: () => Promise<PortUnderTest<Audit>>): void {
  describe(`${name} keeps the contract of the audit log`, () => {
    let under: PortUnderTest<Audit>
    beforeEach(async () => {
      under = await open()
    })
    afterEach(() => under.close())

    test('an entry is there before its change, and has its outcome afterwards', async () => {
      const input = {
        amount: 12n,
        key: 'secret',
        note: 'say "no" \u{1f600}',
        nested: { password: 'secret' },
        proxy: 'me:pw@proxy',
        others: [{ proxy: 'http://me:80/pw@proxy' }, { proxy: 'socks5h://me:p@w@proxy:1' }, { proxy: 'proxy:80' }],
        headers: { a: 'secret' },
      }
      const note = { actor, action: 'account.credit', subject: 'acct_1', input, before: { posted: 1n } }
      const beforeMs = Date.now()
      const id = await under.port.begin(note)
      const begun = await under.port.find(id)
      expect(begun).toMatchObject({
        id,
        actor,
        action: 'account.credit',
        subject: 'acct_1',
        outcome: null,
        after: null,
      })
      expect(begun?.input).toEqual({
        amount: '12',
        key: '[secret]',
        note: input.note,
        nested: { password: '[secret]' },
        proxy: 'http://[secret]@proxy/',
        others: [{ proxy: 'http://[secret]@proxy/' }, { proxy: 'socks5h://[secret]@proxy:1' }, { proxy: 'proxy:80' }],
        headers: { a: '[secret]' },
      })
      expect(begun?.before).toEqual({ posted: '1' })
      expect(begun?.createdAtMs).toBeGreaterThanOrEqual(beforeMs)
      await under.port.end(id, { action: 'account.credit', outcome: 'done', after: { posted: 13n } })
      const ended = await under.port.find(id)
      expect(ended).toEqual({ ...begun, outcome: 'done', after: { posted: '13' } } as typeof ended)
    })

    test('an outcome may name the subject that its change made', async () => {
      const id = await under.port.begin({
        actor: { kind: 'nobody' },
        action: 'account.create',
        subject: 'name',
        input: {},
      })
      await under.port.end(id, { action: 'account.create', outcome: 'done', subject: 'acct_2' })
      expect(await under.port.find(id)).toMatchObject({ subject: 'acct_2', actor: { kind: 'nobody' } })
    })

    test('an entry that is not there has no outcome', async () => {
      const end = under.port.end('aud_none', { action: 'account.create', outcome: 'done' })
      expect(await end.catch((error: unknown) => error)).toBeInstanceOf(Error)
      expect(await under.port.find('aud_none')).toBeUndefined()
      expect(await under.port.count({}, 10)).toBe(0)
    })

    test('pages hold each entry that fits once, newest first, and the count agrees', async () => {
      const dice = new Dice(31)
      const made: Note[] = []
      for (let i = 0; i < 80; i++) {
        const [subject, actorId] = [dice.pick('acct_1', 'acct_2'), dice.pick('user_1', 'user_2')]
        const action = dice.pick('account.credit', 'key.create')
        const id = await under.port.begin({ actor: { ...actor, id: actorId }, action, subject, input: { i } })
        made.push({ id, subject, actorId, action })
      }
      for (let round = 0; round < 30; round++) {
        const filter: AuditFilter = {
          subject: dice.pick(undefined, 'acct_1', 'none'),
          actorId: dice.pick(undefined, 'user_2'),
          action: dice.pick(undefined, 'key.create'),
        }
        const wanted = made
          .filter(
            (one) =>
              (filter.subject ?? one.subject) === one.subject &&
              (filter.actorId ?? one.actorId) === one.actorId &&
              (filter.action ?? one.action) === one.action,
          )
          .map(({ id }) => id)
          .toSorted()
          .toReversed()
        const found: string[] = []
        for (let before: string | undefined; ;) {
          const page = await under.port.list({ ...filter, before, limit: 1 + dice.below(20) })
          if (page.length === 0) break
          found.push(...page.map(({ id }) => id))
          before = found.at(-1)
        }
        expect({ filter, found }).toEqual({ filter, found: wanted })
        expect(await under.port.count(filter, wanted.length)).toBe(wanted.length)
        if (wanted.length > 0) expect(await under.port.count(filter, wanted.length - 1)).toBeUndefined()
      }
      const next = await under.reopen()
      expect(await next.count({}, 1_000)).toBe(80)
    })
  })
}
