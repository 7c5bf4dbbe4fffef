/** What an operator asks about requests. */
import { z } from 'zod'
import type { Account } from '../domain/account.ts'
import { formatUsd } from '../domain/money.ts'
import type { StoredHold } from '../ledger/ledger-queries.ts'
import type { KeptRefusal } from '../records/refused.ts'
import type { RecentPage, StoredRecord } from '../records/records.ts'
import { sayRefusal } from './refusals.ts'
import { done, notFound, operation, refused, type AdminServices, type Operation } from './operation.ts'
import { reference, chosenAccounts } from './account-operations.ts'

/** A request that held money has a record once it has ended, unless the server stopped before that. */
const whyUnrecorded: Partial<Record<StoredHold['state'], 'request_running' | 'request_lost'>> = {
  open: 'request_running',
  expired: 'request_lost',
}

type NamedRecord = StoredRecord & { readonly account: string }
/** A request that was refused; `refused` tells it from a record. */
const refusalView = ({ accounts }: AdminServices, kept: KeptRefusal): object => ({
  refused: true,
  id: kept.id,
  account: kept.accountId === undefined ? null : (accounts.find(kept.accountId)?.name ?? kept.accountId),
  key_id: kept.keyId ?? null,
  method: kept.method,
  endpoint: kept.endpoint,
  model: kept.model ?? null,
  status: kept.status,
  code: kept.code,
  created_at: new Date(kept.atMs).toISOString(),
  repeats: kept.repeats,
  last_at: new Date(kept.lastAtMs).toISOString(),
})

/** The newest requests of an account, each with the account's name. */
async function requestsOf(
  services: AdminServices,
  { id, name: account }: Account,
  page: RecentPage,
): Promise<readonly NamedRecord[]> {
  return (await services.records.recent(id, page)).map((record) => ({ ...record, account }))
}

const byIdDescending = (a: { readonly [name: string]: unknown }, b: { readonly [name: string]: unknown }): number =>
  String(a['id']) < String(b['id']) ? 1 : -1

/** Whether the card of a charge is the account's own. A factor is in the record. */
async function basisIn({ catalog }: AdminServices, record: StoredRecord): Promise<'card' | 'model'> {
  const card = await catalog.card(Number(record['price_card_id']))
  return card?.accountId === undefined ? 'model' : 'card'
}

export const requestOperations: Readonly<Record<string, Operation>> = {
  'request.list': operation(
    z.strictObject({
      account: reference.optional(),
      limit: z.int().min(1).max(1000).default(20),
      before: reference.optional(),
    }),
    async (services, { account: wanted, limit, before }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      const lists = await Promise.all(chosen.map((account) => requestsOf(services, account, { limit, before })))
      // Ids are ordered by time, so the newest of all accounts are the greatest.
      return done(lists.flat().toSorted(byIdDescending).slice(0, limit))
    },
  ),
  'request.refused': operation(
    z.strictObject({
      account: reference.optional(),
      limit: z.int().min(1).max(1000).default(20),
      before: reference.optional(),
      code: reference.optional(),
      status: z.int().min(400).max(599).optional(),
    }),
    async (services, { account: wanted, ...page }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      // Refusals without a known account are included if no account is named.
      const ids = [...chosen.map(({ id }) => id), ...(wanted === undefined ? [''] : [])]
      const lists = await Promise.all(ids.map((id) => services.refused.list(id, page)))
      const newest = lists.flat().toSorted(byIdDescending).slice(0, page.limit)
      return done(newest.map((one) => refusalView(services, one)))
    },
  ),
  'request.show': operation(
    z.strictObject({ account: reference.optional(), request: reference }),
    async (services, { account: wanted, request }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      // Two rounds: a request that ends between the look-ups of its record and its hold has a record by then.
      for (const isLast of [false, true]) {
        for (const { id, name: account } of chosen) {
          const record = await services.records.find(id, request)
          if (record) return done({ ...record, account, price_basis: await basisIn(services, record) })
        }
        const hold = isLast ? undefined : await services.books.findHold(request)
        if (!hold || !chosen.some(({ id }) => id === hold.accountId)) break
        const why = whyUnrecorded[hold.state]
        if (why) return refused('not_found', sayRefusal(why, { name: request, amount: formatUsd(hold.amount) }))
      }
      const refusal = await services.refused.find(request, wanted === undefined ? undefined : chosen[0]?.id)
      if (refusal) return done(refusalView(services, refusal))
      return wanted === undefined
        ? notFound('request', request)
        : refused('not_found', sayRefusal('no_request_of_account', { name: request }))
    },
  ),
}
