import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

const SECRET_BYTES = 32

/** Reads a 256-bit secret from the environment's value (64 hex digits) or a file made at first use, mode 0600. */
export function loadSecret(file: string, fromEnvironment: string | undefined): Uint8Array {
  if (fromEnvironment !== undefined) return decode(fromEnvironment.trim(), 'the environment')
  try {
    return decode(readFileSync(file, 'utf8').trim(), file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
  const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  // Exclusive and synced: losing this file means losing every key it protects.
  const descriptor = openSync(file, 'wx', 0o600)
  writeSync(descriptor, `${Buffer.from(secret).toString('hex')}\n`)
  fsyncSync(descriptor)
  closeSync(descriptor)
  return secret
}

function decode(text: string, where: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error(`the secret in ${where} is not 64 hexadecimal digits`)
  return Buffer.from(text, 'hex')
}
