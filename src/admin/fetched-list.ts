/** Fetches a price list of the operator's, from an address or, for a command, from a file. */
import { isAbsolute } from 'node:path'
import { checkUrl } from '../outbound/guard.ts'
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import { MIB, SECOND_MS } from '../lib/primitives/units.ts'
import { readOperatorList } from '../prices/operator-list.ts'
import type { PriceList } from '../prices/price-list.ts'
import type { Actor } from '../records/audit.ts'
import { refused, type OperationRefusal } from './operation.ts'
import { sayRefusal } from './refusals.ts'

/** The list in the program has 60 KB. */
const LIST_BYTES_MAX = MIB
const LIST_TIMEOUT_MS = 30 * SECOND_MS

export type ListPlace = {
  /** An `https:` address, or an absolute path. */
  readonly from: string
  /** Whether the address may be on this machine or its networks, and may be `http:`. */
  readonly reach: 'public' | 'private'
}

const unusable = (why: string): OperationRefusal => ({
  ...refused('invalid_input', sayRefusal('list_unusable', { why })),
  param: 'from',
})

/** The list, or why there is none. Nothing of it is applied unless all of it can be read. */
export async function fetchList({ from, reach }: ListPlace, { kind }: Actor): Promise<PriceList | OperationRefusal> {
  // The files of the machine are for who has the machine, and not for everybody who may sign in as an operator.
  const isFile = isAbsolute(from)
  if (isFile && kind !== 'command') return unusable('only a command can name a file')
  const body = isFile ? await readFile(from) : await download(from, reach)
  if (typeof body !== 'string') return unusable(body.problem)
  const list = readOperatorList(body, from)
  return 'problem' in list ? unusable(list.problem) : list
}

type Body = string | { readonly problem: string }

async function readFile(path: string): Promise<Body> {
  const file = Bun.file(path)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { problem: 'it is no file' }
    if (stat.size > LIST_BYTES_MAX) return { problem: `it has more than ${LIST_BYTES_MAX / MIB} MiB` }
    return await file.text()
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** No redirect is followed: the operator names the place. */
async function download(url: string, reach: ListPlace['reach']): Promise<Body> {
  const checked = checkUrl(url, reach)
  if (checked.kind === 'bad') return { problem: `the address ${checked.message}` }
  if (checked.kind === 'private')
    return {
      problem: `the address is private (${checked.name}): only a command with --allow-private may name it`,
    }
  if (checked.url.protocol !== 'https:' && reach === 'public') return { problem: 'the address must be https' }
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), LIST_TIMEOUT_MS)
  const sent = await outbound.sendForText({ url, method: 'GET', headers: {}, reach, stop }, LIST_BYTES_MAX)
  clearTimeout(timer)
  if (sent.kind === 'network') return { problem: `the address gave no answer: ${sent.message}` }
  if (sent.status !== 200) return { problem: `the address answered with status ${sent.status}` }
  return sent.text ?? { problem: `it broke off, or has more than ${LIST_BYTES_MAX / MIB} MiB` }
}
