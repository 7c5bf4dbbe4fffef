import { command } from './command.ts'
import { operate, shown } from './outcome.ts'
import { countText, table } from './table.ts'

export type LedgerFinding = { readonly invariant: string; readonly subject: string; readonly detail: string }

/** The value of `ledger.verify`. */
type LedgerReport = {
  readonly clean: boolean
  readonly findings: readonly LedgerFinding[]
  readonly accounts: number
  readonly open_holds: number
  readonly took_ms: number
}

export const verifyLedgerCommand = command({
  name: 'verify-ledger',
  summary: 'Checks that every number of the ledger follows from its entries.',
  examples: [['tollgate verify-ledger'], ['tollgate verify-ledger --json | jq .findings']],
  failure: 'the ledger is broken; stdout says where',
  run: ({ program, terminal }) =>
    operate<LedgerReport>(program, { name: 'ledger.verify', input: {} }, (value) => {
      const { clean, findings, accounts, open_holds: openHolds, took_ms: tookMs } = value
      const line = `ledger clean: ${countText(accounts, 'account')}, ${countText(openHolds, 'open hold')}, checked in ${tookMs} ms\n`
      if (clean) return shown(value, line)
      const drawn = table(
        findings,
        [
          { title: 'invariant', of: ({ invariant }) => invariant },
          { title: 'subject', of: ({ subject }) => subject },
          { title: 'found', of: ({ detail }) => detail },
        ],
        terminal,
      )
      return {
        ...shown(value, drawn, { talk: `tollgate: the ledger is broken in ${countText(findings.length, 'place')}` }),
        exitCode: 1,
      }
    }),
})
