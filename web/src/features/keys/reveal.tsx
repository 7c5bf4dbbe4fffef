import { useState } from 'react'
import type { NewApiKey } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Segments } from '../../ui/field.tsx'
import { CodeBlock, useCopy } from '../../ui/text.tsx'
import { snippetOf, tools, type Tool } from './snippets.ts'
import { TestCall } from './test-call.tsx'

type Props = { readonly account: string; readonly made: NewApiKey; readonly onTaken: () => void }

/** Shows the key once. It is blurred until the user reveals it, and can be copied while it is blurred. */
export function Reveal({ account, made, onTaken }: Props) {
  const t = useT()
  const me = useMe()
  const [isSeen, setSeen] = useState(false)
  const [tool, setTool] = useState<Tool>('curl')
  const [model, setModel] = useState<string>()
  const { isCopied, copy } = useCopy()
  const facts = { baseUrl: clientBaseUrl(me), model: model ?? 'MODEL' }
  const take = async (): Promise<void> => {
    if (await copy(made.secret)) onTaken()
    else setSeen(true)
  }
  return (
    <div className="space-y-4">
      <div>
        <p className="mb-2">{t('keys.once')}</p>
        <div className="flex items-center gap-1 rounded-md border bg-sunken p-1.5 pl-3">
          <code
            data-private
            aria-label={isSeen ? undefined : t('keys.hidden')}
            className={`min-w-0 grow font-mono text-xs break-all ${isSeen ? '' : 'blur-[5px] select-none'}`}
          >
            {isSeen ? made.secret : `${made.secret.slice(0, 6)}${'•'.repeat(43)}`}
          </code>
          <IconButton
            icon="eye"
            label={isSeen ? t('keys.hide') : t('keys.show')}
            aria-pressed={isSeen}
            onClick={() => {
              setSeen(!isSeen)
              onTaken()
            }}
          />
          <Button kind="primary" icon={isCopied ? 'check' : 'copy'} onClick={() => void take()}>
            <span aria-live="polite">{isCopied ? t('copied') : t('keys.copy')}</span>
          </Button>
        </div>
      </div>
      <TestCall account={account} secret={made.secret} onModel={setModel} />
      <div className="space-y-2">
        <Segments name={t('keys.tool')} choices={tools} value={tool} onChoose={setTool} />
        <CodeBlock
          label={t('keys.snippet')}
          text={snippetOf(tool, { ...facts, key: made.key })}
          onCopy={snippetOf(tool, { ...facts, key: made.secret })}
        />
        <p className="text-xs text-soft">{t('keys.snippetHint')}</p>
      </div>
    </div>
  )
}
