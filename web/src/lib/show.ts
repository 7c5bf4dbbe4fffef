/** Numbers and times in the language and zone of whoever looks. */
import { useLanguage } from './i18n/language.ts'
import { usePreferences } from './preferences.ts'
import { relativeTime, showTime, type Zone } from './time.ts'

/** One formatter each: a column of numbers would spend its time on making them. */
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
  /** `1.2M`, for places where the last digits do not matter; the full number belongs in a title. */
  readonly compact: (value: number) => string
  readonly percent: (share: number) => string
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
    percent: (share) => format(language, { style: 'percent', maximumFractionDigits: 1 }).format(share),
    time: (at, shape = 'long') => showTime(at, shape, { language, zone }),
    ago: (at) => relativeTime(at, language),
  }
}
