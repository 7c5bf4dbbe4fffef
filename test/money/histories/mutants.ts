/**
 * Possible bugs of a ledger, each as an edit of the sources: bugs that others had, and bugs that this structure
 * invites. The histories must find every one, or they prove nothing about the code without them.
 */
import type { Edit } from '../../support/sources.ts'

export type Mutant = { readonly name: string; readonly edits: readonly Edit[] }

const RULES = 'src/ledger/ledger.ts'
const LEDGER = 'src/ledger/sqlite-ledger.ts'
const WRITER = 'src/store/writer.ts'
const QUEUE = 'src/store/write-queue.ts'
const WRITER_THREAD = 'src/store/writer-worker.ts'
const SCHEMA = 'src/store/migrations/0016_charges.sql'

const inLedger = (from: string, to: string): Edit => ({ file: LEDGER, from, to })
const inRules = (from: string, to: string): Edit => ({ file: RULES, from, to })

const STEPS = 'src/ledger/steps.ts'
const chargeRow = 'hold.createdAtMs, nowMs, cost, charged, writtenOff, priceCardId]'

const writtenSettlement = `    return this.commit([
      settleStep(hold, charge, nowMs),`

export const mutants: readonly Mutant[] = [
  {
    name: 'a settlement is answered and never written',
    edits: [inLedger(writtenSettlement, `    if (charge.cost >= 0n) return Promise.resolve()\n${writtenSettlement}`)],
  },
  {
    name: 'a hold grows in memory and not on the disk',
    edits: [inLedger('      { run: extendHold, bind: [hold.id, amount], changes: 1 },\n', '')],
  },
  {
    name: 'a hold grows by what others hold',
    edits: [
      inLedger(
        '!this.open.has(hold.id) || funds.posted - funds.held < amount',
        '!this.open.has(hold.id) || funds.posted < amount',
      ),
    ],
  },
  {
    name: 'a full batch loses its tail',
    edits: [
      {
        file: WRITER,
        from: 'txs: batch.map(',
        to: 'txs: batch.slice(0, 20).map(',
      },
    ],
  },
  {
    name: 'a hold can be released twice',
    edits: [
      inLedger('if (!this.open.delete(hold.id)) return undefined', 'this.open.delete(hold.id)'),
      inLedger("bind: [hold.id, 'released', Date.now()], changes: 1 }", "bind: [hold.id, 'released', Date.now()] }"),
    ],
  },
  {
    name: 'a balance is read, and written back after the commit',
    edits: [
      inLedger('if (change < 0n) funds.posted += change\n', 'const before = funds.posted\n'),
      inLedger('if (change > 0n) funds.posted += change\n', 'funds.posted = before + change\n'),
      inLedger('if (change < 0n) funds.posted -= change\n', ''),
    ],
  },
  {
    name: 'a settlement takes what other requests hold',
    edits: [inRules('const free = funds.posted - funds.held\n', 'const free = funds.posted\n')],
  },
  {
    name: 'a settlement forgets that its hold is free by now',
    edits: [
      inRules(
        'const free = funds.posted - funds.held\n',
        'const all = funds.posted - funds.held\nconst free = all - (all > 0n && cost > all ? 1n : 0n)\n',
      ),
    ],
  },
  {
    name: 'a charge lowers the balance and its hold does not say so',
    edits: [{ file: STEPS, from: chargeRow, to: chargeRow.replace(' cost, charged,', ' writtenOff, 0n,') }],
  },
  {
    name: 'a release marks the hold and keeps the money',
    edits: [
      inLedger(
        `'released', Date.now()], changes: 1 },
      { run: moveFunds, bind: [0n, hold.amount, hold.accountId], changes: 1 },`,
        `'released', Date.now()], changes: 1 },`,
      ),
    ],
  },
  {
    name: 'a hold that expires is charged',
    edits: [
      {
        file: 'src/ledger/sqlite-expiry.ts',
        from: 'bind: [0n, amount as bigint, accountId as string], changes: 1 },\n      ...(also',
        to: 'bind: [-(amount as bigint), amount as bigint, accountId as string], changes: 1 },\n      ...(also',
      },
    ],
  },
  {
    name: 'a reference is booked twice',
    edits: [{ file: SCHEMA, from: 'CREATE UNIQUE INDEX journal_by_ref', to: 'CREATE INDEX journal_by_ref' }],
  },
  {
    name: 'a hold that waited is written as well as its end',
    edits: [
      { file: QUEUE, from: 'if (!this.deferred.delete(pending)) return false', to: 'this.deferred.delete(pending)' },
      {
        file: QUEUE,
        from: 'pending.steps = steps\n    this.urgent.push(pending)',
        to: 'this.urgent.push({ ...pending }, { ...pending, steps })',
      },
    ],
  },
  {
    name: 'a hold that waited is forgotten with its end',
    edits: [
      {
        file: QUEUE,
        from: 'pending.steps = steps\n    this.urgent.push(pending)',
        to: 'pending.resolve(WRITTEN)',
      },
    ],
  },
  {
    name: 'what a charge lacked is not written off',
    edits: [
      { file: STEPS, from: chargeRow, to: chargeRow.replace(' cost, charged, writtenOff,', ' charged, charged, 0n,') },
    ],
  },
  {
    name: 'what a charge lacked is nobody’s loss',
    edits: [inRules('writtenOff: cost - charged }', 'writtenOff: 0n }')],
  },
  {
    name: 'a charge forgets its prices',
    edits: [{ file: STEPS, from: chargeRow, to: chargeRow.replace('priceCardId', 'null') }],
  },
  {
    name: 'a refund takes the money once more',
    edits: [
      inLedger(
        "const change = kind === 'debit' ? -amount : amount",
        "const change = kind === 'credit' ? amount : -amount",
      ),
    ],
  },
  {
    name: 'a debit changes memory and not the disk',
    edits: [
      inLedger(
        'const journalId = ++this.lastJournalId\n    const outcome',
        "if (change < 0n) return { kind: 'booked' }\n    const journalId = ++this.lastJournalId\n    const outcome",
      ),
    ],
  },
  {
    name: 'a refused debit is not given back',
    edits: [inLedger('if (change < 0n) funds.posted -= change\n', '')],
  },
  {
    name: 'a bad transaction takes its batch along',
    edits: [{ file: WRITER_THREAD, from: "db.exec('ROLLBACK TO tx')", to: "db.exec('ROLLBACK; BEGIN; SAVEPOINT tx')" }],
  },
  {
    name: 'money beyond 2^53 loses its last digits',
    edits: [{ file: 'src/store/wire.ts', from: '? number : { int: value.toString() }', to: '? number : number' }],
  },
  {
    name: 'an account that is registered again starts at zero',
    edits: [inLedger('if (!this.funds.has(accountId)) this.funds.set', 'this.funds.set')],
  },
]
