/**
 * A query that fails with a division by zero unless it changes exactly `changes` rows, a number or a value such as
 * `$2`. `also` is evaluated with it.
 */
export function must(
  query: string,
  changes: number | `$${number}`,
  { returns = [], also }: { readonly returns?: readonly string[] | undefined; readonly also?: string } = {},
): string {
  const columns = returns.map((name) => `max(${name}) AS ${name}, `).join('')
  return `WITH changed AS (${query} RETURNING ${returns.join(', ') || 1})
    SELECT ${columns}1 / (count(*) = ${changes}::bigint)::int AS met${also ? `, ${also}` : ''} FROM changed`
}
