/** The checks behind `tollgate doctor`. */
import { certificateChecks } from './certificate-checks.ts'
import type { DoctorCheck } from './doctor-check.ts'
import { gapText, lossText, type BelowCost } from './price-faults.ts'
import { jsonLine } from './outcome.ts'
import type { Program, Settings } from './program.ts'
import { probeText, type ProbeView } from './provider.ts'
import type { ProviderView } from './provider-key.ts'
import { countText } from './table.ts'
import { messageOf } from './thrown.ts'
import type { LedgerFinding } from './verify-ledger.ts'

type LimitLists = 'limits' | 'modelLimits' | 'fixedLimits' | 'limitEffects'
export type DoctorReport = { readonly checks: readonly DoctorCheck[] } & Pick<Settings, LimitLists>

/** The value of the operation `doctor`, as far as it is used here. */
type DoctorFacts = {
  readonly pid: number
  readonly uptime_s: number
  readonly accounts: number
  readonly connections_max: number
  readonly account_calls_max: number
  /** Whether vendors' messages are kept with failed attempts. */
  readonly upstream_messages: boolean
  readonly models: number
  /** Models of the sandbox that not every account may use. */
  readonly models_reserved: number
  readonly models_without_offer: readonly string[]
  readonly models_below_cost: readonly (BelowCost & { readonly model: string; readonly offer: string })[]
  /** Accounts whose own price of some models is below cost. */
  readonly accounts_below_cost: readonly {
    readonly account: string
    readonly models: readonly string[]
    readonly total: number
  }[]
  readonly models_with_gaps: readonly { readonly id: string; readonly gaps: readonly string[] }[]
  readonly aliases_without_model: readonly string[]
  readonly unknown_models: readonly string[]
  readonly open_holds: number
  readonly findings: readonly LedgerFinding[]
  readonly ignored_proxies: readonly string[]
  /** Where images and videos are stored. */
  readonly files: string
  readonly files_problem: string | null
}

type OperationValue<V> = { readonly ok: true; readonly value: V } | { readonly ok: false; readonly message: string }

const ok = (name: string, detail: string): DoctorCheck => ({ name, state: 'ok', detail })
const warn = (name: string, detail: string): DoctorCheck => ({ name, state: 'warn', detail })
const fail = (name: string, detail: string): DoctorCheck => ({ name, state: 'fail', detail })

/** An exception is a failed check like any other. */
async function got<V>(value: () => Promise<OperationValue<V>>): Promise<OperationValue<V>> {
  try {
    return await value()
  } catch (error) {
    return { ok: false, message: messageOf(error) }
  }
}

const ask = <V>(program: Program, name: string, input: object = {}): Promise<OperationValue<V>> =>
  got(async () => {
    const result = await program.operate(name, input)
    return result.ok ? { ok: true, value: JSON.parse(jsonLine(result.value)) as V } : result
  })

/** Runs the checks from the outside in. If a check fails, those that depend on it are left out. */
export async function examine(program: Program): Promise<DoctorReport> {
  const read = await got(async () => ({ ok: true, value: await program.settings() }))
  if (!read.ok) {
    const lists = { limits: {}, modelLimits: {}, fixedLimits: {}, limitEffects: {} }
    return { checks: [fail('configuration', read.message)], ...lists }
  }
  const { limits, modelLimits, fixedLimits, limitEffects, configFile } = read.value
  const lists = { limits, modelLimits, fixedLimits, limitEffects }
  const outer = [
    ok('configuration', configFile ?? 'no tollgate.yaml; environment and defaults'),
    bindCheck(read.value),
    ...certificateChecks(read.value),
    stopCheck(limits),
  ]
  if (read.value.isShared) outer.push(...(await databaseChecks(program)))
  const facts = await ask<DoctorFacts>(program, 'doctor')
  if (!facts.ok) return { checks: [...outer, fail('data folder', facts.message)], ...lists }
  const inner = factChecks(facts.value, read.value)
  return { checks: [...outer, ...inner, ...(await providerChecks(program, facts.value))], ...lists }
}

