import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { describeAuditContract } from './audit-contract.ts'
import { openSqlAudit } from './sql-audit.ts'

describeAuditContract('SQLite', onSqlite(openSqlAudit))
describeAuditContract('PostgreSQL', onPostgres(openSqlAudit))
