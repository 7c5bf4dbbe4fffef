import { expect, test } from 'bun:test'
import { unreached } from './access.ts'

const said = (message: string): string => JSON.stringify(unreached('https://127.0.0.1:8080/v1', message))

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])('%s: the server runs, and its certificate is the matter', (code) => {
  expect(said(code)).toContain('NODE_EXTRA_CA_CERTS')
  expect(said(code)).not.toContain('is it running')
})

test('without a server the message asks for it', () => {
  expect(said('ECONNREFUSED')).toContain('is it running? tollgate serve')
})
