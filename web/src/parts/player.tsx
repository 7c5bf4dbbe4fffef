/** A finished video. Its URL gives access to it, so only the player has it. */
import { useT } from '../lib/language.ts'
import { buttonClass } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'

export const videoAddress = (task: string): string =>
  new URL(`../v1/videos/${encodeURIComponent(task)}/content`, document.baseURI).href

export function Player({ task }: { readonly task: string }) {
  const t = useT()
  const address = videoAddress(task)
  return (
    <div className="space-y-2">
      {/* Generated videos have no captions. */}
      <video
        src={address}
        controls
        preload="metadata"
        aria-label={t('task.video')}
        className="max-h-[60vh] w-full rounded-md bg-[black]"
      />
      <a href={address} download={`${task}.mp4`} className={buttonClass()}>
        <Icon name="download" />
        {t('task.download')}
      </a>
    </div>
  )
}
