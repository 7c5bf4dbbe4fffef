import { command } from './command.ts'
import { failed, shown } from './outcome.ts'
import { details } from './table.ts'

/** Whether each secret was already the database's own. */
type AdoptionReport = Readonly<Record<'key_pepper' | 'master_key', 'unchanged' | 'adopted'>>

export const adoptSecretsCommand = command({
  name: 'adopt-secrets',
  summary: 'Binds this database to the current key pepper and master key, after a loss or a change.',
  examples: [['tollgate adopt-secrets', 'asks first'], ['tollgate adopt-secrets --yes']],
  confirms: () => ({
    consequence:
      'API keys made under another key pepper stay refused for good, and vendor credentials sealed under another ' +
      'master key have to be entered again.',
    word: 'adopt',
  }),
  notes: 'The server must be stopped. A missing secret is generated.',
  run: async ({ program, terminal }) => {
    const result = await program.adoptSecrets()
    if (!result.ok) return failed(result.code, result.message)
    const adoption = result.value as AdoptionReport
    return shown(
      adoption,
      details(
        [
          ['Key pepper', adoption.key_pepper],
          ['Master key', adoption.master_key],
        ],
        terminal,
      ),
    )
  },
})
