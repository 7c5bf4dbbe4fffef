import type { ReactNode } from 'react'
import { useT } from '../lib/language.ts'
import type { Rows } from '../lib/lists.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Failure, Panel, Waiting } from '../ui/page.tsx'
import { ListFoot } from './list-foot.tsx'
import { SearchField } from './search-field.tsx'

type Props<Row> = {
  readonly title: string
  /** The label of the button that adds an item. */
  readonly add: string
  readonly onAdd: () => void
  readonly list: Rows<Row>
  readonly search: string | undefined
  readonly onSearch: (text: string | undefined) => void
  /** The route that finds the owner of a secret pasted into the search. */
  readonly lookUpAt?: string | undefined
  /** The text of an empty list. */
  readonly empty: string
  /** The error of the last change. */
  readonly problem: Error | null
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** A list with a search and an add button, in all of its states. */
export function ListPanel<Row>({ title, add, onAdd, list, empty, problem, children, ...searching }: Props<Row>) {
  const t = useT()
  const { rows, error, refetch } = list
  const { search, onSearch, lookUpAt } = searching
  const failure = error ?? problem
  return (
    <>
      <Panel
        isFlush
        title={title}
        tools={
          <>
            <SearchField
              name={t('list.search', { what: title })}
              hint={t('list.searchHint')}
              value={search}
              onSearch={onSearch}
              {...(lookUpAt !== undefined && { lookUpAt })}
            />
            <Button kind="primary" icon="plus" onClick={onAdd}>
              {add}
            </Button>
          </>
        }
      >
        {failure && (
          <div className="p-4">
            <Failure error={failure} onRetry={error ? refetch : undefined} />
          </div>
        )}
        {!rows && !failure && <Waiting />}
        {rows?.length === 0 && <Empty>{search === undefined ? empty : t('list.noneFit')}</Empty>}
        {rows && rows.length > 0 && children(rows)}
      </Panel>
      <ListFoot list={list} />
    </>
  )
}
