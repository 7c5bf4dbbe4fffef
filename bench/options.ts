/** The bench's command line. */
import { parseArgs } from 'node:util'

const HELP = `npm run bench -- [options]

Measures the cost of relaying a request, with nginx as the floor; the cost of the ledger, with its disk as the floor;
and the time of a start. Prints a table for each kind, with medians over the rounds, and then the bars: met, missed or
not measured.

  --quick          three rounds instead of five, the core cases only: under four minutes
  --only TEXT      only cases whose id (below) contains one of these texts, separated by commas, and all of them.
                   translated: chat clients of a vendor that speaks Messages, beside the same streams passed on
  --rounds N       the number of rounds
  --quiet          waits for quiet moments of the host's memory, and measures busy rounds again, for up to fifteen
                   minutes. The report names what was not measured by then
  --with NAME      adds another gateway, installed into a temporary folder: portkey, litellm. Repeatable.
                   otel is this one with a collector for its traces and metrics.
                   routing-weighted, routing-latency, routing-cost and routing-balanced are this one with three offers
                   workers-1 and workers-2 are this one on a PostgreSQL of its own, with so many processes
  --against PATH   another checkout of this gateway, measured in the same rounds
  --json           prints everything as JSON
  --assert         exits with 1 if a bar is missed
  --bun-arg ARG    an argument before this gateway's program, such as a profiler's switch. Repeatable
  --keep           leaves the folders
  --help

Ids: `

const values = read()

export const options = { ...values, rounds: Number(values.rounds ?? (values.quick ? 3 : 5)) }

function read() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        rounds: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        with: { type: 'string', multiple: true, default: [] },
        against: { type: 'string' },
        json: { type: 'boolean', default: false },
        assert: { type: 'boolean', default: false },
        'bun-arg': { type: 'string', multiple: true, default: [] },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run bench -- --help lists the options.\n`)
    return process.exit(2)
  }
}

const wanted = options.only.split(',')

/** Whether to measure a case: with `--only` those that it names, otherwise all, or the quick ones. */
export const isChosen = ({ id, extent }: { readonly id: string; readonly extent?: 'quick' | 'full' }): boolean =>
  options.only === '' ? !options.quick || extent !== 'full' : wanted.some((text) => id.includes(text))

export const helpText = (ids: readonly string[]): string => `${HELP}${ids.join(', ')}\n`

export const progress = (text: string): void => void process.stderr.write(`${text}\n`)
