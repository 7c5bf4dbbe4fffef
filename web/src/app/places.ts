/** The pages of the console in the order of the navigation. */
import type { Key } from '../lib/language.ts'
import type { IconName } from '../ui/icon.tsx'

export type Place = { readonly to: string; readonly name: Key; readonly icon: IconName }

export const accountPlaces = [
  { to: '/a/$account/overview', name: 'nav.overview', icon: 'overview' },
  { to: '/a/$account/keys', name: 'nav.keys', icon: 'key' },
  { to: '/a/$account/usage', name: 'nav.usage', icon: 'usage' },
  { to: '/a/$account/requests', name: 'nav.requests', icon: 'list' },
  { to: '/a/$account/tasks', name: 'nav.tasks', icon: 'tasks' },
  { to: '/a/$account/playground', name: 'nav.playground', icon: 'play' },
  { to: '/a/$account/models', name: 'nav.models', icon: 'models' },
  { to: '/a/$account/billing', name: 'nav.billing', icon: 'billing' },
  { to: '/a/$account/settings', name: 'nav.settings', icon: 'settings' },
] as const satisfies readonly Place[]

export const operatorPlaces = [
  { to: '/operator/providers', name: 'nav.providers', icon: 'plug' },
  { to: '/operator/models', name: 'nav.routing', icon: 'route' },
  { to: '/operator/prices', name: 'nav.prices', icon: 'tag' },
  { to: '/operator/accounts', name: 'nav.accounts', icon: 'people' },
  { to: '/operator/codes', name: 'nav.codes', icon: 'ticket' },
  { to: '/operator/health', name: 'nav.health', icon: 'health' },
  { to: '/operator/audit', name: 'nav.audit', icon: 'audit' },
  { to: '/operator/settings', name: 'nav.gateway', icon: 'settings' },
] as const satisfies readonly Place[]
