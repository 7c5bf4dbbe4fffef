/** What a new user pastes: how to make a key, and a first call. */

const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`)

/** The base URL under which a server with these settings is reached from its own machine, or from outside if it says. */
export function baseUrlOf({
  host,
  port,
  publicUrl,
}: {
  host: string
  port: number
  publicUrl: string | undefined
}): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${publicUrl ?? `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`}/v1`
}

export const keyHint = (account: string): string => `tollgate key create ${quoted(account)} --name my-app`

type FirstCall = { readonly baseUrl: string; readonly key: string; readonly models: readonly string[] }

/** A call to the model that needs no vendor, or to the first there is. Undefined without any model. */
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
