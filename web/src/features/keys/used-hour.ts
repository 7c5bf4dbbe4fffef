import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { relativeHour } from '../../lib/time.ts'
import { HOUR_MS } from '../../lib/units.ts'

type UsedHour = {
  /** `this hour`, `3 hr. ago` */
  readonly ago: (at: string) => string
  /** `Nov 25, 2026, 13:00 – 14:00` */
  readonly hour: (at: string) => string
}

/** The last use of a key is stored by the hour, so no finer time is shown. */
export function useUsedHour(): UsedHour {
  const t = useT()
  const show = useShow()
  return {
    ago: (at) => relativeHour(at, show.language) ?? t('keys.thisHour'),
    hour: (at) => `${show.time(at)} – ${show.time(Date.parse(at) + HOUR_MS, 'hourOnly')}`,
  }
}
