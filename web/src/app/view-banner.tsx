import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../lib/api.ts'
import { useT } from '../lib/i18n/language.ts'
import { sessionQuery, useMe, type Me } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { queryClient } from './queries.ts'

/** Where the name stands in the sentence: in none is there a break of a line. */
const NAME = '\n'

/** An operator who looks at an account as its members do is told so on every page. */
export function ViewBanner() {
  const t = useT()
  const me = useMe()
  const navigate = useNavigate()
  const end = useMutation({
    mutationFn: () => api.remove<Me>('session/view-as'),
    onSuccess: async (next) => {
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, next)
      await navigate({ to: '/operator/accounts' })
    },
  })
  if (!me.view_as) return null
  const name = me.account?.name ?? ''
  const [before, after] = t('view.banner', { name: NAME }).split(NAME)
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b bg-warn-soft px-4 py-1.5 text-warn"
    >
      <span className="min-w-0 grow basis-48">
        {before}
        {/* So much of it leaves the sentence in sight, above every page; whoever hears the page hears all of it. */}
        <span title={name} className="inline-block max-w-[min(32ch,100%)] truncate align-bottom">
          {name}
        </span>
        {after}
      </span>
      <Button onClick={() => end.mutate()} busy={end.isPending}>
        {t('view.end')}
      </Button>
    </div>
  )
}
