/** How requests to S3 fail, and what that means for an operator. */

export type S3Failure = {
  readonly kind: 'failed'
  /** S3's own code, such as `NoSuchKey`, or one of ours: `network`, `stalled`, `redirect`, `unexpected`. */
  readonly code: string
  /** 0 without an answer. */
  readonly status: number
  /** For the operator. It holds no secret. */
  readonly message: string
}

/** Codes of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, read on 2026-11-26). */
const meanings: Readonly<Record<string, string>> = {
  AccessDenied: 'the key may not do this: it needs to put, get, delete and list objects under the prefix',
  AuthorizationHeaderMalformed: 'the request is signed for the wrong region: check TOLLGATE_S3_REGION',
  InvalidAccessKeyId: 'the server does not know TOLLGATE_S3_ACCESS_KEY_ID',
  NoSuchBucket: 'there is no bucket of that name: check TOLLGATE_S3_BUCKET and TOLLGATE_S3_PATH_STYLE',
  PermanentRedirect: 'the bucket is at another address: check TOLLGATE_S3_ENDPOINT and TOLLGATE_S3_REGION',
  RequestTimeTooSkewed: "this machine's clock differs by more than 15 minutes from the server's",
  // versitygw 1.x, tried on 2026-11-26.
  XAdminUserNotFound: 'the server does not know TOLLGATE_S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the signature is not accepted: check TOLLGATE_S3_SECRET_ACCESS_KEY',
  redirect: 'the server redirects, which is not followed: check TOLLGATE_S3_ENDPOINT and TOLLGATE_S3_REGION',
}

export const s3Failure = (code: string, status: number, text: string): S3Failure => ({
  kind: 'failed',
  code,
  status,
  message: meanings[code] === undefined ? text : `${meanings[code]} (${code})`,
})

const CODE = /<Code>([A-Za-z\d.]{1,64})<\/Code>/

/** The failure in the text of an answer. An answer to HEAD has no text. */
export function s3FailureIn(status: number, text: string): S3Failure {
  if (status >= 300 && status < 400 && !text.includes('PermanentRedirect')) return s3Failure('redirect', status, '')
  const code = CODE.exec(text)?.[1]
  if (code !== undefined) return s3Failure(code, status, `the server answered ${status} ${code}`)
  return s3Failure(status === 404 ? 'NotFound' : 'unexpected', status, `the server answered ${status}`)
}

/** 200 may hold an error, because the head of an answer that takes long is sent first. */
export const isErrorText = (text: string): boolean => text.includes('<Error>') && CODE.test(text)

const PASSING = new Set(['network', 'stalled', 'InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout'])

/** Whether the same request may succeed a moment later. */
export const isPassing = ({ code, status }: S3Failure): boolean =>
  PASSING.has(code) || status >= 500 || status === 429 || status === 408

/** Whether the object is not there. A bucket that is not there says nothing about its objects. */
export const isAbsent = ({ code }: S3Failure): boolean => code === 'NoSuchKey' || code === 'NotFound'
