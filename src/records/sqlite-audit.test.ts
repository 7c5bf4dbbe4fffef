import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { describeAuditContract } from './audit-contract.ts'
import { openSqliteAudit } from './sqlite-audit.ts'

describeAuditContract('SQLite', onSqlite(openSqliteAudit))
describeAuditContract('PostgreSQL', onPostgres(openSqliteAudit))
