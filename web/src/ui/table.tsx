/**
 * Tables. The API sorts and pages lists, so a table only draws them. A row that can be opened has one link or button,
 * which is the target of the keyboard. With a pointer the whole row is the target.
 */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type Column<T> = {
  readonly key: string
  readonly head: ReactNode
  readonly cell: (row: T) => ReactNode
  /** The total below the rows. If one column has a total, the first column names the row. */
  readonly foot?: ReactNode
  /** Numbers and money are aligned to the right. */
  readonly align?: 'right'
  /** Hidden in a narrow window. */
  readonly isOptional?: boolean
  readonly className?: string
}

const cellClass = (column: Column<never>): string =>
  classes(
    'h-8 px-2 py-1 first:pl-4 last:pr-4 sm:px-3',
    column.align === 'right' ? 'text-right' : 'text-left',
    column.isOptional === true && 'hidden md:table-cell',
    column.className,
  )

export function Table<T>({
  label,
  columns: all,
  rows,
  keyOf,
  rowClass,
}: {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly rowClass?: (row: T) => string | undefined
}) {
  // If optional columns are hidden, another column is the last one, with the same distance to the border.
  const last = all.findLast(({ isOptional }) => isOptional !== true)
  const columns = all.map((one) => (one === last ? { ...one, className: classes(one.className, 'max-md:!pr-4') } : one))
  return (
    <div className="scroll-x relative overflow-x-auto rounded-[inherit]" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full border-collapse">
        <thead className="border-b text-xs text-soft">
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classes(cellClass(column), 'font-medium whitespace-nowrap')}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={classes('border-b last:border-0 hover:bg-hover', rowClass?.(row))}>
              {columns.map((column) => (
                <td key={column.key} className={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ foot }) => foot !== undefined) && (
          <tfoot className="border-t font-semibold">
            <tr>
              {columns.map((column, at) => {
                const Cell = at === 0 ? 'th' : 'td'
                return (
                  <Cell key={column.key} scope={at === 0 ? 'row' : undefined} className={cellClass(column)}>
                    {column.foot}
                  </Cell>
                )
              })}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}
