import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { EMPTY_SHA256, escapedForAws, queryForAws, signedHeaders, type UnsignedRequest } from './aws-signature.ts'

/** The examples at the end of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. */
const identity = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 's3',
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
      path: `/${escapedForAws('test$file.text')}`,
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
  test(`AWS's example for S3 is signed as AWS signs it: ${name}`, () => {
    const headers = signedHeaders({ ...request, ...parts }, identity, Date.UTC(2013, 4, 24))
    expect(headers['authorization']).toEndWith(`Signature=${signature}`)
    expect(headers['x-amz-date']).toBe('20130524T000000Z')
  })
}

test('the secret is in no header', () => {
  const headers = signedHeaders(request, identity, Date.now())
  expect(JSON.stringify(headers)).not.toContain(identity.secretAccessKey)
})

/**
 * Requests of AWS's test suite for signers, with its keys and the signatures that it expects
 * (https://github.com/awslabs/aws-c-auth, tests/aws-signing-test-suite/v4, read on 2026-11-26).
 */
const suiteKey = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
}
const suiteRequest: UnsignedRequest = { ...request, host: 'example.amazonaws.com' }
const form = 'Param1=value1'
const formDigest = createHash('sha256').update(form).digest('hex')

test.each([
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    { query: 'Param1=value1&Param2=value2' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-space-unnormalized',
    { path: '/example space/' },
    '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  ],
  [
    'get-vanilla-query-order-encoded',
    {
      query: queryForAws([
        ['Param-3', 'Value3'],
        ['Param', 'Value2'],
        ['\u1234', 'Value1'],
      ]),
    },
    '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  ],
  ['get-utf8', { path: '/\u1234' }, '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  [
    'get-header-value-trim',
    { headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' } },
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      method: 'POST',
      sha256: formDigest,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': '13',
        'x-amz-content-sha256': formDigest,
      },
    },
    'd3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
  ],
] as const)('a request of AWS\u2019s test suite is signed as it expects: %s', (_, parts, signature) => {
  const headers = signedHeaders({ ...suiteRequest, ...parts }, suiteKey, Date.UTC(2015, 7, 30, 12, 36))
  expect(headers['authorization']).toEndWith(`, Signature=${signature}`)
})

test('a session token is signed, too', () => {
  const sessionToken = '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267'
  const headers = signedHeaders(suiteRequest, { ...suiteKey, sessionToken }, Date.UTC(2015, 7, 30, 12, 36))
  expect(headers).toEqual({
    'x-amz-date': '20150830T123600Z',
    'x-amz-security-token': sessionToken,
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
      'SignedHeaders=host;x-amz-date;x-amz-security-token, ' +
      'Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
  })
})
