import { command } from './command.ts'
import { shown } from './outcome.ts'
import { examine, type Check, type CheckState } from './examine.ts'
import { details } from './table.ts'
import { printable, type Color, type Terminal } from './terminal.ts'

const colors: Readonly<Record<CheckState, Color>> = { ok: 'green', warn: 'yellow', fail: 'red' }

function checkLines(checks: readonly Check[], { paint }: Terminal): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks
    .map(
      ({ name, state, detail }) =>
        `${paint(colors[state], state.padEnd(4))}  ${name.padEnd(width)}  ${printable(detail)}\n`,
    )
    .join('')
}

export const doctor = command({
  name: 'doctor',
  summary: 'Checks configuration, data folder, ledger, providers and models.',
  examples: [['tollgate doctor'], ['tollgate doctor --json | jq \'.checks[] | select(.state != "ok")\'']],
  failure: 'a check failed; warnings alone do not count',
  run: async ({ program, terminal }) => {
    const { checks, limits } = await examine(program)
    const ok = checks.every(({ state }) => state !== 'fail')
    const limitLines = Object.entries(limits).map(([name, value]) => [name, value] as const)
    const limitText =
      limitLines.length > 0 ? `\n${terminal.paint('bold', 'Limits')}\n${details(limitLines, terminal)}` : ''
    return { ...shown({ ok, checks, limits }, checkLines(checks, terminal) + limitText), exitCode: ok ? 0 : 1 }
  },
})
