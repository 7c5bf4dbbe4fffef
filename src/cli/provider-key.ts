/** A provider as commands see it, and the key that a command is given for it. */
import { failed, usage, type CommandOutcome } from './outcome.ts'
import type { Terminal } from './terminal.ts'
import { text } from './values.ts'

/** One element of the value of `provider.list`. */
export type ProviderView = {
  readonly id: string
  readonly preset: string
  /** Empty for the built-in sandbox while no server runs. */
  readonly base_url: string
  /** Whether it may be at a private address. */
  readonly allow_private: boolean
  /** Null means the usual limit. */
  readonly concurrent_requests: number | null
  readonly has_key: boolean
  /** Of a provider that has several. */
  readonly keys: readonly { readonly id: string; readonly concurrent_requests: number | null }[]
  /** Without its password. Null: as the environment says. */
  readonly proxy: string | null
  readonly origin: string
}

export const keyOptions = {
  'key-stdin': { summary: "read the vendor's key from stdin" },
  'key-env': { summary: "read the vendor's key from this environment variable", value: text('NAME') },
} as const

type KeySource = {
  readonly 'key-stdin': boolean
  readonly 'key-env': string | undefined
  readonly key: string | undefined
}

/** Reads the vendor's key from where others cannot see it. Undefined: none is given. Null: the stored one goes. */
export async function readVendorKey(
  source: KeySource,
  { terminal, command }: { readonly terminal: Terminal; readonly command: string },
): Promise<{ key: string | null | undefined } | CommandOutcome> {
  const { 'key-stdin': fromStdin, 'key-env': variable, key: none } = source
  if ([fromStdin, variable !== undefined, none !== undefined].filter(Boolean).length > 1)
    return usage(`${command}: use only one of the options that name a key`)
  if (none !== undefined) return { key: null }
  if (!fromStdin && variable === undefined) return { key: undefined }
  if (fromStdin && terminal.interactive) terminal.talk('Paste the key, then Enter and Ctrl-D:\n')
  const key = (fromStdin ? await terminal.readAll() : (process.env[variable ?? ''] ?? '')).trim()
  return key === '' ? failed('no_key', fromStdin ? 'stdin held no key' : `the environment has no ${variable}`) : { key }
}
