/** Tollgate with everything on: a real key, holds, settlements, records, metrics, and log lines into a file. */
import { Database } from 'bun:sqlite'
import { join, resolve } from 'node:path'
import { bunEnv } from '../../bin/bun-env.js'
import { programFile } from '../../bin/program.js'
import { callControl } from '../../src/admin/control.ts'
import type { PolicyName } from '../../src/domain/routing.ts'
import type { Contender, Field } from '../contender.ts'
import { answerOf } from '../workload.ts'

export const ROOT = resolve(import.meta.dir, '../..')
const ACCOUNT = 'bench'

export const dataOf = ({ folder }: Field): string => join(folder, 'data')

/** The vendor is there once for each of its dialects. */
const PRESETS = { chat: 'custom', messages: 'anthropic' } as const

function dialectOf(model: string): keyof typeof PRESETS {
  const answer = answerOf(model)
  return answer?.kind === 'stream' ? answer.dialect : 'chat'
}

/** With a policy, each model has three offers to choose from. They lead to the same vendor. */
const config = ({ upstreamPort, models }: Field, routing: PolicyName | undefined): string => `
sandbox: false
providers:
${Object.entries(PRESETS)
  .flatMap(([dialect, preset]) =>
    namesOf(dialect, routing).map((name) => providerLine(name, `preset: ${preset}`, upstreamPort)),
  )
  .join('\n')}
models:
${models
  .map((model) => {
    const offers = namesOf(dialectOf(model), routing).map((provider) => `{ provider: ${provider}, model: ${model} }`)
    const policy = routing === undefined ? '' : `    routing: ${routing}\n`
    return `  ${model}:\n    price: { input: 0.15, output: 0.6 }\n${policy}    offers: [${offers.join(', ')}]`
  })
  .join('\n')}
accounts:
  ${ACCOUNT}: { opening_balance: 100000000 }
`

const namesOf = (dialect: string, routing: PolicyName | undefined): readonly string[] =>
  routing === undefined ? [`bench-${dialect}`] : [1, 2, 3].map((n) => `bench-${dialect}-${n}`)

const providerLine = (id: string, preset: string, port: number): string =>
  `  ${id}: { ${preset}, base_url: 'http://127.0.0.1:${port}/v1', allow_private: true, key: vendor-secret }`

/** Runs an operation of the running gateway and returns its value. */
export async function operate(field: Field, name: string, input: object): Promise<Record<string, unknown>> {
  // The port listens before the rest of the gateway is ready.
  let result = await callControl(dataOf(field), name, input)
  for (let tries = 0; !result && tries < 100; tries++) {
    await Bun.sleep(100)
    result = await callControl(dataOf(field), name, input)
  }
  if (!result?.ok) throw new Error(`${name}: ${result ? result.message : 'no server'}`)
  return result.value as Record<string, unknown>
}

/** Counts by state and outcome, read while the gateway runs. */
function books(field: Field): { holds: Record<string, number>; records: Record<string, number> } {
  const db = new Database(join(dataOf(field), 'tollgate.db'), { readonly: true })
  const count = (sql: string): Record<string, number> =>
    Object.fromEntries(
      db
        .query<{ name: string; count: number }, []>(sql)
        .all()
        .map((row) => [row.name, row.count]),
    )
  try {
    return {
      holds: count('SELECT state AS name, count(*) AS count FROM hold GROUP BY state'),
      records: count(
        "SELECT outcome || ' ' || usage_source AS name, count(*) AS count FROM request_record WHERE charged > 0 GROUP BY 1",
      ),
    }
  } finally {
    db.close()
  }
}

export type Checkout = {
  readonly name: string
  /** The folder of its sources. */
  readonly root: string
  /** Arguments before the program, such as a profiler's switches. */
  readonly bunArgs: readonly string[]
  /** The routing policy of models with three offers. Left out: each model has one offer. */
  readonly routing?: PolicyName
}

export const tollgate = ({ name, root, bunArgs, routing }: Checkout): Contender => ({
  name,
  command: () => [
    process.execPath,
    '--no-env-file',
    `--config=${root}/package.json`,
    ...bunArgs,
    programFile(root),
    'serve',
  ],
  files: (field) => ({ 'tollgate.yaml': config(field, routing) }),
  env: (field) => ({
    HOST: '127.0.0.1',
    PORT: String(field.port),
    TOLLGATE_DATA: dataOf(field),
    TOLLGATE_CONFIG: join(field.folder, 'tollgate.yaml'),
    TOLLGATE_LOG: 'info',
    ...bunEnv,
  }),
  basePath: '/v1',
  translates: true,
  needsWarmUp: true,
  async prepare(field) {
    const { secret } = await operate(field, 'key.create', { account: ACCOUNT, name: 'bench' })
    return { authorization: `Bearer ${String(secret)}` }
  },
  async inspect(field, requests) {
    const complaints: string[] = []
    const { clean, findings } = await operate(field, 'ledger.verify', {})
    if (clean !== true) complaints.push(`the ledger does not verify: ${JSON.stringify(findings).slice(0, 1_000)}`)
    const { holds, records } = books(field)
    const expected = JSON.stringify({ holds: { settled: requests }, records: { 'completed reported': requests } })
    const found = JSON.stringify({ holds, records })
    if (found !== expected) complaints.push(`the books hold ${found} instead of ${expected}`)
    return complaints
  },
})
