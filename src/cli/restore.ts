import { resolve } from 'node:path'
import { command } from './command.ts'
import { failed, shown } from './outcome.ts'
import { details, holdings } from './table.ts'
import { text } from './values.ts'

/** The part of the result of a restore that is used here. */
type RestoreReport = {
  readonly data_folder: string
  readonly made_at: string | null
  readonly schema_before: number
  readonly schema: number
  readonly accounts: number
  readonly bookings: number
  readonly charges: number
  readonly open_holds: number
  readonly kept: string | null
  readonly problems: readonly string[]
}

export const restore = command({
  name: 'restore',
  summary: 'Puts a backup in the data folder of a server that is stopped.',
  examples: [
    ['tollgate restore /var/backups/tollgate/2026-11-20.db'],
    ['tollgate restore all.db --data /srv/other', 'into a new data folder'],
    ['tollgate restore all.db --force', 'the database in place is kept under another name'],
  ],
  positionals: [{ name: 'file', summary: 'a file that tollgate backup wrote', value: text('FILE') }],
  options: { force: { summary: 'replace an existing database; it is kept as tollgate.db.before-restore-…' } },
  notes:
    'The whole backup is checked before anything changes, and migrated to the schema of this version. What was charged,\n' +
    'credited or changed after the backup is lost. Holds that were open in it are returned at the next start.',
  failure: 'nothing was restored; the data folder is unchanged',
  run: async ({ args: { file }, options: { force }, program, terminal }) => {
    const result = await program.restore({ file: resolve(file), existing: force ? 'replaced' : 'kept' })
    if (!result.ok) return failed(result.code, result.message)
    const value = result.value as RestoreReport
    const upgraded = value.schema === value.schema_before ? '' : `, brought from schema ${value.schema_before}`
    const lines = details(
      [
        ['Data', value.data_folder],
        ['Made', value.made_at ?? 'the file does not say when'],
        ['Holds', holdings(value)],
        ['Verified', `every page and the ledger; schema ${value.schema}${upgraded}`],
        ['Kept', value.kept ?? 'there was no database before'],
      ],
      terminal,
    )
    const talk = value.problems.map((problem) => `tollgate: ${problem}`).join('\n')
    return shown(value, lines, talk === '' ? {} : { talk })
  },
})
