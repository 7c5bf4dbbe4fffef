import type { Task } from '../../lib/api-types.gen.ts'
import type { MadePicture } from '../../lib/made.ts'
import { videoAddress } from '../../parts/player.tsx'
import { Icon } from '../../ui/icon.tsx'
import { hasFile } from '../../lib/tasks.ts'

type Props = {
  readonly task: Task
  readonly made: readonly MadePicture[]
  /** A frame of a video requires loading the start of the file, which has a limit per minute. */
  readonly canFetch: boolean
}

const look = 'flex h-9 w-14 items-center justify-center overflow-hidden rounded bg-sunken text-soft'

/** A small preview of a task: images of this tab, frames of videos, otherwise an icon. */
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
