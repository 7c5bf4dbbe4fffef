import { command } from './command.ts'
import { failed, shown } from './outcome.ts'
import { countText, details } from './table.ts'

type ApplyReport = {
  readonly config_file: string | null
  readonly providers: number
  readonly models: number
  readonly accounts: number
}

export const apply = command({
  name: 'apply',
  summary: 'Applies tollgate.yaml and the vendors of the environment to the database that instances share.',
  examples: [['tollgate apply', 'before an update of the instances']],
  notes:
    'Instances that share a database follow what was applied last. One whose own declaration differs logs a warning.\n' +
    'A data folder of one process follows its declaration at each start. There this command is for a stopped server.',
  run: async ({ program, terminal }) => {
    const result = await program.apply()
    if (!result.ok) return failed(result.code, result.message)
    const report = result.value as ApplyReport
    const lines = details(
      [
        ['Declaration', report.config_file ?? 'none; the environment alone'],
        [
          'Applied',
          [
            countText(report.providers, 'provider'),
            countText(report.models, 'model'),
            countText(report.accounts, 'account'),
          ].join(', '),
        ],
      ],
      terminal,
    )
    return shown(report, lines)
  },
})
