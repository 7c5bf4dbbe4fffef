import { failed, type CommandOutcome } from './outcome.ts'

/** Errors by which the program says that it cannot start. Their message says everything. */
const codes: Readonly<Record<string, string>> = {
  ConfigError: 'config_error',
  DeclarationError: 'config_error',
  FolderInUse: 'data_folder_in_use',
  SecretMismatch: 'secret_mismatch',
  DatabaseTooNew: 'database_too_new',
}

/** Whether a command failed before it could have done anything. */
export const isEarly = (error: unknown): boolean => error instanceof Error && Object.hasOwn(codes, error.name)

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The failure that reports an exception. The stack is for a bug report, and is shown on demand. */
export function failureOf(error: unknown): CommandOutcome {
  const code = error instanceof Error ? codes[error.name] : undefined
  if (code !== undefined) return failed(code, messageOf(error))
  if (process.env['TOLLGATE_LOG'] === 'debug' && error instanceof Error)
    return failed('unexpected', error.stack ?? error.message)
  const { syscall, code: cause } = error as { syscall?: unknown; code?: unknown }
  if (cause === 'SQLITE_FULL' || cause === 'ENOSPC') {
    const message =
      'the disk of the data folder is full: free some space and start again; everything that was answered is on disk'
    return failed('disk_full', message)
  }
  if (error instanceof Error && error.name === 'PostgresError')
    return failed('database_error', `the database of TOLLGATE_DATABASE_URL: ${error.message}`)
  // A message of the system, such as "EACCES: permission denied, mkdir …", needs no stack.
  if (syscall !== undefined) return failed('system_error', messageOf(error))
  return failed('unexpected', `${messageOf(error)} (TOLLGATE_LOG=debug shows the stack)`)
}
