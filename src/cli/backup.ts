import { resolve } from 'node:path'
import { command } from './command.ts'
import { operate, shown } from './outcome.ts'
import { details, holdings } from './table.ts'
import { text } from './values.ts'

/** The value of `backup`. */
type BackupReport = {
  readonly file: string
  readonly bytes: number
  readonly accounts: number
  readonly bookings: number
  readonly charges: number
  readonly open_holds: number
  readonly secrets: 'included' | 'left_out'
  readonly took_ms: number
}

const secretLines = {
  included: 'INCLUDED: whoever has this file can read every stored vendor credential',
  left_out: 'not included; keep key.pepper and master.key elsewhere',
} as const

export const backup = command({
  name: 'backup',
  summary: 'Writes a verified copy of the database to a file, while the server goes on serving.',
  examples: [
    ['tollgate backup /var/backups/tollgate/$(date +%F).db'],
    ['tollgate backup /mnt/vault/all.db --with-secrets', 'with the key pepper and the master key'],
    ['tollgate backup latest.db --force --json | jq .bytes'],
  ],
  positionals: [{ name: 'file', summary: 'the file to write, mode 0600', value: text('FILE') }],
  options: {
    'with-secrets': { summary: 'put the key pepper and the master key in; without them the file opens nothing' },
    force: { summary: 'replace the file if there is one' },
  },
  notes:
    'The running server writes the file: it needs the right to, in that folder. The copy is read back whole and its\n' +
    'ledger verified before it gets its name. Without the secrets a backup holds balances, records and the names of\n' +
    'things; API keys and vendor credentials of it work only with the key.pepper and master.key of its data folder.',
  failure: 'no backup was made; an existing file is as it was',
  run: ({ args: { file }, options: { 'with-secrets': withSecrets, force }, program, terminal }) => {
    const input = {
      file: resolve(file),
      existing: force ? 'replaced' : 'kept',
      secrets: withSecrets ? 'included' : 'left_out',
    }
    return operate<BackupReport>(program, { name: 'backup', input }, (made) =>
      shown(
        made,
        details(
          [
            ['File', made.file],
            ['Holds', holdings(made)],
            ['Verified', `every page and the ledger; ${made.bytes} bytes in ${made.took_ms} ms`],
            ['Secrets', secretLines[made.secrets]],
          ],
          terminal,
        ),
      ),
    )
  },
})
