/** The bench's command line. */
import { parseArgs } from 'node:util'

const HELP = `npm run bench -- [options]

What relaying a request costs, beside nginx as the floor; what the ledger costs, beside its disk; how long a start takes.
A table for each kind, medians over the rounds, then the bars: met, missed or not measured.

  --quick          three rounds instead of five, the core cases only: under four minutes
  --only TEXT      only what has one of these texts, parted by commas, in its id (below), and all of that. translated:
                   chat clients of a vendor that speaks Messages, beside the same streams passed on
  --rounds N       so many rounds
  --quiet          waits for quiet moments of the host's memory, and measures rounds again in which it was busy: for up to
                   fifteen minutes. What is not measured then is said to be so
  --with NAME      another gateway beside ours, installed into a temporary folder: portkey, litellm. Repeatable
  --against PATH   another checkout of this gateway, measured in the same rounds
  --json           everything as JSON
  --assert         exit code 1 when a bar is missed
  --bun-arg ARG    before the program of ours: a profiler's switch, say. Repeatable
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
    process.stderr.write(`${(error as Error).message}\nnpm run bench -- --help says what there is.\n`)
    return process.exit(2)
  }
}

const wanted = options.only.split(',')

/** Whether a case is to be measured: with `--only` those that it names, else all, or the quick ones. */
export const isChosen = ({ id, extent }: { readonly id: string; readonly extent?: 'quick' | 'full' }): boolean =>
  options.only === '' ? !options.quick || extent !== 'full' : wanted.some((text) => id.includes(text))

export const helpText = (ids: readonly string[]): string => `${HELP}${ids.join(', ')}\n`

export const progress = (text: string): void => void process.stderr.write(`${text}\n`)
