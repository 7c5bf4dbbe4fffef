/**
 * A database that fails on purpose. A copy of the writer thread imports it in the place of bun:sqlite's (see
 * writer-faults.ts), so that the product needs no switch for it. The environment says when and how:
 * TOLLGATE_FAULT_AT counts calls from 1; TOLLGATE_FAULT_MODE is one of `FaultMode`; TOLLGATE_FAULT_COUNT names a file
 * for the number of calls there were.
 */
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'

/**
 * `before`: the call fails and has done nothing. `after`: it has done its work and is reported as failed, as when the
 * answer of a disk is lost. `from`: this call and every later one fail, as on a disk that is full.
 */
export type FaultMode = 'before' | 'after' | 'from'

const at = Number(process.env['TOLLGATE_FAULT_AT'] ?? 0)
const mode = (process.env['TOLLGATE_FAULT_MODE'] ?? 'before') as FaultMode
const countFile = process.env['TOLLGATE_FAULT_COUNT']

class DiskError extends Error {
  override readonly name = 'SQLiteError'
  readonly code = 'SQLITE_IOERR_WRITE'
}

let calls = 0

function attempt<T>(call: () => T): T {
  calls++
  const isHit = calls === at || (mode === 'from' && at > 0 && calls > at)
  if (isHit && mode !== 'after') throw new DiskError(`call ${calls} fails on purpose`)
  const result = call()
  if (isHit) throw new DiskError(`call ${calls} fails on purpose, too late`)
  return result
}

export class FaultyDatabase extends Database {
  override exec(sql: string): ReturnType<Database['exec']> {
    return attempt(() => super.exec(sql))
  }

  override prepare<Returned, Bound extends SQLQueryBindings | SQLQueryBindings[]>(sql: string, params?: Bound) {
    const statement = super.prepare<Returned, Bound>(sql, params)
    const run = statement.run.bind(statement)
    statement.run = (...bind) => attempt(() => run(...bind))
    return statement
  }

  override close(): void {
    if (countFile) writeFileSync(countFile, String(calls))
    super.close()
  }
}
