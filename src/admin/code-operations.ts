/** Codes that add to a balance: made in batches, voided, redeemed once. */
import { z } from 'zod'
import { parseUsd } from '../domain/money.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'
import { conflict, done, notFound, operation, refused, type Operation, type Result } from './operation.ts'

const amount = z.string().transform((text, context) => {
  const nano = parseUsd(text)
  if (nano !== undefined && nano > 0n) return nano
  context.addIssue({ code: 'custom', message: operationRules.amount })
  return z.NEVER
})

export const codeOperations: Readonly<Record<string, Operation>> = {
  'code.create': operation(
    z.strictObject({
      count: z.int().min(1).max(1_000),
      amount,
      note: z.string().trim().max(200).default(''),
      expires_at: z.iso.datetime({ offset: true }).optional(),
    }),
    async (services, { count, amount: each, note, expires_at: expires }): Promise<Result> => {
      const expiresAtMs = expires === undefined ? undefined : Date.parse(expires)
      if (expiresAtMs !== undefined && expiresAtMs <= Date.now()) return conflict(sayRefusal('code_expiry_past'))
      const { batchId, codes } = await services.codes.create({ count, amount: each, note, expiresAtMs })
      return done({ id: batchId, codes: codes.map(({ id, secret }) => ({ id, code: secret })) })
    },
    { subject: ({ note }) => note },
  ),
  'code.void': operation(
    z.strictObject({ id: z.string() }),
    async (services, { id }): Promise<Result> => {
      if (!(await services.codes.find(id))) return notFound('code', id)
      return (await services.codes.void(id)) ? done({ id }) : conflict(sayRefusal('code_ended'))
    },
    { subject: ({ id }) => id },
  ),
  'code.redeem': operation(
    z.strictObject({ account: z.string(), code: z.string() }),
    async (services, { account: wanted, code }): Promise<Result> => {
      const account = services.accounts.find(wanted)
      if (!account) return notFound('account', wanted)
      const redeemed = await services.codes.redeem(code, { accountId: account.id })
      switch (redeemed.kind) {
        case 'redeemed':
          return done({ id: redeemed.id, amount_nano_usd: redeemed.amount.toString() })
        case 'void':
          return refused('not_found', sayRefusal('code_unknown'))
        case 'too_large':
          return conflict(sayRefusal('balance_full'))
      }
    },
    { subject: ({ account }) => account },
  ),
}
