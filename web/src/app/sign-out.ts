import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../lib/api.ts'
import { forgetEverything } from './queries.ts'

/** Signs out here or everywhere, and clears the loaded data. */
export function useSignOut() {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (route: 'session' | 'sessions') => api.remove(route),
    onSuccess: async () => {
      await navigate({ to: '/sign-in', search: {} })
      forgetEverything()
    },
  })
}
