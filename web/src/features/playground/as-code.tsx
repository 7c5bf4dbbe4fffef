import { useState } from 'react'
import { useT } from '../../lib/language.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { Segments } from '../../ui/field.tsx'
import { CodeBlock } from '../../ui/text.tsx'
import { codeOf, codeTools, shortened, type CodeTool } from './code.ts'

/** The exact request. Images are shortened on the screen only. A copy has them whole. */
export function AsCode({ body }: { readonly body: Readonly<Record<string, unknown>> }) {
  const t = useT()
  const me = useMe()
  const [tool, setTool] = useState<CodeTool>('curl')
  const code = codeOf(tool, { baseUrl: clientBaseUrl(me), body })
  return (
    <div className="space-y-3">
      <Segments name={t('play.code')} value={tool} choices={codeTools} onChoose={setTool} />
      <CodeBlock label={t('play.code')} text={shortened(code)} onCopy={code} />
    </div>
  )
}
