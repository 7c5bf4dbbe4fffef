/** Server settings as names and values. Every name has a text in every language. */
import { server } from '../lib/i18n/en/server.ts'
import { useRetell, useT } from '../lib/language.ts'
import { bytes } from '../lib/bytes.ts'
import { useShow } from '../lib/show.ts'
import { duration, period } from '../lib/time.ts'
import { Facts } from '../ui/page.tsx'

/** The texts are loaded here, because only operators see them. */
const english: Readonly<Record<string, string>> = server

type Settings = Readonly<Record<string, unknown>>
const isGroup = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `group`: the prefix of the names, as in `limits.drainMs`. */
export function SettingsList({ settings, group = '' }: { readonly settings: Settings; readonly group?: string }) {
  const retell = useRetell()
  const valueOf = useValue()
  const wordsFor = (name: string): string => {
    const reason = group + name
    // A newer server may send a name that this page does not know. The name itself is shown.
    return retell('server', { reason }) ?? english[reason] ?? name
  }
  const entries = Object.entries(settings)
  return (
    <>
      <Facts
        isEven
        rows={entries
          .filter(([, value]) => !isGroup(value))
          .map(([name, value]) => [
            wordsFor(name),
            <span key={name} title={`${name}: ${JSON.stringify(value)}`}>
              {valueOf(name, value)}
            </span>,
          ])}
      />
      {entries.flatMap(([name, value]) =>
        isGroup(value)
          ? [
              <section key={name} className="mt-5">
                <h2 className="mb-2 border-b pb-1 font-semibold">{wordsFor(name)}</h2>
                <SettingsList settings={value} group={`${group}${name}.`} />
              </section>,
            ]
          : [],
      )}
    </>
  )
}

/** A number has the unit that its name ends in. */
function useValue(): (name: string, value: unknown) => string {
  const t = useT()
  const show = useShow()
  return (name, value) => {
    if (value === null || value === undefined || value === '') return '—'
    if (typeof value === 'boolean') return t(value ? 'yes' : 'no')
    if (Array.isArray(value)) return value.join(', ') || '—'
    if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value)
    if (name.endsWith('Ms')) return period(value)
    if (name.endsWith('_s')) return duration(value * 1_000)
    if (name === 'memoryBytesMax' && value === 0) return t('gateway.machineMemory')
    if (/bytes/i.test(name)) return bytes(value)
    // A port and a process id are numbers without a unit.
    return /^(?:port|pid)$/.test(name) ? String(value) : show.number(value)
  }
}
