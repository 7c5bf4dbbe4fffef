/** Choices that match part of a name, limited to one page, and their total number. */
import { api, path, type Query } from './api.ts'
import type { List } from './lists.ts'

const SHOWN_MAX = 50

export type FoundChoices = {
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  readonly total: number
}
export type FoundQuery = {
  readonly queryKey: readonly unknown[]
  readonly queryFn: () => FoundChoices | Promise<FoundChoices>
}

type Item = { readonly id: string; readonly name?: string }

const choicesOf =
  (route: string, more: Query = {}) =>
  (q: string): FoundQuery => ({
    queryKey: ['choices', route, more, q],
    queryFn: async () => {
      const { data, total } = await api.get<List<Item>>(route, { ...more, q, limit: SHOWN_MAX })
      return { choices: data.map(({ id, name = id }) => ({ value: id, label: name })), total: total ?? data.length }
    },
  })

export const accountChoices = choicesOf('accounts')
export const providerChoices = choicesOf('providers')
export const keyChoices = (account: string) => choicesOf(path`accounts/${account}/keys`)
export const modelChoices = (account: string) => choicesOf(path`accounts/${account}/models`)
/** All models, for operators. */
export const anyModelChoices = choicesOf('models')
