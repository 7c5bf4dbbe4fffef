import { useShow } from '../lib/show.ts'
import type { Step } from '../lib/usage.ts'

/** Labels of a time axis: hours for one day, otherwise days at their start. */
export function useTicks(times: readonly number[], step: Step): readonly string[] {
  const show = useShow()
  if (step === 'day') return times.map((time) => show.time(time, 'shortDay'))
  if (times.length <= 48) return times.map((time) => show.time(time, 'hourOnly'))
  const days = times.map((time) => show.time(time, 'shortDay'))
  return days.map((day, at) => (at > 0 && day !== days[at - 1] ? day : ''))
}
