/**
 * Possible bugs of instances that share a database, each as an edit of the sources, and the scene that must find it.
 */
import type { Mutant } from '../histories/mutants.ts'

export type ClusterMutant = Mutant & { readonly scene: string }

const WRITER = 'src/store/postgres/writer.ts'
const INSTANCE = 'src/store/postgres/instance.ts'

export const clusterMutants: readonly ClusterMutant[] = [
  {
    name: 'nobody waits for the barrier',
    scene: 'barrier',
    edits: [{ file: WRITER, from: 'return allEnded([...sent, this.barrier()])', to: 'return allEnded(sent)' }],
  },
  {
    name: 'the barrier comes before the commit',
    scene: 'barrier',
    edits: [
      {
        file: WRITER,
        from: '...(isWhole ? [] : [this.commitTransaction()])',
        to: '...(isWhole ? [] : [this.barrier(), this.commitTransaction()])',
      },
      { file: WRITER, from: 'return allEnded([...sent, this.barrier()])', to: 'return allEnded(sent)' },
    ],
  },
  {
    name: 'a commit that is seen is told before it is flushed',
    scene: 'barrier',
    edits: [{ file: WRITER, from: '        await this.barrier()\n        this.confirm', to: '        this.confirm' }],
  },
  {
    name: 'an instance that was declared dead still writes',
    scene: 'dead',
    edits: [{ file: INSTANCE, from: 'batch = $3 AND ${LIVES}`', to: 'batch = $3`' }],
  },
  {
    name: 'a batch is written although a former try of it was',
    scene: 'twice',
    edits: [{ file: INSTANCE, from: 'WHERE id = $1 AND batch = $3 AND', to: 'WHERE id = $1 AND $3::bigint >= 0 AND' }],
  },
  {
    name: 'rows are locked in the order of the requests',
    scene: 'locks',
    edits: [
      {
        file: 'src/store/postgres/batch.ts',
        from: 'return sums.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))',
        to: 'return sums',
      },
    ],
  },
  {
    name: 'an instance is declared dead by a clock',
    scene: 'clock',
    edits: [
      {
        file: 'src/store/postgres/silence-watch.ts',
        from: 'else if (nowMs - seen.sinceMs >= silentMs)',
        to: 'if (Date.now() - Date.parse(beat) >= silentMs)',
      },
    ],
  },
  {
    name: 'a meter is read, and then written',
    scene: 'meter',
    edits: [
      {
        file: 'src/accounts/limit-counter-rows.ts',
        from: 'WHERE m.id = ?1 AND (${CHECKED} = 0 OR (',
        to: 'WHERE m.id = ?1 AND (${CHECKED} >= 0 OR (',
      },
    ],
  },
]
