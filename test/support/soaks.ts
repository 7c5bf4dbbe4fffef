/**
 * The number of repetitions of each proof. soaks.json has it, for the tests and for `npm run soak`. A test reads its
 * count and its seed here. The soak runs the same file repeatedly with its own counts.
 */
import soaks from '../soaks.json' with { type: 'json' }

/** The count of a soak in this run: what its variable says, or the short form. */
export function countOf(name: string): number {
  const soak = soaks.find((one) => one.name === name)
  if (!soak) throw new Error(`soaks.json has no '${name}'`)
  const given = process.env[soak.variable]
  const count = given === undefined ? soak.ci : Number(given)
  if (!Number.isInteger(count) || count < 1) throw new Error(`${soak.variable} must be a positive number`)
  return count
}

/** A new seed in every run, or the one to repeat. Tests print theirs when they fail. */
export const seedOfRun = (): number => Number(process.env['TOLLGATE_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** One line of what a proof has seen. `npm run soak` repeats it in its table. */
export const reportFigure = (text: string): void => console.log(`figure: ${text}`)
