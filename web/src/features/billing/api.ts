import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Answers, Statement } from '../../lib/api-types.gen.ts'
import { addressOf, api, path } from '../../lib/api.ts'

type Holds = Answers['GET /accounts/{account}/holds']
type Redemption = Answers['POST /accounts/{account}/redemptions']

export const statementQuery = (account: string, month: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', account, month],
    queryFn: () => api.get<Statement>(path`accounts/${account}/ledger`, { cursor: month }),
  })

export const statementFile = (account: string, month: string): string =>
  addressOf(path`accounts/${account}/ledger`, { cursor: month, format: 'csv' }).href

export const holdsQuery = (account: string) =>
  infiniteQueryOptions({
    queryKey: ['holds', account],
    queryFn: ({ pageParam: cursor }) => api.get<Holds>(path`accounts/${account}/holds`, { cursor, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: 5_000,
  })

export const redeem = (account: string, code: string): Promise<Redemption> =>
  api.post(path`accounts/${account}/redemptions`, { code })
