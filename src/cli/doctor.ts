import { command } from './command.ts'
import { shown } from './outcome.ts'
import { examine, type DoctorCheck, type CheckState } from './examine.ts'
import { details } from './table.ts'
import { printable, type TerminalColor, type Terminal } from './terminal.ts'

const colors: Readonly<Record<CheckState, TerminalColor>> = { ok: 'green', warn: 'yellow', fail: 'red' }

function checkLines(checks: readonly DoctorCheck[], { paint }: Terminal): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks
    .map(
      ({ name, state, detail }) =>
        `${paint(colors[state], state.padEnd(4))}  ${name.padEnd(width)}  ${printable(detail)}\n`,
    )
    .join('')
}

function limitLines(title: string, limits: Readonly<Record<string, number>>, terminal: Terminal): string {
  const lines = Object.entries(limits)
  return lines.length === 0 ? '' : `\n${terminal.paint('bold', title)}\n${details(lines, terminal)}`
}

export const doctor = command({
  name: 'doctor',
  summary: 'Checks configuration, data folder, ledger, providers and models.',
  examples: [['tollgate doctor'], ['tollgate doctor --json | jq \'.checks[] | select(.state != "ok")\'']],
  failure: 'a check failed; warnings alone do not count',
  run: async ({ program, terminal }) => {
    const { checks, limits, modelLimits, fixedLimits } = await examine(program)
    const ok = checks.every(({ state }) => state !== 'fail')
    const text = [
      checkLines(checks, terminal),
      limitLines('Limits', limits, terminal),
      limitLines('Limits of a model without its own', modelLimits, terminal),
      limitLines('Fixed limits', fixedLimits, terminal),
    ].join('')
    return {
      ...shown({ ok, checks, limits, model_limits: modelLimits, fixed_limits: fixedLimits }, text),
      exitCode: ok ? 0 : 1,
    }
  },
})
