import { command } from './command.ts'
import { shown } from './outcome.ts'
import type { CheckState, DoctorCheck } from './doctor-check.ts'
import { examine, type DoctorReport } from './examine.ts'
import type { PublicRouteView } from './program.ts'
import { details, table } from './table.ts'
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

/** The limits that cannot be set, with what happens at each. */
function fixedLines(
  { fixedLimits, limitEffects }: Pick<DoctorReport, 'fixedLimits' | 'limitEffects'>,
  terminal: Terminal,
): string {
  const limits = Object.entries(fixedLimits)
  const width = Math.max(...limits.map(([, value]) => String(value).length))
  const lines = limits.map(
    ([name, value]) => [name, `${String(value).padStart(width)}  ${limitEffects[name]}`] as const,
  )
  return limits.length === 0 ? '' : `\n${terminal.paint('bold', 'Fixed limits')}\n${details(lines, terminal)}`
}

function routeLines(routes: readonly PublicRouteView[], terminal: Terminal): string {
  const lines = table(
    routes,
    [
      { title: 'method', of: ({ methods }) => methods.join(', ') },
      { title: 'path', of: ({ paths }) => paths[0] },
      { title: 'body', of: ({ reads }) => reads },
      { title: 'limits', of: ({ limits }) => limits },
    ],
    terminal,
  )
  return `\n${terminal.paint('bold', 'Public routes')}\n${lines}`
}

/** By names that stay. */
const routeView = ({ limitNames, ...route }: PublicRouteView): object => ({ ...route, limit_names: limitNames })

export const doctor = command({
  name: 'doctor',
  summary: 'Checks configuration, data folder, storage of files, ledger, providers and models.',
  examples: [['tollgate doctor'], ['tollgate doctor --json | jq \'.checks[] | select(.state != "ok")\'']],
  failure: 'a check failed; warnings alone do not count',
  run: async ({ program, terminal }) => {
    const [{ checks, limits, modelLimits, fixedLimits, limitEffects }, routes] = await Promise.all([
      examine(program),
      program.publicRoutes(),
    ])
    const ok = checks.every(({ state }) => state !== 'fail')
    const text = [
      checkLines(checks, terminal),
      limitLines('Limits', limits, terminal),
      limitLines('Limits of a model without its own', modelLimits, terminal),
      fixedLines({ fixedLimits, limitEffects }, terminal),
      routeLines(routes, terminal),
    ].join('')
    const fixed = { fixed_limits: fixedLimits, limit_effects: limitEffects }
    const lists = { limits, model_limits: modelLimits, ...fixed }
    return {
      ...shown({ ok, checks, ...lists, public_routes: routes.map(routeView) }, text),
      exitCode: ok ? 0 : 1,
    }
  },
})
