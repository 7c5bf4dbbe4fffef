/**
 * What the failure of an upstream means. The status alone does not say it: an empty account is a 400 at one vendor, and
 * a body with status 200 at another. `failures.json` has failures that vendors were seen to report, each with a source
 * and a date. The `code` or `words` of a row decide. A row without either is an example of what its status means.
 */
import type { UpstreamFailureKind } from '../domain/failure.ts'
import rows from './failures.json' with { type: 'json' }

/** A failure that a vendor was seen to report. */
export type SeenFailure = {
  readonly vendor: string
  /** Left out: chat. */
  readonly dialect?: string
  readonly status: number
  readonly body: unknown
  readonly means: UpstreamFailureKind
  /** Decides where a vendor gives it as a code, a type or a reason. */
  readonly code?: string
  /** A regular expression for the beginning of the message. */
  readonly words?: string
  readonly source: string
  readonly date: string
}

export const seenFailures = rows as readonly SeenFailure[]

/** The words of a vendor that decide what a failure means. */
export type VendorErrorText = {
  /** Its codes, types and reasons. */
  readonly codes: readonly string[]
  readonly message: string
}

type FailureMeaning = {
  readonly kind: UpstreamFailureKind
  /** The words of the message that decided. They may be the client's own, quoted by the vendor. */
  readonly evidence?: string
}

const kindsByCode = new Map(seenFailures.flatMap(({ code, means }) => (code ? [[code.toLowerCase(), means]] : [])))
const seenWords = seenFailures.flatMap(({ words, means }) => (words ? [{ beginning: `(?:${words})`, means }] : []))

/** One expression for each kind: a message is searched a few times, not once a row. */
const patterns = [...Map.groupBy(seenWords, ({ means }) => means)].map(([kind, all]) => ({
  kind,
  pattern: new RegExp(`^(?:${all.map(({ beginning }) => beginning).join('|')})`, 'is'),
}))

/** Codes of vendors that have no row. */
const FUNDS_CODE = new RegExp(
  [
    '(?:insufficient|not_?enough|no)_?(?:\\w+_)?(?:balance|credits?|funds?|quota)(?:_error)?$',
    '(?:balance|credits?|funds)_?(?:is_)?(?:insufficient|exhausted|depleted|not_?enough|too_?low)',
    'arrear|unpaid|account_?overdue|payment_?required|billing_?(?:hard_?)?limit|spend(?:ing)?_?limit|out_of_(?:credits?|funds)',
    '(?:credit|usage)_?limit_?(?:reached|exceeded)|billing_?not_?active',
  ].join('|'),
  'i',
)
const LENGTH_CODE =
  /context_?(?:length|window|size)_?(?:is_)?exceed|exceed(?:s|ed)?_?(?:max_?)?context|prompt_?too_?long/i

/** The same for messages. Only the beginning of a message counts: the rest may quote the client. */
const OWNER = '(?:sorry, )?(?:your |the |this |you have )?(?:[a-z]+ ){0,2}'
const LACK = '(?:insufficient|too low|exhausted|depleted|not (?:enough|sufficient)|empty|used up|negative)'
const FUNDS_WORDS = new RegExp(
  [
    `${OWNER}(?:balance|credits?|funds) (?:is|are|has been|have been) ${LACK}`,
    `${OWNER}(?:balance|credits?|funds) ${LACK}`,
    '(?:you have )?(?:insufficient|not enough|no remaining) (?:account |credit |prepaid )?(?:balance|credits?|funds)',
    `${OWNER}account (?:\\S+ )?(?:is|has been) (?:overdue|in arrears|suspended due to (?:insufficient|non-?payment|unpaid))`,
    '(?:payment required|(?:credit|billing|spending) (?:hard )?limit (?:has been )?(?:reached|exceeded))',
    '[^a-z\'"`“‘「]{0,12}(?:余额不足|欠费|额度不足|额度已用尽)',
  ].join('|'),
  'i',
)
const LENGTH_WORDS = new RegExp(
  [
    "(?:the |this |your )?(?:model's )?(?:maximum )?context (?:length|window|size) (?:is |has been |was )?exceeded",
    '(?:the |your )?(?:prompt|input|request|messages?) (?:is|are|was) too long',
    '(?:the |your )?(?:prompt|input|request|messages?|conversation) (?:length )?(?:has \\d+ tokens, which )?exceeds? ' +
      "(?:the )?(?:model'?s? )?(?:maximum |max )?(?:context|input|prompt) (?:length|window|limit|size)",
  ].join('|'),
  'i',
)

/** Text that relays and layers of a vendor put before the message: `<400> InternalError.Algo.InvalidParameter: `. */
const WRAPPING =
  /^(?:(?:<\d{3}>|error code: \d{3} -|error from provider:|the model returned the following errors:|(?:[a-z]+\.)*[a-z]+(?:error|exception)(?:\.[a-z]+)*(?::| -))\s*)+/i

/** What a failure means by its codes and words. Undefined: only its status can say. */
export function meaningOf({ codes, message }: VendorErrorText): FailureMeaning | undefined {
  for (const code of codes) {
    const kind = kindsByCode.get(code.toLowerCase())
    if (kind) return { kind }
    if (FUNDS_CODE.test(code)) return { kind: 'funds' }
    if (LENGTH_CODE.test(code)) return { kind: 'context_length' }
  }
  const said = message.slice(0, 1_000).replace(WRAPPING, '').trimStart()
  for (const { kind, pattern } of patterns) {
    const [evidence] = pattern.exec(said) ?? []
    if (evidence !== undefined) return { kind, evidence }
  }
  const [funds] = beginningOf(FUNDS_WORDS, said)
  if (funds !== undefined) return { kind: 'funds', evidence: funds }
  const [length] = beginningOf(LENGTH_WORDS, said)
  return length === undefined ? undefined : { kind: 'context_length', evidence: length }
}

function beginningOf(pattern: RegExp, text: string): readonly string[] {
  const found = pattern.exec(text)
  return found?.index === 0 ? found : []
}
