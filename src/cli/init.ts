import { existsSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { command } from './command.ts'
import { exampleConfig } from './example-config.ts'
import { baseUrlOf, curlFor, keyHint } from './first-call.ts'
import { failed, shown } from './outcome.ts'
import type { Program } from './program.ts'
import { details } from './table.ts'

export const init = command({
  name: 'init',
  summary: 'Writes an example tollgate.yaml, and creates the first account and key if there are none.',
  examples: [['tollgate init'], ['tollgate init --force', 'overwrites an existing tollgate.yaml']],
  options: { force: { summary: 'overwrite an existing file' } },
  run: async ({ options: { force }, program, terminal }) => {
    const file = resolve(process.env['TOLLGATE_CONFIG'] || 'tollgate.yaml')
    if (existsSync(file) && !force) return failed('exists', `${file} exists already; --force overwrites it`)
    writeFileSync(file, exampleConfig)
    const key = await program.firstKey()
    const { account, models } = await look(program)
    const { dataFolder } = await program.settings()
    const baseUrl = baseUrlOf(await program.address())
    const curl = key === undefined ? undefined : curlFor({ baseUrl, key, models })
    const value = { config_file: file, data_folder: dataFolder, account, key: key ?? null, curl: curl ?? null }
    const facts = details(
      [
        ['Config', file],
        ['Data', dataFolder],
        ['Key', key ? `${key} (account '${account}'; shown only once)` : `make one: ${keyHint(account)}`],
      ],
      terminal,
    )
    const then = curl ? 'try the call above' : 'make a key and try a call: tollgate chat Hello --model MODEL'
    const text = `${facts}${curl ? `\n${curl}\n` : ''}`
    return shown(value, text, {
      talk: `\nNext: uncomment what you need in ${basename(file)}, run tollgate serve, then ${then}.`,
    })
  },
})

type InitialState = { readonly account: string; readonly models: readonly string[] }

/** Runs one operation after the other: without a server, each one opens the data folder exclusively. */
async function look(program: Program): Promise<InitialState> {
  const accounts = await program.operate('account.list', {})
  const models = await program.operate('model.list', {})
  const names = accounts.ok ? (accounts.value as { name: string }[]).map(({ name }) => name) : []
  return {
    account: names[0] ?? 'default',
    models: models.ok ? (models.value as { id: string }[]).map(({ id }) => id) : [],
  }
}
