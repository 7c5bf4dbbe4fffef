import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

const SECRET_BYTES = 32

/** The value in place of a secret is not a secret. */
export class DamagedSecret extends Error {
  override readonly name = 'DamagedSecret'
}

/**
 * A 256-bit secret from the environment (64 hex digits), or else from its file. Undefined if there is neither. Throws
 * DamagedSecret if the value is no secret.
 */
export function readSecret(file: string, fromEnvironment: string | undefined): Uint8Array | undefined {
  if (fromEnvironment !== undefined) return decode(fromEnvironment.trim(), 'the environment')
  try {
    return decode(readFileSync(file, 'utf8').trim(), file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
    return undefined
  }
}

export const makeSecret = (): Uint8Array => crypto.getRandomValues(new Uint8Array(SECRET_BYTES))

/** Writes a secret to a file that must not exist, mode 0600. */
export function writeSecret(file: string, secret: Uint8Array): void {
  // Exclusive and synced, because losing this file means losing everything that it protects.
  const descriptor = openSync(file, 'wx', 0o600)
  writeSync(descriptor, `${Buffer.from(secret).toString('hex')}\n`)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function decode(text: string, where: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new DamagedSecret(`the secret in ${where} is not 64 hexadecimal digits`)
  return Buffer.from(text, 'hex')
}
