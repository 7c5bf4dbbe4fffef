/** Connections to PostgreSQL, by Bun's own client. */
import { SQL } from 'bun'

/** Behind a pooler in transaction mode, a prepared statement may be missing on the next connection. */
const PREPARE = 'prepare'

/** Whether statements are prepared, and a connection stays with the same one of the server. */
export const isPrepared = (url: string): boolean => new URL(url).searchParams.get(PREPARE) !== 'false'

/**
 * Opens up to `max` connections, each when first needed. `?prepare=false` in the URL is for a pooler such as PgBouncer
 * in transaction mode.
 */
export function openClient(url: string, name: string, { max }: { readonly max: number }): SQL {
  const given = new URL(url)
  given.searchParams.delete(PREPARE)
  return new SQL(given.href, {
    max,
    prepare: isPrepared(url),
    bigint: true,
    connectionTimeout: CONNECT_TIMEOUT_S,
    connection: { application_name: `tollgate ${name}` },
  })
}

const CONNECT_TIMEOUT_S = 5

/** What PostgreSQL or the client says of a failed query. */
export type DatabaseError = {
  readonly message: string
  /** The kind of error of the client, such as `ERR_POSTGRES_SERVER_ERROR`. */
  readonly code?: string
  /** The code of PostgreSQL, such as `23505`. Undefined if the server did not answer. */
  readonly errno?: string
  readonly constraint?: string
}
