/** The routes of the console. The URL holds the state of a page: filters, tabs, ranges and the open drawer. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type ErrorComponentProps,
} from '@tanstack/react-router'
import { oneOf, only, readAddress, textOf, writeAddress } from '../lib/search.ts'
import { ranges } from '../lib/ranges.ts'
import { showsModels } from '../lib/page-facts.ts'
import { filtersOf, type RequestFilters } from '../lib/request-filters.ts'
import { wantedIn } from '../lib/video-wanted.ts'
import { Missing, Broken } from './last-resort.tsx'

type Raw = Record<string, unknown>
const root = createRootRoute({ component: Outlet, notFoundComponent: Missing })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (raw: Raw) => only({ next: textOf(raw, 'next') }),
  component: lazyRouteComponent(() => import('../routes/sign-in.tsx'), 'SignInPage'),
})
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('../routes/setup.tsx'), 'SetupPage'),
})

const publicModels = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: (raw: Raw) => only({ kind: textOf(raw, 'kind'), q: textOf(raw, 'q'), model: textOf(raw, 'model') }),
  beforeLoad: () => {
    if (!showsModels()) redirect({ to: '/sign-in', search: {}, throw: true })
  },
  component: lazyRouteComponent(() => import('../routes/public-models.tsx'), 'PublicModelsPage'),
})

/** All pages that require a session. Without one, the sign-in page comes first. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ location }) => (await import('./inside.ts')).requireSession(location.href),
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
})
const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: async () => (await import('./inside.ts')).goHome(),
})

const you = createRoute({
  getParentRoute: () => inside,
  path: '/you',
  component: lazyRouteComponent(() => import('../routes/you.tsx'), 'YouPage'),
})

const account = createRoute({ getParentRoute: () => inside, path: '/a/$account' })
const range = (raw: Raw) => oneOf(raw, 'range', ranges)

const overview = createRoute({
  getParentRoute: () => account,
  path: '/overview',
  validateSearch: (raw: Raw) => only({ range: range(raw) }),
  component: lazyRouteComponent(() => import('../routes/overview.tsx'), 'OverviewPage'),
})
const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  validateSearch: (raw: Raw) =>
    only({
      q: textOf(raw, 'q'),
      status: oneOf(raw, 'status', ['active', 'revoked']),
      dialog: oneOf(raw, 'dialog', ['new']),
      key: textOf(raw, 'key'),
    }),
  component: lazyRouteComponent(() => import('../routes/keys.tsx'), 'KeysPage'),
})
const requests = createRoute({
  getParentRoute: () => account,
  path: '/requests',
  validateSearch: (raw: Raw): RequestFilters => only(filtersOf((name) => textOf(raw, name))),
  component: lazyRouteComponent(() => import('../routes/requests.tsx'), 'RequestsPage'),
})
const request = createRoute({
  getParentRoute: () => requests,
  path: '/$request',
  component: lazyRouteComponent(() => import('../routes/request.tsx'), 'RequestDrawer'),
})
const usage = createRoute({
  getParentRoute: () => account,
  path: '/usage',
  validateSearch: (raw: Raw) =>
    only({
      range: range(raw),
      step: oneOf(raw, 'step', ['hour', 'day']),
      by: oneOf(raw, 'by', ['model', 'key', 'endpoint']),
      measure: oneOf(raw, 'measure', ['cost', 'requests', 'input', 'output', 'errors']),
      model: textOf(raw, 'model'),
      key: textOf(raw, 'key'),
      endpoint: textOf(raw, 'endpoint'),
    }),
  component: lazyRouteComponent(() => import('../routes/usage.tsx'), 'UsagePage'),
})
const tasks = createRoute({
  getParentRoute: () => account,
  path: '/tasks',
  validateSearch: (raw: Raw) => only({ kind: oneOf(raw, 'kind', ['image', 'video']), task: textOf(raw, 'task') }),
  component: lazyRouteComponent(() => import('../routes/tasks.tsx'), 'TasksPage'),
})
const playground = createRoute({
  getParentRoute: () => account,
  path: '/playground',
  validateSearch: (raw: Raw) =>
    only({
      kind: oneOf(raw, 'kind', ['chat', 'image', 'video']),
      model: textOf(raw, 'model'),
      wish: wantedIn(raw['wish']),
    }),
  component: lazyRouteComponent(() => import('../routes/playground.tsx'), 'PlaygroundPage'),
})
const models = createRoute({
  getParentRoute: () => account,
  path: '/models',
  validateSearch: (raw: Raw) => only({ kind: textOf(raw, 'kind'), q: textOf(raw, 'q'), model: textOf(raw, 'model') }),
  component: lazyRouteComponent(() => import('../routes/models.tsx'), 'ModelsPage'),
})
const billing = createRoute({
  getParentRoute: () => account,
  path: '/billing',
  validateSearch: (raw: Raw) =>
    only({
      tab: oneOf(raw, 'tab', ['ledger', 'holds']),
      month: textOf(raw, 'month'),
      dialog: oneOf(raw, 'dialog', ['redeem']),
    }),
  component: lazyRouteComponent(() => import('../routes/billing.tsx'), 'BillingPage'),
})
const settings = createRoute({
  getParentRoute: () => account,
  path: '/settings',
  validateSearch: (raw: Raw) =>
    only({ tab: oneOf(raw, 'tab', ['members', 'programs', 'limits']), dialog: oneOf(raw, 'dialog', ['new']) }),
  component: lazyRouteComponent(() => import('../routes/settings.tsx'), 'SettingsPage'),
})

const operator = createRoute({
  getParentRoute: () => inside,
  path: '/operator',
  component: lazyRouteComponent(() => import('./operator-only.tsx'), 'OperatorOnly'),
})
const operatorPages = {
  providers: lazyRouteComponent(() => import('../routes/providers.tsx'), 'ProvidersPage'),
  prices: lazyRouteComponent(() => import('../routes/prices.tsx'), 'PricesPage'),
  codes: lazyRouteComponent(() => import('../routes/codes.tsx'), 'CodesPage'),
  health: lazyRouteComponent(() => import('../routes/health.tsx'), 'HealthPage'),
  audit: lazyRouteComponent(() => import('../routes/audit.tsx'), 'AuditPage'),
  settings: lazyRouteComponent(() => import('../routes/operator-settings.tsx'), 'OperatorSettingsPage'),
}
const open = (raw: Raw) =>
  only({
    open: textOf(raw, 'open'),
    q: textOf(raw, 'q'),
    tab: textOf(raw, 'tab'),
    state: textOf(raw, 'state'),
    dialog: oneOf(raw, 'dialog', ['new']),
  })
const providers = createRoute({
  getParentRoute: () => operator,
  path: '/providers',
  validateSearch: open,
  component: operatorPages.providers,
})
const prices = createRoute({
  getParentRoute: () => operator,
  path: '/prices',
  validateSearch: open,
  component: operatorPages.prices,
})
const codes = createRoute({
  getParentRoute: () => operator,
  path: '/codes',
  validateSearch: open,
  component: operatorPages.codes,
})
const health = createRoute({ getParentRoute: () => operator, path: '/health', component: operatorPages.health })
const audit = createRoute({
  getParentRoute: () => operator,
  path: '/audit',
  validateSearch: open,
  component: operatorPages.audit,
})
const operatorSettings = createRoute({
  getParentRoute: () => operator,
  path: '/settings',
  validateSearch: open,
  component: operatorPages.settings,
})
const routing = createRoute({
  getParentRoute: () => operator,
  path: '/models',
  validateSearch: open,
  component: lazyRouteComponent(() => import('../routes/routing.tsx'), 'RoutingPage'),
})
const accounts = createRoute({
  getParentRoute: () => operator,
  path: '/accounts',
  validateSearch: open,
  component: lazyRouteComponent(() => import('../routes/accounts.tsx'), 'AccountsPage'),
})

const routeTree = root.addChildren([
  signIn,
  setup,
  publicModels,
  inside.addChildren([
    home,
    you,
    account.addChildren([
      overview,
      keys,
      requests.addChildren([request]),
      usage,
      tasks,
      playground,
      models,
      billing,
      settings,
    ]),
    operator.addChildren([providers, routing, prices, accounts, codes, health, audit, operatorSettings]),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname,
  parseSearch: readAddress,
  stringifySearch: writeAddress,
  defaultPreload: 'intent',
  defaultPendingMinMs: 0,
  defaultErrorComponent: ({ error, reset }: ErrorComponentProps) => <Broken error={error} reset={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
