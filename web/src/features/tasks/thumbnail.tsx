import type { Task } from '../../lib/api-types.gen.ts'
import type { MadePicture } from '../../lib/made.ts'
import { videoAddress } from '../../parts/player.tsx'
import { Icon } from '../../ui/icon.tsx'
import { hasFile } from '../../lib/tasks.ts'

type Props = {
  readonly task: Task
  readonly made: readonly MadePicture[]
  /** A frame of a video means fetching its beginning, which is allowed so often a minute. */
  readonly canFetch: boolean
}

const look = 'flex h-9 w-14 items-center justify-center overflow-hidden rounded bg-sunken text-soft'

/** What came of a task, as small as it can be told apart: pictures of this tab, frames of videos, otherwise a sign. */
export function Thumbnail({ task, made, canFetch }: Props) {
  const picture = made.find(({ requestId }) => requestId === task.request)?.pictures[0]
  if (picture) return <img src={picture.address} alt="" className={`${look} object-cover`} />
  if (canFetch && hasFile(task)) {
    return (
      <video
        src={`${videoAddress(task.id)}#t=0.1`}
        preload="metadata"
        muted
        tabIndex={-1}
        aria-hidden="true"
        className={`${look} object-cover`}
      />
    )
  }
  return (
    <span className={look}>
      <Icon name={task.kind === 'image' ? 'image' : 'tasks'} />
    </span>
  )
}
