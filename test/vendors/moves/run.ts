/**
 * bun test/vendors/moves/run.ts COUNT SEED: plays random conversations and prints one line of JSON. It is a
 * program, so that it can run on a copy of the sources with a bug in it (mutants.ts).
 */
import { playMany } from './many.ts'

const [count = 500, seed = 1] = process.argv.slice(2).map(Number)
console.log(JSON.stringify(await playMany(count, seed)))
