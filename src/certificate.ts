/** The certificate of the port of clients. It is read at the start, and again when its files change. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { CertificateFacts } from './cli/program.ts'
import type { CertificateFiles } from './config.ts'
import { ConfigError } from './setting.ts'
import type { TlsCredentials } from './inbound/server.ts'
import type { Log } from './lib/runtime/log.ts'

type Certificate = {
  readonly credentials: TlsCredentials
  readonly x509: X509Certificate
}

/** Nobody waits for a renewal. Two polls must see the same files, because most programs write one after the other. */
const POLL_MS = 2_000

const notAfterMs = ({ x509 }: Certificate): number => Date.parse(x509.validTo)

/** Reads both files. Rejects with `ConfigError` if they cannot be used. */
async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = [await textOf('TOLLGATE_TLS_CERT', certFile), await textOf('TOLLGATE_TLS_KEY', keyFile)]
  const x509 = parsed(() => new X509Certificate(cert), `TOLLGATE_TLS_CERT: ${certFile} has no certificate in PEM form`)
  if (!x509.checkPrivateKey(keyOf(key, keyFile))) {
    throw new ConfigError(
      `TOLLGATE_TLS_KEY: the key in ${keyFile} does not belong to the first certificate in ${certFile}`,
    )
  }
  // The TLS library refuses more, such as a chain that is cut off or a key that is too short.
  const made = parsed(() => createSecureContext({ cert, key }), `TOLLGATE_TLS_CERT: ${certFile} cannot be used`)
  return { credentials: { cert, key, context: made.context as object }, x509 }
}

function keyOf(key: string, keyFile: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key)) {
    throw new ConfigError(`TOLLGATE_TLS_KEY: the key in ${keyFile} is encrypted; it must have no passphrase`)
  }
  return parsed(() => createPrivateKey(key), `TOLLGATE_TLS_KEY: ${keyFile} has no private key in PEM form`)
}

async function textOf(variable: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as { code?: string }
    throw new ConfigError(`${variable}: ${file} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}`)
  }
}

function parsed<T>(parse: () => T, message: string): T {
  try {
    return parse()
  } catch (error) {
    throw new ConfigError(`${message} (${(error as Error).message})`)
  }
}

/** The certificate in use. It is replaced when its files have changed; files that cannot be used are reported once. */
export class CertificateWatch {
  onRenewed: ((credentials: TlsCredentials) => void) | undefined
  private current: Certificate
  private readonly files: CertificateFiles
  private readonly log: Log
  /** The state of the files that was read last, and the one that was seen last. */
  private read: string | undefined
  private seen: string | undefined
  private timer: Timer | undefined
  private isStopped = false

  private constructor(files: CertificateFiles, current: Certificate, log: Log) {
    this.files = files
    this.current = current
    this.log = log
    if (notAfterMs(current) < Date.now()) log('warn', 'tls.expired', certificateFields(current))
    this.wait()
  }

  /** Rejects with `ConfigError` if the files cannot be used. */
  static async open(files: CertificateFiles, log: Log): Promise<CertificateWatch> {
    return new CertificateWatch(files, await readCertificate(files), log)
  }

  get credentials(): TlsCredentials {
    return this.current.credentials
  }

  /** The time at which the certificate expires. */
  get endMs(): number {
    return notAfterMs(this.current)
  }

  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private wait(): void {
    if (this.isStopped) return
    const poll = (): void => void this.poll().then(() => this.wait())
    this.timer = setTimeout(poll, POLL_MS)
  }

  /** Never rejects. */
  private async poll(): Promise<void> {
    const { certFile, keyFile } = this.files
    const state = `${await stateOf(certFile)} ${await stateOf(keyFile)}`
    const isSettled = state === this.seen
    this.seen = state
    if (!isSettled || state === this.read) return
    this.read = state
    try {
      this.renew(await readCertificate(this.files))
    } catch (error) {
      this.log('warn', 'tls.unusable', { message: (error as Error).message, keeps: this.current.x509.serialNumber })
    }
  }

  private renew(certificate: Certificate): void {
    const { cert, key } = this.current.credentials
    if (certificate.credentials.cert === cert && certificate.credentials.key === key) return
    this.current = certificate
    this.onRenewed?.(certificate.credentials)
    this.log('info', 'tls.renewed', certificateFields(certificate))
  }
}

const certificateFields = ({ x509 }: Certificate): Record<string, string> => ({
  serial: x509.serialNumber,
  names: namesOf(x509),
  notAfter: new Date(x509.validTo).toISOString(),
})

/** The names that the certificate is for: `api.example.com, 127.0.0.1`. */
const namesOf = ({ subjectAltName, subject }: X509Certificate): string =>
  subjectAltName?.replaceAll(/\b(?:DNS|IP Address):/g, '') ?? subject

async function stateOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file)
    return `${ino}:${size}:${mtimeMs}`
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}

/** What `tollgate doctor` says about the files. */
export async function inspectCertificate(
  files: CertificateFiles,
  publicUrl: string | undefined,
): Promise<CertificateFacts> {
  try {
    const { x509 } = await readCertificate(files)
    const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname.replaceAll(/[[\]]/g, '')
    return {
      kind: 'usable',
      names: namesOf(x509),
      beginMs: Date.parse(x509.validFrom),
      endMs: Date.parse(x509.validTo),
      keyMode: (await stat(files.keyFile)).mode & 0o777,
      keyFile: files.keyFile,
      coversPublicUrl: host === undefined || (x509.checkHost(host) ?? x509.checkIP(host)) !== undefined,
    }
  } catch (error) {
    return { kind: 'unusable', message: (error as Error).message }
  }
}
