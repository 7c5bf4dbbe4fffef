/** Routes for operators: codes, the health of the books, the audit log, the settings. */
import { z } from 'zod'
import { formatUsd } from '../domain/money.ts'
import type { Code } from '../ledger/codes.ts'
import type { AuditEntry } from '../records/audit.ts'
import type { ConsoleContext } from './context.ts'
import { answer, json, missing, route, type ConsoleRoute } from './route.ts'
import {
  isoTime,
  isoTimeOrNull,
  listShapeOf,
  nano,
  nanoInput,
  pageOf,
  pageQuery,
  searchText,
  time,
  timeInput,
} from './shapes.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/** The log only grows, so counting stops here. A page must not get slower every year. */
const AUDIT_COUNTED_MAX = limit('auditCountedMax', 10_000, 'If more audit entries match, no total is given.')

const codeStates = ['open', 'redeemed', 'voided', 'expired'] as const

const codeShape = z
  .strictObject({
    id: z.string(),
    batch: z.string(),
    code: z.string().meta({ description: 'the end of the code; the rest is masked' }),
    amount_nano_usd: nano,
    note: z.string(),
    state: z.enum(codeStates),
    created_at: time,
    expires_at: time.nullable(),
    redeemed_at: time.nullable(),
    redeemed_by: z.string().nullable().meta({ description: 'id of the account' }),
  })
  .meta({ id: 'Code' })

const codeView = (code: Code): z.infer<typeof codeShape> => ({
  id: code.id,
  batch: code.batchId,
  code: `TG-…${code.last4}`,
  amount_nano_usd: code.amount.toString(),
  note: code.note,
  state: code.state,
  created_at: isoTime(code.createdAtMs),
  expires_at: isoTimeOrNull(code.expiresAtMs),
  redeemed_at: isoTimeOrNull(code.redeemedAtMs),
  redeemed_by: code.redeemedBy ?? null,
})

/** A page of a list in the store. The store returns one item more than the limit if there are more. */
function pageOfStored<T, V>(items: readonly T[], limit: number, view: (item: T) => V & { id: string }) {
  const data = items.slice(0, limit).map(view)
  return { data, next_cursor: items.length > limit ? (data.at(-1)?.id ?? null) : null }
}

const codes: readonly ConsoleRoute[] = [
  route('GET', '/codes', {
    access: 'operator',
    summary: 'List redemption codes, newest first.',
    query: z.strictObject({
      ...pageQuery,
      q: searchText.meta({ description: 'part of the note, or the end of the code' }),
      state: z.enum(codeStates).optional(),
      batch: z.string().optional(),
    }),
    answer: listShapeOf(codeShape),
    run: async ({ context: { services }, query: { q: text, state, batch: batchId, cursor, limit } }) => {
      const filter = { text, state, batchId }
      const [codes, total] = await Promise.all([
        services.codes.list({ ...filter, before: cursor, limit: limit + 1 }),
        services.codes.count(filter),
      ])
      return json({ ...pageOfStored(codes, limit, codeView), total })
    },
  }),
  route('POST', '/codes', {
    access: 'operator',
    summary: 'Create a batch of codes. Only this answer contains the full codes.',
    body: z.strictObject({
      count: z.int().min(1).max(1_000),
      amount_nano_usd: nanoInput,
      note: z.string().trim().max(200).optional(),
      expires_at: timeInput.optional(),
    }),
    answer: z.strictObject({ id: z.string(), codes: z.array(z.strictObject({ id: z.string(), code: z.string() })) }),
    run: async ({ operate, body: { amount_nano_usd: amount, ...rest } }) =>
      answer(await operate('code.create', { ...rest, amount: formatUsd(amount) }), (value) => value),
  }),
  route('DELETE', '/codes/{code}', {
    access: 'operator',
    summary: 'Void a code that has not been redeemed.',
    answer: codeShape,
    run: async ({ context, operate, params }) => {
      const find = (): Promise<Code | undefined> => context.services.codes.find(params.code)
      if (!(await find())) return missing('code')
      const result = await operate('code.void', { id: params.code })
      const code = await find()
      return result.ok && code ? json(codeView(code)) : answer(result, () => undefined)
    },
  }),
]

const verificationShape = z
  .strictObject({
    at: time,
    took_ms: z.int(),
    clean: z.boolean(),
    findings: z.array(
      z.strictObject({
        invariant: z.string(),
        subject: z.string(),
        detail: z.string(),
        code: z.string().meta({ description: 'identifies the invariant and the detail' }),
        facts: z
          .record(z.string(), z.union([z.string(), z.number()]))
          .meta({ description: 'the values in the detail' }),
      }),
    ),
  })
  .meta({ id: 'Verification' })

function verificationView({ services }: ConsoleContext): z.infer<typeof verificationShape> | null {
  const last = services.lastVerification()
  return last
    ? {
        at: isoTime(last.atMs),
        took_ms: last.tookMs,
        clean: last.findings.length === 0,
        findings: [...last.findings],
      }
    : null
}

