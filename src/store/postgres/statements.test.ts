import { Glob, SQL } from 'bun'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTestPostgres } from '../../../test/support/postgres.ts'
import { registeredStatements } from '../statement.ts'
import { must } from './batch.ts'
import { migratePostgres } from './migrate.ts'
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