async function databaseChecks(program: Program): Promise<readonly DoctorCheck[]> {
  const findings = await got(() => program.database({ kind: 'examine' }))
  return findings.ok ? (findings.value as readonly DoctorCheck[]) : [fail('postgresql', findings.message)]
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/

/** Links to images and videos hold an absolute address, which a public server cannot guess. */
function bindCheck({ host, port, publicUrl }: Settings): DoctorCheck {
  if (publicUrl !== undefined) return ok('address', `${host}:${port}, to clients ${publicUrl}`)
  if (LOOPBACK.test(host)) return ok('address', `${host}:${port}, this machine only`)
  return warn('address', `${host}:${port} is public, but TOLLGATE_PUBLIC_URL does not say at which address`)
}

/** What drain.ts needs after the drain, at most, and the last export of telemetry. */
const AFTER_DRAIN_S = 14

function stopCheck({ lame_duck_ms: lameDuckMs = 0, drain_ms: drainMs = 0 }: Settings['limits']): DoctorCheck {
  const [lameDuckS, drainS] = [lameDuckMs / 1000, drainMs / 1000]
  const wholeS = Math.ceil(lameDuckS + drainS + AFTER_DRAIN_S)
  return ok('stop', `serves on for ${lameDuckS} s, drains for ${drainS} s; the supervisor must wait ${wholeS} s`)
}

/** What the running server has observed takes precedence over the settings of this shell. */
function proxyCheck(
  { ignored_proxies: ignored }: DoctorFacts,
  { publicUrl, trustsProxies, certificate }: Settings,
): DoctorCheck {
  const isBehindOne = publicUrl?.startsWith('https:') && !trustsProxies && !certificate
  if (ignored.length === 0 && !isBehindOne) return ok('proxy', trustsProxies ? 'trusted' : 'none in front')
  const who = ignored.length > 0 ? `${ignored.join(', ')} sends X-Forwarded-For` : `${publicUrl} is a proxy's address`
  return warn(
    'proxy',
    `${who}, and TOLLGATE_TRUSTED_PROXIES does not name it, so its clients count as one and lock each other out`,
  )
}

function factChecks(facts: DoctorFacts, settings: Settings): DoctorCheck[] {
  const { dataFolder, limits } = settings
  const server =
    facts.pid === process.pid
      ? 'no server runs'
      : `served by process ${facts.pid} for ${facts.uptime_s} s with the settings of its start; the settings here are this shell's`
  return [
    ok('data folder', `${dataFolder}, ${server}`),
    ok('database', `opened; ${countText(facts.accounts, 'account')}, ${countText(facts.open_holds, 'open hold')}`),
    facts.findings.length === 0
      ? ok('ledger', 'clean')
      : fail(
          'ledger',
          facts.findings.map(({ invariant, subject, detail }) => `${invariant}: ${subject} (${detail})`).join('; '),
        ),
    facts.files_problem === null ? ok('files', facts.files) : fail('files', `${facts.files}: ${facts.files_problem}`),
    connectionCheck(facts, limits),
    proxyCheck(facts, settings),
    modelCheck(facts),
    ...priceChecks(facts),
    ...accountPriceChecks(facts),
    ok(
      "vendors' messages",
      `${facts.upstream_messages ? 'kept' : 'not kept'} with failed attempts (TOLLGATE_UPSTREAM_MESSAGES)`,
    ),
    ...gapChecks(facts),
  ]
}

/** With fewer connections, a busy hour of one team reaches the limit. */
const CONNECTIONS_MIN = 500

function connectionCheck(
  { connections_max: most, account_calls_max: ofOne }: DoctorFacts,
  { connections_max: wanted = 0 }: Settings['limits'],
): DoctorCheck {
  if (most >= wanted) return ok('connections', `${most} at once, ${ofOne} requests of one account`)
  const state = most < CONNECTIONS_MIN ? warn : ok
  return state('connections', `${most} at once, not ${wanted}: for more, let the process open more files (ulimit -n)`)
}

function modelCheck({ models, models_reserved: reserved, models_without_offer: unserved }: DoctorFacts): DoctorCheck {
  if (models === 0) return warn('models', 'none yet (tollgate model add --help)')
  const whose = `${reserved} of the sandbox, for the first account and for accounts whose list names them`
  return unserved.length === 0
    ? ok('models', `${models}, each with an offer${reserved === 0 ? '' : `; ${whose}`}`)
    : warn('models', `without an offer: ${unserved.join(', ')}`)
}

const LOSSES_SHOWN = 5

function priceChecks({ models, models_below_cost: losses }: DoctorFacts): DoctorCheck[] {
  if (models === 0) return []
  if (losses.length === 0) return [ok('prices', 'no model is sold below the cost of its offers')]
  const shown = losses.slice(0, LOSSES_SHOWN).map((loss) => `${loss.model} at ${loss.offer}: ${lossText(loss)}`)
  const rest = losses.length - shown.length
  return [warn('prices', `sold below cost: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`)]
}

function accountPriceChecks({ accounts_below_cost: accounts }: DoctorFacts): DoctorCheck[] {
  if (accounts.length === 0) return []
  const shown = accounts.slice(0, LOSSES_SHOWN).map(({ account, models, total }) => {
    const more = total - models.length
    return `${account}: ${models.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  })
  const rest = accounts.length - shown.length
  return [warn('account prices', `below cost: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more accounts` : ''}`)]
}

/** Warns of requests that are refused for lack of a price, and of names in lists and limits that no model has. */
function gapChecks(facts: DoctorFacts): DoctorCheck[] {
  const { models_with_gaps: models, aliases_without_model: unused, unknown_models: unknown } = facts
  const priceless = models.map(({ id, gaps }) => gapText(id, gaps))
  return [
    ...(priceless.length === 0
      ? []
      : [warn('image prices', `requests for these are refused: ${priceless.join('; ')}`)]),
    ...(unused.length === 0 ? [] : [warn('aliases', `these stand for no model: ${unused.join('; ')}`)]),
    ...(unknown.length === 0 ? [] : [warn('allow-lists', `these name no model: ${unknown.join('; ')}`)]),
  ]
}

async function providerChecks(program: Program, facts: DoctorFacts): Promise<DoctorCheck[]> {
  const list = await ask<readonly ProviderView[]>(program, 'provider.list')
  if (!list.ok) return [fail('providers', list.message)]
  const served = facts.pid !== process.pid
  const checks: DoctorCheck[] = []
  // A server runs all probes at once. Without one, each operation opens the data folder exclusively.
  const each = (view: ProviderView): Promise<DoctorCheck> => providerCheck(program, view)
  if (served) checks.push(...(await Promise.all(list.value.map(each))))
  else for (const view of list.value) checks.push(await each(view))
  return checks
}

async function providerCheck(
  program: Program,
  { id, base_url: baseUrl, has_key: hasKey }: ProviderView,
): Promise<DoctorCheck> {
  const name = `provider ${id}`
  if (baseUrl === '') return ok(name, 'built in, runs with the server')
  if (!hasKey && !LOOPBACK.test(new URL(baseUrl).hostname)) return warn(name, 'has no key, so it was not tried')
  const probe = await ask<ProbeView>(program, 'provider.test', { id })
  if (!probe.ok) return fail(name, probe.message)
  return { name, state: probe.value.ok ? 'ok' : 'fail', detail: probeText(probe.value) }
}
