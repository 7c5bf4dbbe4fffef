import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Me } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { sessionQuery, useMe } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { queryClient } from './queries.ts'

/** Shown on every page while an operator views an account as a member. */
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
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b bg-warn-soft px-4 py-1.5 text-warn"
    >
      {/* A long name wraps, because a cut name cannot be read on a touch screen. */}
      <span className="min-w-0 grow basis-48 break-words">{t('view.banner', { name: me.account?.name ?? '' })}</span>
      <Button onClick={() => end.mutate()} busy={end.isPending}>
        {t('view.end')}
      </Button>
    </div>
  )
}
