import { command, group } from './command.ts'
import { failed, shown, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { countText, details, shortTime, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text } from './values.ts'

type InstanceView = {
  readonly id: string
  readonly state: string
  readonly batch: number
  readonly silent_ms: number
  readonly version: string | null
  readonly process: string | null
}

/** The value of `db status` and `db migrate`. */
type DatabaseState = {
  readonly schema: number
  readonly schema_known: number
  readonly declaration_applied_at: string | null
  readonly instances: readonly InstanceView[]
}

/** The value of `db import` and `db export`. */
type TransferReport = {
  readonly folder: string
  readonly rows: Readonly<Record<string, number>>
  readonly took_ms: number
  readonly expired_holds?: number
}

function schemaText({ schema, schema_known: known }: DatabaseState): string {
  if (schema === known) return String(schema)
  return schema < known ? `${schema} of ${known}: run tollgate db migrate` : `${schema}, of a newer release`
}

function showState(state: DatabaseState, terminal: Terminal): CommandOutcome {
  const { declaration_applied_at: appliedAt, instances } = state
  const facts = details(
    [
      ['Schema', schemaText(state)],
      ['Declaration', appliedAt === null ? 'none applied yet' : `applied ${shortTime(appliedAt)}`],
      ['Instances', instances.length === 0 ? 'none serve' : countText(instances.length, 'instance')],
    ],
    terminal,
  )
  if (instances.length === 0) return shown(state, facts)
  const drawn = table(
    instances,
    [
      { title: 'id', of: ({ id }) => id },
      { title: 'state', of: ({ state: its }) => its },
      { title: 'version', of: ({ version }) => version ?? '' },
      { title: 'process', of: ({ process: its }) => its ?? '' },
      { title: 'batch', of: ({ batch }) => String(batch) },
      { title: 'silent', of: ({ silent_ms: silentMs }) => `${silentMs} ms` },
    ],
    terminal,
  )
  return shown(state, `${facts}\n${drawn}`)
}

function showTransfer(report: TransferReport, terminal: Terminal): CommandOutcome {
  const { folder, rows, took_ms: tookMs, expired_holds: expired = 0 } = report
  const facts = details(
    [
      ['Folder', folder],
      ['Copied', `${countText(rows['account'] ?? 0, 'account')}, ${countText(rows['hold'] ?? 0, 'hold')}`],
      ['Verified', `every balance, all holds and the ledger, in ${tookMs} ms`],
    ],
    terminal,
  )
  return shown(report, facts, expired > 0 ? { talk: `${countText(expired, 'open hold')} expired` } : {})
}

const runs = async <V>(
  result: ReturnType<Program['database']>,
  show: (value: V) => CommandOutcome,
): Promise<CommandOutcome> => {
  const answer = await result
  return answer.ok ? show(answer.value as V) : failed(answer.code, answer.message)
}

const status = command({
  name: 'db status',
  summary: 'Shows the schema, the declaration that the database follows, and the instances that serve.',
  examples: [['tollgate db status'], ['tollgate db status --json | jq .instances']],
  run: ({ program, terminal }) =>
    runs<DatabaseState>(program.database({ kind: 'status' }), (state) => showState(state, terminal)),
})

const migrate = command({
  name: 'db migrate',
  summary: 'Makes or upgrades the tables. Instances of the release before go on serving.',
  examples: [['tollgate db migrate', 'before an update of the instances']],
  run: ({ program, terminal }) =>
    runs<DatabaseState>(program.database({ kind: 'migrate' }), (state) => showState(state, terminal)),
})

const importCommand = command({
  name: 'db import',
  summary: 'Copies a data folder into the empty database, and verifies the copy.',
  examples: [['tollgate db import --from /var/lib/tollgate', 'the server of that folder must be stopped']],
  options: { from: { summary: 'the data folder', value: text('DIR'), takes: 'needed' } },
  notes:
    'The folder stays as it is, except that holds which a crash left open expire. Its two secrets must be set as\n' +
    'TOLLGATE_KEY_PEPPER and TOLLGATE_MASTER_KEY. Files of images and videos are not copied.',
  failure: 'the database is not in use yet; stderr says whether it has to be emptied',
  run: ({ options: { from }, program, terminal }) =>
    runs<TransferReport>(program.database({ kind: 'import', folder: from }), (report) =>
      showTransfer(report, terminal),
    ),
})

const exportCommand = command({
  name: 'db export',
  summary: 'Copies the database into a new data folder, and verifies the copy. No instance may serve.',
  examples: [['tollgate db export --to /var/lib/tollgate']],
  options: { to: { summary: 'the new data folder', value: text('DIR'), takes: 'needed' } },
  notes: 'Files of images and videos are not copied. The secrets stay in the environment.',
  failure: 'nothing was written',
  run: ({ options: { to }, program, terminal }) =>
    runs<TransferReport>(program.database({ kind: 'export', folder: to }), (report) => showTransfer(report, terminal)),
})

export const dbGroup = group({
  name: 'db',
  summary: 'Tables and contents of the PostgreSQL database that several instances share.',
  examples: [
    ['TOLLGATE_DATABASE_URL=postgres://tollgate@db/tollgate tollgate db migrate'],
    ['tollgate db import --from /var/lib/tollgate'],
  ],
  commands: [status, migrate, importCommand, exportCommand],
})
