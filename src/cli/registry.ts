/** All commands. Each is loaded only when it is called, so that its start does not pay for the others. */
import type { Command, Group } from './command.ts'

type Load = () => Promise<Command | Group>

const registry: Readonly<Record<string, Load>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  init: async () => (await import('./init.ts')).init,
  apply: async () => (await import('./apply.ts')).apply,
  account: async () => (await import('./account.ts')).accountGroup,
  key: async () => (await import('./key.ts')).keyGroup,
  user: async () => (await import('./user.ts')).userGroup,
  provider: async () => (await import('./provider.ts')).providerGroup,
  model: async () => (await import('./model.ts')).modelGroup,
  alias: async () => (await import('./alias.ts')).aliasGroup,
  price: async () => (await import('./price.ts')).priceGroup,
  request: async () => (await import('./request.ts')).requestGroup,
  chat: async () => (await import('./chat.ts')).chat,
  image: async () => (await import('./image.ts')).image,
  video: async () => (await import('./video.ts')).videoCommand,
  videos: async () => (await import('./videos.ts')).videosGroup,
  sandbox: async () => (await import('./sandbox.ts')).sandbox,
  'verify-ledger': async () => (await import('./verify-ledger.ts')).verifyLedgerCommand,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  'adopt-secrets': async () => (await import('./adopt-secrets.ts')).adoptSecretsCommand,
  db: async () => (await import('./db.ts')).dbGroup,
  doctor: async () => (await import('./doctor.ts')).doctor,
}

export const entryNames: readonly string[] = Object.keys(registry)

export async function loadEntry(name: string): Promise<Command | Group | undefined> {
  return Object.hasOwn(registry, name) ? registry[name]?.() : undefined
}

export const loadAll = (): Promise<readonly (Command | Group)[]> =>
  Promise.all(Object.values(registry).map((load) => load()))
