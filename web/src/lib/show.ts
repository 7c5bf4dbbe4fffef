/** Numbers and times in the language and time zone of the user. */
import { useLanguage } from './language.ts'
import { usePreferences } from './preferences.ts'
import { relativeTime, showTime, type Zone } from './time.ts'

/** A share of a whole. */
const LEAST_SHARE = 0.001

/** Formatters are kept. Creating one for each number of a column would be slow. */
const formats = new Map<string, Intl.NumberFormat>()
function format(language: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const name = `${language} ${JSON.stringify(options)}`
  const made = formats.get(name) ?? new Intl.NumberFormat(language, options)
  formats.set(name, made)
  return made
}

export type Show = {
  readonly language: string
  readonly zone: Zone
  readonly number: (value: number | string | bigint) => string
  /** `1.2M`, where the last digits do not matter. A title has the full number. */
  readonly compact: (value: number) => string
  /** Never 0 % or 100 % unless that is exact. */
  readonly percent: (share: number) => string
  /** Tenths of a day below ten, whole days above. */
  readonly days: (days: number) => string
  readonly time: (at: string | number | Date, shape?: Parameters<typeof showTime>[1]) => string
  readonly ago: (at: string | number) => string
}

export function useShow(): Show {
  const { language } = useLanguage()
  const zone = usePreferences().zone ?? 'local'
  return {
    language,
    zone,
    number: (value) => format(language).format(typeof value === 'string' ? BigInt(value) : value),
    compact: (value) =>
      format(language, { notation: 'compact', maximumFractionDigits: 1, useGrouping: true }).format(value),
    percent: (share) => {
      const text = (value: number): string =>
        format(language, { style: 'percent', maximumFractionDigits: 1 }).format(value)
      if (share > 0 && share < LEAST_SHARE / 2) return `< ${text(LEAST_SHARE)}`
      return text(share < 1 && share >= 1 - LEAST_SHARE / 2 ? 1 - LEAST_SHARE : share)
    },
    days: (days) => format(language, { maximumFractionDigits: days < 10 ? 1 : 0 }).format(days),
    time: (at, shape = 'long') => showTime(at, shape, { language, zone }),
    ago: (at) => relativeTime(at, language),
  }
}
