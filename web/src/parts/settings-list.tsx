import { Facts } from '../ui/page.tsx'

/** Names and values as the server gives them. */
export function SettingsList({ settings }: { readonly settings: Readonly<Record<string, unknown>> }) {
  const rows = rowsOf(settings)
  return (
    <Facts
      rows={rows.map(([name, value]) => [
        name.replaceAll('_', ' '),
        <code key={name} className="font-mono text-xs break-all">
          {value}
        </code>,
      ])}
    />
  )
}

function rowsOf(settings: Readonly<Record<string, unknown>>, before = ''): readonly (readonly [string, string])[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const whole = before + name
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return rowsOf(value as Readonly<Record<string, unknown>>, `${whole} · `)
    }
    const text =
      value === null || value === undefined || value === ''
        ? '—'
        : Array.isArray(value)
          ? value.join(', ') || '—'
          : typeof value === 'string'
            ? value
            : JSON.stringify(value)
    return [[whole, text] as const]
  })
}
