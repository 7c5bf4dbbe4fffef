/** Shown when a page does not exist or could not be drawn. */
import { Link } from '@tanstack/react-router'
import { useT } from '../lib/language.ts'

const frame = 'mx-auto max-w-md px-4 py-16 text-center'

export function Missing() {
  const t = useT()
  return (
    <main className={frame}>
      <h1 className="text-lg font-semibold">{t('missing.title')}</h1>
      <p className="mt-1 text-soft">{t('missing.text')}</p>
      <Link to="/" className="mt-4 inline-block text-accent underline">
        {t('missing.home')}
      </Link>
    </main>
  )
}

export function Broken({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const t = useT()
  return (
    <main className={frame} role="alert">
      <h1 className="text-lg font-semibold">{t('broken.title')}</h1>
      <p className="mt-1 break-words text-soft">{error instanceof Error ? error.message : String(error)}</p>
      <button type="button" onClick={reset} className="mt-4 min-h-8 text-accent underline">
        {t('retry')}
      </button>
    </main>
  )
}
