/** Searches for secrets where they must not be, in every encoding. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The ways a text can have been written down. */
export function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Base64 of a part of something longer, at each of the three ways it can fall.
  const base64 = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return whole.slice(shift === 0 ? 0 : 4, -4)
  })
  const json = JSON.stringify(secret).slice(1, -1)
  const escaped = json.replaceAll('é', '\\u00e9')
  const core = /[\w-]{20,}/.exec(secret)?.[0] ?? secret
  return [core, secret, json, escaped, encodeURIComponent(secret), bytes.toString('hex'), ...base64]
}

/** Every spelling of every secret that is in the bytes. */
export function found(bytes: string, secrets: Record<string, string>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellingsOf(secret)
      .filter((spelling) => bytes.includes(Buffer.from(spelling).toString('latin1')))
      .map(
        (spelling) =>
          `${name}: …${bytes.slice(Math.max(0, bytes.indexOf(spelling) - 80), bytes.indexOf(spelling) + 40)}`,
      ),
  )
}

/** All files of the data folder, sockets and the operator's own file left out. */
export function filesOf(folder: string): Map<string, string> {
  const files = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isFile() && name !== 'tollgate.yaml') files.set(name, readFileSync(path, 'latin1'))
  }
  return files
}
