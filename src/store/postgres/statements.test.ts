import { Glob, SQL } from 'bun'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTestPostgres } from '../../../test/support/postgres.ts'
import { registeredStatements } from '../statement.ts'
import { SETTINGS } from './connection.ts'
import { must } from './must.ts'
import { migratePostgres } from './migrate.ts'
import { setFormOf } from './set-form.ts'
import { textOfStatement } from './text.ts'

const SRC = join(import.meta.dir, '../..')
const REGISTERS = /\b(?:statement|addingStatement|readingStatement|rowStatement|updatingStatement|racingStatement)\(/
/** What is never sent to PostgreSQL: pragmas, and sums by the hour without a shard. */
const ONLY_SQLITE = /^PRAGMA |^INSERT INTO usage_hour \((?!.*\bshard\b)/s

/** The files of the product that register statements. */
const owners = [...new Glob('**/*.ts').scanSync(SRC)].filter(
  (path) => !/(?:test|contract|worker)\.ts$/.test(path) && REGISTERS.test(readFileSync(join(SRC, path), 'utf8')),
)

test('PostgreSQL takes every statement that a repository has', async () => {
  for (const path of owners) await import(join(SRC, path))
  const statements = registeredStatements().filter(({ sql }) => !ONLY_SQLITE.test(sql))
  expect(statements.length).toBeGreaterThan(80)
  const database = await openTestPostgres()
  const client = new SQL(database.url, { max: 1 })
  await migratePostgres(client)
  const refused: string[] = []
  for (const statement of statements) {
    const text = textOfStatement(statement)
    // A step may have a condition on the number of its changes. A text that begins with WITH or SELECT can have none.
    const forms = /^(?:WITH|SELECT) /.test(text) ? [text] : [text, must(text, 1)]
    for (const [i, form] of forms.entries()) {
      await client
        .unsafe(`PREPARE statement_${statement.slot}_${i} AS ${form}`)
        .simple()
        .catch((error: Error) => refused.push(`${error.message}: ${form}`))
    }
  }
  await client.close()
  await database.close()
  expect(refused).toEqual([])
})

test('rows that a batch changes are found by their key, even if the plan was made for an empty table', async () => {
  await import('../../ledger/steps.ts')
  const sets = registeredStatements().filter(({ sql, types }) => types && sql.startsWith('UPDATE hold'))
  expect(sets.length).toBeGreaterThan(1)
  const database = await openTestPostgres()
  const client = new SQL(database.url, { max: 1 })
  await migratePostgres(client)
  await client.unsafe(SETTINGS).simple()
  for (const statement of sets) {
    const name = `set_${statement.slot}`
    await client.unsafe(`PREPARE ${name} AS ${must(setFormOf(statement), 1)}`).simple()
    const values = statement.types?.map(() => "'{}'").join(', ')
    const plan = (await client.unsafe(`EXPLAIN EXECUTE ${name} (${values})`).simple()) as Record<string, string>[]
    const scans = plan.flatMap((line) => Object.values(line)).filter((line) => / (?:Scan|Materialize)\b/.test(line))
    expect(scans.map((line) => line.replace(/ +\(cost=.*/, '').replace(/^.*-> +/, ''))).toEqual([
      'Function Scan on each',
      'Index Scan using "hold(id)" on hold',
      'CTE Scan on changed',
    ])
  }
  await client.close()
  await database.close()
})
