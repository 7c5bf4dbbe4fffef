/**
 * Translates violations of the schema into the values that the SQLite store uses. The schema names each unique key by
 * its table and columns, such as `saved_view(user_id, name)`.
 */
import type { Constraint, ConstraintViolation } from '../statement.ts'
import type { DatabaseError } from './client.ts'

const UNIQUE_VIOLATION = '23505'
const isConstraint = (name: string): name is Constraint => /^\w+\(.+\)$/.test(name)

export const violationOf = ({ errno, constraint = '' }: DatabaseError): ConstraintViolation | undefined =>
  errno === UNIQUE_VIOLATION && isConstraint(constraint) ? { constraint } : undefined
