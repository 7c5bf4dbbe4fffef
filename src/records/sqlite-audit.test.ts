import { onSqlite } from '../store/sqlite-contract.ts'
import { describeAuditContract } from './audit-contract.ts'
import { openSqliteAudit } from './sqlite-audit.ts'

describeAuditContract('SQLite', onSqlite(openSqliteAudit))
