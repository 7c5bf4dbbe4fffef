/** The layers of ARCHITECTURE.md: which folder of src may import which. */

/** Files that any file may import: the units, and the helper that declares a limit. */
const numbers = ['lib/primitives/units.ts', 'lib/primitives/limit.ts']
const layer0 = ['domain', 'lib']
const layer1 = [...layer0, 'vendors', 'formats', 'prices', 'store', 'outbound']
const layer2 = [...layer1, 'accounts', 'blobs', 'catalog', 'ledger', 'records', 'upstream']
const layer3 = [...layer2, 'router', 'responses', 'video', 'telemetry']
const without = (folders: readonly string[], ...left: string[]) => folders.filter((folder) => !left.includes(folder))

const wiring = ['config', 'connection-limit', 'gateway']

/**
 * Which folder may import which, type imports included. A folder may always import itself. Test files may import
 * anything. One file has a row of its own: `vendors/probe` calls a vendor, so it needs `formats` and `upstream`, and
 * these need the data of `vendors`.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: numbers,
  lib: [],

  vendors: ['domain', ...numbers],
  formats: [...layer0, 'vendors'],
  modalities: [...layer0, 'formats', 'vendors'],
  prices: [...layer0, 'vendors'],
  store: ['lib'],
  outbound: layer0,
  inbound: ['lib'],

  accounts: layer1,
  blobs: [...layer0, 'store', 'outbound'],
  catalog: layer1,
  ledger: [...layer0, 'store'],
  records: [...layer1, 'ledger'],
  upstream: without(layer1, 'store'),
  'vendors/probe': [...layer0, 'vendors', 'formats', 'outbound', 'upstream'],

  router: layer0,
  responses: layer2,
  video: layer2,
  telemetry: [...layer0, 'vendors', 'outbound', 'catalog', 'records'],

  relay: [...without(layer3, 'store'), 'modalities'],

  edge: [
    ...layer0,
    'formats',
    'modalities',
    'inbound',
    'accounts',
    'blobs',
    'catalog',
    'records',
    'video',
    'telemetry',
    'relay',
  ],
  admin: [...without(layer3, 'formats', 'store', 'responses'), 'relay', 'vendors/probe'],
  console: [...layer0, 'inbound', 'accounts', 'catalog', 'ledger', 'records', 'vendors', 'router', 'admin'],
  cli: [...layer0, 'prices', 'outbound', 'admin', 'sandbox'],

  sandbox: layer0,

  // The files at the root of src: first what the operator declares, then the wiring.
  'declaration-shape': [],
  'declared-prices': [...layer0, 'prices', 'declaration-shape'],
  'declared-provider': [...layer0, 'vendors', 'outbound', 'catalog', 'declaration-shape'],
  declaration: [
    ...layer0,
    'vendors',
    'prices',
    'outbound',
    'declaration-shape',
    'declared-prices',
    'declared-provider',
  ],
  'sandbox-provider': [...layer0, 'vendors'],
  setting: [],
  'configured-limits': ['lib', 'setting'],
  'cluster-settings': ['lib', 'setting'],
  config: [
    ...layer0,
    'vendors',
    'prices',
    'blobs',
    'outbound',
    'declaration',
    'sandbox-provider',
    'setting',
    'configured-limits',
    'cluster-settings',
    'telemetry',
  ],
  certificate: ['lib', 'inbound', 'cli', 'setting', 'config'],
  'connection-limit': ['lib', 'config'],
  // It only lists the modules that declare a limit.
  'fixed-limits': [
    ...layer3,
    'vendors/probe',
    'modalities',
    'inbound',
    'relay',
    'edge',
    'console',
    'connection-limit',
    'backup',
    'readiness-gate',
    'awaited-news',
  ],
  secrets: ['lib', 'store', 'config'],
  'configured-ledger': ['ledger', 'store'],
  'configured-store': ['lib', 'store', 'config'],
  'declaration-start': ['lib', 'store', 'accounts', 'catalog', 'ledger', 'config'],
  backup: ['lib', 'ledger', 'store', 'admin', 'secrets'],
  restore: ['lib', 'store', 'admin', 'config', 'secrets', 'backup'],
  'hosted-files': ['lib', 'blobs', 'store', 'config'],
  'kept-content': ['records', 'responses', 'store', 'configured-limits'],
  gateway: [
    ...layer3,
    'relay',
    'admin',
    'config',
    'connection-limit',
    'secrets',
    'backup',
    'configured-ledger',
    'configured-store',
    'declaration-start',
    'hosted-files',
    'kept-content',
    'shared-rests',
  ],
  'shared-rests': ['store', 'catalog', 'router', 'relay', 'admin'],
  database: ['lib', 'store', 'catalog', 'ledger', 'admin', 'config', 'secrets', 'backup', 'gateway'],
  workers: ['lib', 'config'],
  ports: ['lib', 'inbound', 'certificate', 'edge', 'admin', 'config', 'connection-limit'],
  'readiness-gate': ['lib', 'store'],
  'awaited-news': ['lib', 'inbound', 'accounts', 'edge', 'admin', 'console'],
  'request-log': [...layer0, 'records'],
  recorder: [...layer3, 'inbound', 'edge', 'certificate', 'config', 'gateway', 'request-log'],
  'instance-life': ['lib', 'accounts', 'ledger', 'store', 'gateway'],
  'maintenance-jobs': ['lib', 'blobs', 'config', 'gateway', 'instance-life'],
  'public-server': [...layer0, 'prices', 'inbound', 'accounts', 'edge', 'console', 'config', 'fixed-limits', 'gateway'],
  drain: ['lib', 'video', 'gateway', 'ports', 'readiness-gate'],
  serve: [
    'drain',
    ...layer3,
    'inbound',
    'relay',
    'edge',
    'admin',
    'sandbox',
    ...wiring,
    'certificate',
    'public-server',
    'ports',
    'workers',
    'readiness-gate',
    'awaited-news',
    'recorder',
    'maintenance-jobs',
  ],
  main: [
    ...layer3,
    'relay',
    'edge',
    'admin',
    'cli',
    'sandbox',
    ...wiring,
    'certificate',
    'fixed-limits',
    'secrets',
    'configured-store',
    'restore',
    'database',
    'serve',
  ],
}
