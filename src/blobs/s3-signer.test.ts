import { expect, test } from 'bun:test'
import { EMPTY_SHA256, escapedForS3, signedHeaders, type UnsignedRequest } from './s3-signer.ts'

/** The examples at the end of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. */
const identity = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const request: UnsignedRequest = {
  method: 'GET',
  host: 'examplebucket.s3.amazonaws.com',
  path: '/',
  query: '',
  headers: {},
  sha256: EMPTY_SHA256,
}
const examples: readonly [name: string, request: Partial<UnsignedRequest>, signature: string][] = [
  [
    'an object, in part',
    { path: '/test.txt', headers: { range: 'bytes=0-9' } },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'a new object',
    {
      method: 'PUT',
      path: `/${escapedForS3('test$file.text')}`,
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      sha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    },
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'a setting of a bucket',
    { query: 'lifecycle=' },
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  ['a list', { query: 'max-keys=2&prefix=J' }, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
]

for (const [name, parts, signature] of examples) {
  test(`AWS's example is signed as AWS signs it: ${name}`, () => {
    const headers = signedHeaders({ ...request, ...parts }, identity, Date.UTC(2013, 4, 24))
    expect(headers['authorization']).toEndWith(`Signature=${signature}`)
    expect(headers['x-amz-date']).toBe('20130524T000000Z')
  })
}

test('the secret is in no header', () => {
  const headers = signedHeaders(request, identity, Date.now())
  expect(JSON.stringify(headers)).not.toContain(identity.secretAccessKey)
})