const healthShape = z
  .strictObject({
    ledger: verificationShape
      .nullable()
      .meta({ description: 'from the last verification since the start; null: none yet' }),
    open_holds: z.int(),
    oldest_hold_at: time.nullable(),
    last_day: z.strictObject({
      requests: z.int(),
      failed: z.int(),
      cut: z.int(),
      estimated: z.int(),
      charged_nano_usd: nano,
      written_off_nano_usd: nano,
      upstream_cost_nano_usd: nano,
    }),
    process: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Health' })

const health: readonly ConsoleRoute[] = [
  route('GET', '/health', {
    access: 'operator',
    summary: 'Get the findings of the last verification, the open holds, and the totals of the last day.',
    answer: healthShape,
    run: async ({ context }) => {
      const fromHour = Math.floor(Date.now() / HOUR_MS) - 23
      const [sums, oldest] = await Promise.all([
        context.services.rollups.totalsSince(fromHour),
        context.services.books.oldestHold(),
      ])
      return json({
        ledger: verificationView(context),
        open_holds: context.services.ledger.openHolds(),
        oldest_hold_at: isoTimeOrNull(oldest),
        last_day: {
          requests: Number(sums.requests),
          failed: Number(sums.failed),
          cut: Number(sums.cut),
          estimated: Number(sums.estimated),
          charged_nano_usd: sums.charged.toString(),
          written_off_nano_usd: sums.written_off.toString(),
          upstream_cost_nano_usd: sums.upstream_cost.toString(),
        },
        process: context.services.status(),
      })
    },
  }),
  route('POST', '/health/verification', {
    access: 'operator',
    summary: 'Verify the books now, while requests go on.',
    answer: verificationShape,
    run: async ({ context }) => {
      await context.services.verify()
      return json(verificationView(context))
    },
  }),
]

const entryShape = z
  .strictObject({
    id: z.string(),
    at: time,
    actor: z.strictObject({
      kind: z.enum(['command', 'user', 'management_key', 'nobody']),
      id: z.string().nullable(),
      name: z.string().nullable(),
      address: z.string().nullable(),
    }),
    request: z.string().nullable(),
    action: z.string(),
    subject: z.string().nullable(),
    input: z.unknown().meta({ description: 'without secrets' }),
    before: z.unknown(),
    after: z.unknown(),
    outcome: z
      .string()
      .nullable()
      .meta({ description: 'done, or the code of the refusal; null: running or interrupted' }),
  })
  .meta({ id: 'AuditEntry' })

const entryView = ({ id, actor, createdAtMs, ...entry }: AuditEntry): z.infer<typeof entryShape> => ({
  id,
  at: isoTime(createdAtMs),
  actor: { kind: actor.kind, id: actor.id ?? null, name: actor.name ?? null, address: actor.address ?? null },
  request: actor.requestId ?? null,
  action: entry.action,
  subject: entry.subject,
  input: entry.input,
  before: entry.before,
  after: entry.after,
  outcome: entry.outcome,
})

export const operatorRoutes: readonly ConsoleRoute[] = [
  ...codes,
  ...health,
  route('GET', '/audit', {
    access: 'operator',
    summary: 'List changes and who made them, newest first.',
    query: z.strictObject({
      ...pageQuery,
      subject: searchText.meta({ description: 'id of the changed thing' }),
      actor: z.string().optional().meta({ description: 'id of a user or a management key' }),
      action: z.string().optional(),
    }),
    answer: pageOf(entryShape).extend({
      total: z
        .int()
        .nullable()
        .meta({ description: `the number of matches on all pages; null: more than ${AUDIT_COUNTED_MAX}` }),
    }),
    run: async ({ context: { services }, query: { subject, actor: actorId, action, cursor: before, limit } }) => {
      const filter = { subject, actorId, action }
      const [entries, total = null] = await Promise.all([
        services.audit.list({ ...filter, before, limit: limit + 1 }),
        services.audit.count(filter, AUDIT_COUNTED_MAX),
      ])
      return json({ ...pageOfStored(entries, limit, entryView), total })
    },
  }),
  route('GET', '/audit/{entry}', {
    access: 'operator',
    summary: 'Get one change, by the id of its entry.',
    answer: entryShape,
    run: async ({ context: { services }, params }) => {
      const entry = await services.audit.find(params.entry)
      return entry ? json(entryView(entry)) : missing('entry')
    },
  }),
  route('GET', '/settings', {
    access: 'operator',
    summary: 'Get the settings of this server. They come from the environment or tollgate.yaml and are read-only here.',
    answer: z.strictObject({ origin: z.literal('declared'), settings: z.record(z.string(), z.unknown()) }),
    run: async ({ context }) => json({ origin: 'declared', settings: await context.facts.settings() }),
  }),
]
