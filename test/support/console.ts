/** The console's API in this process: its routes over a real data folder, without sockets. */
import { expect } from 'bun:test'
import { rmSync } from 'node:fs'
import { loadConfig } from '../../src/config.ts'
import { createDispatcher, ROOT, type Dispatcher, type ConsoleResponse } from '../../src/console/dispatch.ts'
import { routes } from '../../src/console/routes.ts'
import { openGateway, type Gateway } from '../../src/gateway.ts'
import type { ServerExchange } from '../../src/inbound/exchange.ts'
import { freshFolder } from './gateway.ts'

/** Who asks: nobody, or what identifies them. */
export type Caller = { readonly headers: Readonly<Record<string, string>>; readonly address?: string }
export const nobody: Caller = { headers: {} }

type Role = 'operator' | 'owner' | 'member' | 'stranger'

export type Answer<T = Record<string, unknown>> = {
  readonly status: number
  readonly body: T
  readonly sent: ConsoleResponse
}

export type TestConsole = {
  readonly gateway: Gateway
  /** Of the people in it, by role. */
  readonly ids: Readonly<Record<Role, string>>
  readonly accountId: string
  readonly otherId: string
  /** A session of its own each time. */
  as(role: Role): Promise<Caller>
  call<T = Record<string, unknown>>(caller: Caller, request: string, body?: unknown): Promise<Answer<T>>
  close(): Promise<void>
}

const log = (): void => undefined

/** A console with an account and its people, and another account with an owner. */
export async function openConsole(
  folder = freshFolder(),
  { publicUrl, env = {} }: { readonly publicUrl?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<TestConsole> {
  const config = await loadConfig({ TOLLGATE_DATA: folder, TOLLGATE_CONFIG: '', ...env })
  const gateway = await openGateway(config, { log, sandboxUrl: () => 'http://127.0.0.1:9', firstAccount: 'leave' })
  const { services } = gateway
  const accountOf = async (name: string): Promise<string> => {
    const account = await services.accounts.create({ name })
    if (!account) throw new Error(`there is an account ${name}`)
    services.ledger.register(account.id)
    return account.id
  }
  const [accountId, otherId] = [await accountOf('acme'), await accountOf('other')]
  const people = {
    operator: await services.users.create({ name: 'op', role: 'operator', accountId: undefined }),
    owner: await services.users.create({ name: 'kim', role: 'owner', accountId }),
    member: await services.users.create({ name: 'lee', role: 'member', accountId }),
    stranger: await services.users.create({ name: 'ann', role: 'owner', accountId: otherId }),
  }
  for (const user of Object.values(people)) await services.users.setPassword(user?.id ?? '', 'no hash at all')
  const isSecure = publicUrl?.startsWith('https:') ?? false
  const { publicModels } = config
  const settings = () => Promise.resolve({})
  const dispatch = createDispatcher(services, { version: 'test', publicUrl, publicModels, isSecure, settings })
  const idOf = (role: Role): string => people[role]?.id ?? ''
  return {
    gateway,
    accountId,
    otherId,
    ids: { operator: idOf('operator'), owner: idOf('owner'), member: idOf('member'), stranger: idOf('stranger') },
    async as(role) {
      const { token } = await services.sessions.begin(idOf(role), { address: '192.0.2.1', agent: 'test' })
      return { headers: { cookie: `${isSecure ? '__Host-' : ''}tollgate=${token}` } }
    },
    call: (caller, request, body) => send(dispatch, caller, { request, body }),
    async close() {
      expect(await services.verify()).toEqual([])
      await gateway.store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function send<T>(
  dispatch: Dispatcher,
  caller: Caller,
  { request, body }: { request: string; body: unknown },
): Promise<Answer<T>> {
  const [method = '', target = ''] = request.split(' ')
  const [path = '', query] = target.split('?')
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = new Map(Object.entries({ 'content-type': 'application/json', host: 'test', ...caller.headers }))
  const exchange = {
    head: { method, path: ROOT + path, query: query === undefined ? '' : `?${query}`, headers, version: '1.1' },
    header: (name: string) => headers.get(name),
    notes: new Map<string, string>(),
  } as unknown as ServerExchange
  const sent = await dispatch({
    exchange,
    body: { kind: 'read', text, bytes: text.length },
    address: caller.address ?? '192.0.2.1',
    requestId: 'req_test',
  })
  // Of events only the first, which is there already.
  if (sent.kind === 'events') sent.tail.close()
  const told = sent.kind === 'events' ? JSON.stringify({ type: 'start', ...sent.first }) : sent.text
  const isJson = sent.kind === 'events' || sent.headers['content-type']?.includes('json')
  const answered = (isJson ? JSON.parse(told) : told) as T
  if (sent.status === 200 && isJson) expectShape(method, path, answered)
  return { status: sent.status, body: answered, sent }
}

/** What the OpenAPI document promises holds for every answer that any test gets. */
function expectShape(method: string, path: string, answered: unknown): void {
  const parts = path.split('/')
  const fits = (pattern: string): boolean => {
    const wanted = pattern.split('/')
    return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i])
  }
  const route = routes
    .filter((each) => each.method === method && fits(each.path))
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
  const result = route?.answer.safeParse(answered)
  if (!result?.success) throw new Error(`${method} ${path}: ${String(result?.error)}: ${JSON.stringify(answered)}`)
}
