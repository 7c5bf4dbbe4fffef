import type { Edit } from '../../support/sources.ts'

const WRITER_THREAD = 'src/store/writer-worker.ts'

/** Puts the database that fails on purpose into the writer thread. */
export const faultyWriter: Edit = {
  file: WRITER_THREAD,
  from: "import { Database, type Statement as Prepared } from 'bun:sqlite'",
  to: `import type { Statement as Prepared } from 'bun:sqlite'
import { FaultyDatabase as Database } from '../../test/operations/faults/faulty-database.ts'`,
}

/** The log is put away every few commits, so that kills meet it in all its states. */
export const frequentCheckpoints: Edit = {
  file: WRITER_THREAD,
  from: 'PRAGMA wal_autocheckpoint = 4000',
  to: 'PRAGMA wal_autocheckpoint = 40',
}
