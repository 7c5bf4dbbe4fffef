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
  /** Where images and videos are. */
  readonly files_left_out: string
  readonly took_ms: number
}

const secretLines = {
  included: 'INCLUDED: anyone with this file can read every stored vendor credential',
  left_out: 'not included; keep key.pepper and master.key elsewhere',
} as const

export const backup = command({
  name: 'backup',
  summary: 'Writes a verified copy of the database to a file, while the server keeps running.',
  examples: [
    ['tollgate backup /var/backups/tollgate/$(date +%F).db'],
    ['tollgate backup /mnt/vault/all.db --with-secrets', 'with the key pepper and the master key'],
    ['tollgate backup latest.db --force --json | jq .bytes'],
  ],
  positionals: [{ name: 'file', summary: 'the file to write, mode 0600', value: text('FILE') }],
  options: {
    'with-secrets': { summary: 'include the key pepper and the master key; without them the file decrypts nothing' },
    force: { summary: 'replace an existing file' },
  },
  notes:
    'The running server writes the file, so it needs write access to that folder. The copy gets its name only after it\n' +
    'is read back whole and its ledger is verified. A backup without the secrets holds balances, records and names. Its\n' +
    'API keys and vendor credentials work only with the key.pepper and master.key of its data folder. Images and videos\n' +
    'are not in a backup. They stay in the folder blobs, or in the S3 bucket, until they expire.',
  failure: 'no backup was made; an existing file is unchanged',
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
            ['Files', `not included; images and videos stay in ${made.files_left_out}`],
          ],
          terminal,
        ),
      ),
    )
  },
})
