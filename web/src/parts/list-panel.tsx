import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Empty, Failure, Panel, Waiting } from '../ui/page.tsx'

type Props<Row> = {
  readonly title: string
  /** What the button says that adds to it. */
  readonly add: string
  readonly onAdd: () => void
  /** Undefined: not read yet. */
  readonly rows: readonly Row[] | undefined
  /** Said where there are none. */
  readonly empty: string
  /** What went wrong, in reading it or in changing it; `onRetry` where it can be read again. */
  readonly problem: Error | null
  readonly onRetry: (() => unknown) | undefined
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** A list that can be added to, in whichever state it is. */
export const ListPanel = <Row,>({ title, add, onAdd, rows, empty, problem, onRetry, children }: Props<Row>) => (
  <Panel
    isFlush
    title={title}
    tools={
      <Button kind="primary" icon="plus" onClick={onAdd}>
        {add}
      </Button>
    }
  >
    {problem && (
      <div className="p-4">
        <Failure error={problem} onRetry={onRetry} />
      </div>
    )}
    {!rows && !problem && <Waiting />}
    {rows?.length === 0 && <Empty>{empty}</Empty>}
    {rows && rows.length > 0 && children(rows)}
  </Panel>
)
