/** How a command reaches the public API, as any client does: with a base URL and a key from the environment. */
import { formatUsd } from '../domain/money.ts'
import { baseUrlOf } from './first-call.ts'
import { failed, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { text } from './values.ts'

const KEY_VARIABLE = 'TOLLGATE_API_KEY'

export const accessOptions = {
  'key-env': { summary: `environment variable with the API key (default: ${KEY_VARIABLE})`, value: text('NAME') },
  'base-url': {
    summary: 'base URL of the server (TOLLGATE_BASE_URL, else the server of this data folder)',
    value: text('URL'),
  },
  key: { refused: 'a key in the command line can be read by others on this machine: use --key-env NAME' },
} as const

type AccessOptions = { readonly 'key-env': string | undefined; readonly 'base-url': string | undefined }

export type ServerAccess =
  | { readonly kind: 'access'; readonly baseUrl: string; readonly key: string }
  | { readonly kind: 'none'; readonly outcome: CommandOutcome }

const OF_CERTIFICATES = /CERT|UNABLE_TO_VERIFY/

/** What to do about a server that gave no answer. Behind the codes of certificates there is a server. */
export const unreached = (baseUrl: string, message: string): CommandOutcome =>
  failed(
    'unreachable',
    OF_CERTIFICATES.test(message)
      ? `the certificate of ${baseUrl} is not good for this command (${message}): name its host with --base-url, and its authority with NODE_EXTRA_CA_CERTS`
      : `no answer from ${baseUrl} (${message}); is it running? tollgate serve`,
  )

/** Reads the access from the options and the environment. `name` is the name of the command. */
export async function accessOf(
  name: string,
  { 'key-env': keyEnv, 'base-url': stated }: AccessOptions,
  program: Program,
): Promise<ServerAccess> {
  const variable = keyEnv ?? KEY_VARIABLE
  const key = process.env[variable]
  if (!key) return { kind: 'none', outcome: failed('no_key', noKey(variable, name)) }
  const baseUrl = stated ?? (process.env['TOLLGATE_BASE_URL'] || (await localUrl(program)))
  if (URL.canParse(baseUrl)) return { kind: 'access', baseUrl, key }
  const message = `${name}: --base-url must be a URL such as http://127.0.0.1:8080/v1, not '${baseUrl}'`
  return { kind: 'none', outcome: usage(message) }
}

/** The local address of the server on this machine. Not every machine can reach itself at its public address. */
const localUrl = async (program: Program): Promise<string> =>
  baseUrlOf({ ...(await program.address()), publicUrl: undefined })

const noKey = (variable: string, name: string): string =>
  `the environment has no ${variable}. Make a key and put it there:\n  export ${variable}=$(tollgate key create default --name ${name})`

/**
 * Looks up the cost of a request in its record, because the headers of a stream leave before its cost is known. A
 * server on this machine has written the record when the stream ends. Other servers report only the tokens.
 */
export async function costOnRecord(
  program: Program,
  requestId: string | null,
  baseUrl: string,
): Promise<string | null> {
  if (requestId === null || !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname)) return null
  const result = await program.consult('request.show', { request: requestId })
  const { charged } = (result?.ok ? result.value : {}) as { readonly charged?: string }
  return charged === undefined ? null : formatUsd(BigInt(charged))
}
