/** The frame of the pages before the sign-in. */
import type { ReactNode } from 'react'
import { chooseLanguage, useLanguage } from '../../lib/language.ts'

export function SignInFrame({
  title,
  hint,
  children,
}: {
  readonly title: string
  readonly hint?: string
  readonly children: ReactNode
}) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center px-4 py-10">
      <p className="mb-6 flex items-center gap-2 text-base font-semibold">
        <img src="./icon.svg" alt="" className="size-6" />
        Tollgate
      </p>
      <div className="rounded-lg border bg-panel p-5">
        <h1 className="text-lg leading-7 font-semibold">{title}</h1>
        {hint && <p className="mt-1 text-soft">{hint}</p>}
        <div className="mt-4">{children}</div>
      </div>
      <p className="mt-3 text-right">
        <LanguageButton />
      </p>
    </main>
  )
}

/** The other language. */
export function LanguageButton() {
  const { language } = useLanguage()
  const other = language === 'en' ? 'zh-CN' : 'en'
  return (
    <button
      type="button"
      lang={other}
      onClick={() => void chooseLanguage(other)}
      className="min-h-6 px-1 text-soft hover:text-ink"
    >
      {other === 'en' ? 'English' : '简体中文'}
    </button>
  )
}
