import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { describeBlobRowsContract } from './blob-rows-contract.ts'
import { openSqlBlobRows } from './sql-blob-rows.ts'

describeBlobRowsContract('SQLite', onSqlite(openSqlBlobRows))
describeBlobRowsContract('PostgreSQL', onPostgres(openSqlBlobRows))
