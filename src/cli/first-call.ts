/** The lines that a new user pastes: a command that creates a key, and a first call. */
import type { Settings } from './program.ts'

const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`)

/** The base URL of a server with these settings: its public URL, else the address that its own machine reaches. */
export function baseUrlOf({
  scheme,
  host,
  port,
  publicUrl,
}: Pick<Settings, 'scheme' | 'host' | 'port' | 'publicUrl'>): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${publicUrl ?? `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`}/v1`
}

export const keyHint = (account: string): string => `tollgate key create ${quoted(account)} --name my-app`

type FirstCall = { readonly baseUrl: string; readonly key: string; readonly models: readonly string[] }

/** A call to the sandbox model if there is one, else to the first model. Undefined if there is no model. */
export function curlFor({ baseUrl, key, models }: FirstCall): string | undefined {
  const model = models.find((id) => id === 'sandbox-chat') ?? models[0]
  if (model === undefined) return undefined
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  return [
    `curl ${baseUrl}/chat/completions \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(body)}`,
  ].join('\n')
}
