/** What `tollgate doctor` says about the certificate of the port. */
import type { CheckState, DoctorCheck } from './doctor-check.ts'
import { DAY_MS } from '../lib/primitives/units.ts'
import type { CertificateFacts, Settings } from './program.ts'

/** A certificate that is renewed by a program has more time left than this. */
const WARN_DAYS = 14
/** The file may be read by its group, as with Debian's `ssl-cert`, and written by nobody else. */
const OTHERS = 0o027

const tls = (state: CheckState, detail: string): DoctorCheck => ({ name: 'tls', state, detail })
const key = (state: CheckState, detail: string): DoctorCheck => ({ name: 'tls key', state, detail })

/** None for a port without TLS. */
export function certificateChecks(
  { certificate, publicUrl }: Pick<Settings, 'certificate' | 'publicUrl'>,
  nowMs = Date.now(),
): readonly DoctorCheck[] {
  if (!certificate) return []
  if (certificate.kind === 'unusable') return [tls('fail', certificate.message)]
  return [validity(certificate, publicUrl, nowMs), keyCheck(certificate)]
}

type UsableCertificate = Extract<CertificateFacts, { readonly kind: 'usable' }>

function validity(
  { names, beginMs, endMs, coversPublicUrl }: UsableCertificate,
  publicUrl: string | undefined,
  nowMs: number,
): DoctorCheck {
  const end = new Date(endMs).toISOString().slice(0, 10)
  const days = Math.floor((endMs - nowMs) / DAY_MS)
  if (endMs <= nowMs) return tls('fail', `the certificate for ${names} expired on ${end}`)
  if (beginMs > nowMs) {
    return tls('fail', `the certificate for ${names} is not valid before ${new Date(beginMs).toISOString()}`)
  }
  if (!coversPublicUrl) return tls('warn', `the certificate is for ${names}, and TOLLGATE_PUBLIC_URL is ${publicUrl}`)
  const detail = `the certificate for ${names} expires on ${end}, in ${days} days`
  return tls(days < WARN_DAYS ? 'warn' : 'ok', detail)
}

function keyCheck({ keyFile, keyMode }: UsableCertificate): DoctorCheck {
  const mode = keyMode.toString(8).padStart(4, '0')
  if ((keyMode & OTHERS) === 0) return key('ok', `${keyFile}, mode ${mode}`)
  return key('warn', `other users can read or change ${keyFile} (mode ${mode}): chmod 600 it`)
}
