/** Applies `tollgate.yaml` and the environment: whether it is done at this start, and what it does to accounts. */
import type { AccountDraft, Accounts } from './accounts/accounts.ts'
import { appliedDigest, appliedStep, declarationDigest } from './catalog/applied-declaration.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Config } from './config.ts'
import type { Log } from './lib/runtime/log.ts'
import type { Ledger } from './ledger/ledger.ts'
import { OPENING } from './ledger/system-reasons.ts'
import { mustWrite, type Store } from './store/store.ts'

/** Makes an account with its opening balance. */
export async function makeAccount(
  accounts: Accounts,
  ledger: Ledger,
  account: AccountDraft & { readonly openingBalance: bigint },
): Promise<string> {
  const made = await accounts.create(account)
  if (!made) throw new Error(`another account '${account.name}' was made at the same time; start again`)
  const { id } = made
  ledger.register(id)
  if (account.openingBalance > 0n) {
    const booking = { accountId: id, amount: account.openingBalance, ref: `opening:${id}`, reason: OPENING }
    await ledger.adjust({ ...booking, kind: 'credit' })
  }
  return id
}

type AccountParts = { readonly accounts: Accounts; readonly ledger: Ledger; readonly catalog: Catalog }

export type DeclarationOptions = {
  readonly log: Log
  /** Whether the declaration is applied even if a shared database follows another one. */
  readonly declaration?: 'apply' | 'follow'
}

/**
 * Whether this start applies the declaration. A data folder follows it at every start. A shared database follows the
 * one that was applied last.
 */
export async function appliesDeclaration(
  store: Store,
  { databaseUrl, declared }: Config,
  { log, declaration = 'follow' }: DeclarationOptions,
): Promise<boolean> {
  if (databaseUrl === undefined || declaration === 'apply') return true
  const applied = await appliedDigest(store)
  if (applied === undefined) return true
  if (applied !== declarationDigest(declared)) log('warn', 'declaration.differs', { help: DIFFERS })
  return false
}

const DIFFERS =
  'the environment and tollgate.yaml of this instance differ from what the database follows; `tollgate apply` applies them'

/** Applies the accounts of the declaration, last of all, so that an interrupted start applies everything again. */
export async function applyAccounts(config: Config, parts: AccountParts & { readonly store: Store }): Promise<void> {
  await declareAccounts(config, parts)
  if (config.databaseUrl === undefined) return
  await mustWrite(parts.store, [appliedStep(declarationDigest(config.declared))])
}

/**
 * Makes the accounts of the declaration. Each is made once, with its opening balance. Its allow-list, its limits and
 * its prices follow the file. An account that leaves the file keeps its keys, its money, and its last limits and
 * prices. From then on it is changed by command.
 */
async function declareAccounts({ declared }: Config, { accounts, ledger, catalog }: AccountParts): Promise<void> {
  const names = new Set(declared.accounts.map(({ name }) => name))
  for (const { id, name, origin } of accounts.list()) {
    if (origin === 'declared' && !names.has(name)) await accounts.update(id, { origin: 'stored' })
  }
  for (const draft of declared.accounts) {
    const known = accounts.find(draft.name)
    const { allowedModels = null, limits } = draft
    const change = { allowedModels, limits, origin: 'declared' } as const
    if (known) await accounts.update(known.id, change)
    const id = known?.id ?? (await makeAccount(accounts, ledger, { ...draft, origin: 'declared' }))
    await catalog.putAccountPrices(id, draft.prices, 'end')
  }
}
