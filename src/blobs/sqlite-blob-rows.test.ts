import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { describeBlobRowsContract } from './blob-rows-contract.ts'
import { openSqliteBlobRows } from './sqlite-blob-rows.ts'

describeBlobRowsContract('SQLite', onSqlite(openSqliteBlobRows))
describeBlobRowsContract('PostgreSQL', onPostgres(openSqliteBlobRows))
