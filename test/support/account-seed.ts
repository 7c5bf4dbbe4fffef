/** Sample accounts: one with names and numbers of every size, one that is empty, and models whose vendors fail. */
import type { Database } from 'bun:sqlite'
import type { TestGateway } from './gateway.ts'

export const LONG_MODEL =
  'frontier-reasoning-model-with-an-uncommonly-long-name-for-the-evaluation-of-customers-2026-11'
const RICH = 'The Very Long Name of a Company With Much Money 与一家名称很长而且余额非常充足的科技（北京）有限责任公司'
const POOR = '新账户'

/** Of the rich account, from the one that spends the most. */
export const KEYS = [
  'production-backend-of-the-european-recommendation-service-with-a-name-that-leaves-no-room-at-all-001',
  'nightly evaluation of everything that the research group has ever made, and of what it will make',
  '为华东区域所有在线推荐与搜索排序业务提供模型调用能力的生产环境后端服务主密钥及其备用调用通道（请勿删除或重命名）二零二六年版',
  'W'.repeat(100),
]

/** Models that cost far too much and next to nothing, and such whose vendors fail. */
export const models = `
models:
  ${LONG_MODEL}:
    price:
      input: 1250000.5
      cached_input: '0.000000001'
      output: 4000000
      above: { '200000': { input: 2500000.123456789, output: 8000000 } }
    offers: [{ provider: sandbox, model: sandbox-chat }]
  penny: { price: { input: '0.000000001', output: '0.000000001' }, offers: [{ provider: sandbox, model: sandbox-chat }] }
  flaky:
    price: { input: 1, output: 4 }
    offers:
      - { provider: sandbox, model: 'sandbox-chat!status=503', priority: 0 }
      - { provider: sandbox, model: sandbox-chat, priority: 1 }
  broken: { price: { input: 1, output: 4 }, offers: [{ provider: sandbox, model: 'sandbox-chat!status=500' }] }
  torn: { price: { input: 1, output: 4 }, offers: [{ provider: sandbox, model: 'sandbox-chat!cutAfterBytes=1500,pace=1' }] }
`

/** Makes one of the seeded accounts rich: its keys spend much, next to nothing, and nothing. */
export function makeRich(db: Database): string {
  const { id } = db.query("SELECT id FROM account WHERE name = 'seeded 1'").get() as { id: string }
  db.run('UPDATE account SET posted = 3999999999000000000, name = ? WHERE id = ?', [RICH, id])
  const keys = db.query('SELECT id FROM api_key WHERE account_id = ? ORDER BY id').all(id) as { id: string }[]
  const [much = '', little = '', nothing = ''] = keys.map((key) => key.id)
  KEYS.forEach((name, at) => db.run('UPDATE api_key SET name = ? WHERE id = ?', [name, keys[at]?.id ?? '']))
  for (const table of ['request_record', 'usage_hour']) {
    const change = (what: string, key: string): unknown =>
      db.run(`UPDATE OR REPLACE ${table} SET ${what} WHERE account_id = ? AND key_id = ?`, [id, key])
    change(`model = '${LONG_MODEL}', input_fresh = input_fresh * 1000000, charged = charged * 100000000`, much)
    change(`charged = ${table === 'usage_hour' ? 'requests' : '1'}`, little)
    change('charged = 0', nothing)
  }
  return id
}

/** Requests, tasks, bookings, keys and people as there are in life, and worse. */
export async function enliven(gateway: TestGateway, accountId: string, rich: string) {
  const operate = <T>(name: string, input: object): Promise<T> => gateway.operate<T>(name, input)
  const { id: poor } = await operate<{ id: string }>('account.create', { name: POOR })
  const { id: shop } = await operate<{ id: string }>('account.create', { name: 'Corner Shop', balance: '5' })
  const secretOf = async (account: string): Promise<string> =>
    (await operate<{ secret: string }>('key.create', { account, name: 'first steps' })).secret
  const call = async (key: string, path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${gateway.baseUrl}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    await answer.arrayBuffer().catch(() => undefined)
    return answer.headers.get('x-request-id') ?? ''
  }
  const [mine, theirs] = [await secretOf(accountId), await secretOf(rich)]
  const ask = (model: string): Promise<string> =>
    call(theirs, 'chat/completions', { model, stream: true, messages: [{ role: 'user', content: 'Hello' }] })
  const video = (prompt: string, more: object = {}) => ({
    model: 'sandbox-video',
    content: [{ type: 'text', text: prompt }],
    resolution: '480p',
    duration: 4,
    ...more,
  })
  await call(mine, 'videos', video('a gate [sandbox: task-ms=0]'))
  const film = (end: string): Promise<string> => call(theirs, 'videos', video(`a gate [sandbox: ${end}]`))
  const tasks = {
    taskCompleted: await film('task-ms=0'),
    taskFailed: await film('fails'),
    taskRunning: await film('hangs'),
  }
  await call(theirs, 'images/generations', { model: 'sandbox-image', prompt: 'a gate' })
  for (const model of ['penny', 'torn', 'broken']) await ask(model)
  const [failed, dear] = [await ask('flaky'), await ask(LONG_MODEL)]
  const keys = await operate<{ id: string; name: string }[]>('key.list', { account: rich })
  const named = (name: string | undefined): string => keys.find((key) => key.name === name)?.id ?? ''
  await operate('key.limits', { key: named(KEYS[0]), limits: { spend_per_month: '999999999', spend_per_day: '1' } })
  await operate('key.limits', { key: named(KEYS[1]), limits: { spend_per_month: '0.000000001' } })
  await operate('key.revoke', { key: named('key 4') })
  const book = (kind: string, amount: string, reason: string) =>
    operate(`account.${kind}`, { account: rich, amount, reason })
  await book('debit', '999999999.50', 'x')
  await book(
    'credit',
    '999999999.00',
    'invoice 2026-117 of the twenty-first of November, paid by bank transfer from the head office',
  )
  await book(
    'credit',
    '0.000000001',
    '财务部门按照二零二六年度框架协议第三条补充条款的约定，退还因计费系统四舍五入产生的差额',
  )
  await book('refund', '0.50', 'unbroken-reason-'.repeat(5))
  await operate('account.low_balance', { account: poor, below: '999999999.99' })
  for (const [name, role] of [
    ['A Person With a Rather Long Name Who Was Invited to Look After All of the Keys of Everybody', 'owner'],
    ['王小明', 'member'],
  ] as const) {
    await operate('user.create', { name, role, account: rich })
  }
  return { rich, poor, shop, failed, dear, ...tasks, secret: theirs }
}
