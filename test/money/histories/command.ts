/** The random commands of one history, and the course of a session with many histories. */
import fc from 'fast-check'

/** Money in a command is a size; a history multiplies it by its scale, so that small and huge amounts share a shape. */
export type Command =
  | { readonly kind: 'hold'; readonly account: number; readonly size: bigint; readonly written: 'now' | 'soon' }
  | { readonly kind: 'extend'; readonly pick: number; readonly size: bigint }
  | { readonly kind: 'settle'; readonly pick: number; readonly cost: 'below' | 'at' | 'above'; readonly size: bigint }
  | { readonly kind: 'release'; readonly pick: number }
  /** Resolves once more what is resolved already. */
  | { readonly kind: 'again'; readonly pick: number; readonly as: 'settle' | 'release' }
  | {
      readonly kind: 'adjust'
      readonly as: 'credit' | 'debit' | 'refund'
      readonly account: number
      readonly size: bigint
      /** `used`: the reference of an earlier booking, which may still be on its way to the disk. */
      readonly ref: 'fresh' | 'used'
      readonly pick: number
    }
  | {
      readonly kind: 'misuse'
      readonly as: 'unknown account' | 'negative hold' | 'too large' | 'registered again'
      readonly account: number
    }

/** What happens between two steps: nothing, a turn of the event loop, or everything under way becomes durable. */
export type Pause = 'none' | 'turn' | 'drain'

/** Histories that are played side by side on one ledger, step by step. */
export type Session = {
  readonly histories: readonly (readonly Command[])[]
  readonly pauses: readonly Pause[]
  /** Steps after which the store is closed, with holds open and writes under way, and opened again. */
  readonly restarts: readonly number[]
  /** Steps after which the books are verified while writes are under way. */
  readonly verifications: readonly number[]
  readonly end: 'released' | 'expired'
}

export type SessionShape = {
  readonly histories: number
  readonly commandsMin: number
}

const COMMANDS_SPREAD = 20

const size = fc.bigInt({ min: 0n, max: 50n })
const positive = fc.bigInt({ min: 1n, max: 50n })
/** Several times what comes out at once: an account that is always empty refuses everything and proves little. */
const plenty = fc.bigInt({ min: 1n, max: 150n })
const account = fc.nat(1)
const pick = fc.nat(1_000)
const is = <T extends string>(kind: T): fc.Arbitrary<T> => fc.constant(kind)

type Adjust = Extract<Command, { kind: 'adjust' }>

function adjust(as: fc.Arbitrary<Adjust['as']>, sizes: fc.Arbitrary<bigint>): fc.Arbitrary<Adjust> {
  const ref = fc.constantFrom('fresh' as const, 'fresh' as const, 'fresh' as const, 'used' as const)
  return fc.record({ kind: is('adjust'), as, account, size: sizes, ref, pick })
}

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({ kind: is('hold'), account, size, written: fc.constantFrom('now', 'soon', 'soon') }),
  },
  {
    weight: 28,
    arbitrary: fc.record({ kind: is('settle'), pick, cost: fc.constantFrom('below', 'at', 'above'), size }),
  },
  { weight: 12, arbitrary: fc.record({ kind: is('extend'), pick, size }) },
  { weight: 12, arbitrary: fc.record({ kind: is('release'), pick }) },
  { weight: 4, arbitrary: fc.record({ kind: is('again'), pick, as: fc.constantFrom('settle', 'release') }) },
  { weight: 10, arbitrary: adjust(fc.constantFrom('credit', 'credit', 'refund'), plenty) },
  { weight: 3, arbitrary: adjust(is('debit'), positive) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: is('misuse'),
      as: fc.constantFrom('unknown account', 'negative hold', 'too large', 'registered again'),
      account,
    }),
  },
)

const pause: fc.Arbitrary<Pause> = fc.oneof(
  { weight: 3, arbitrary: is('none') },
  { weight: 6, arbitrary: is('turn') },
  { weight: 1, arbitrary: is('drain') },
)

/** A session of the given shape. Every history has at least `commandsMin` commands. */
export function session({ histories, commandsMin }: SessionShape): fc.Arbitrary<Session> {
  const commandsMax = commandsMin + COMMANDS_SPREAD
  const steps = fc.uniqueArray(fc.nat(commandsMax), { maxLength: 2 })
  return fc.record({
    histories: fc.array(fc.array(command, { minLength: commandsMin, maxLength: commandsMax, size: 'max' }), {
      minLength: histories,
      maxLength: histories,
      size: 'max',
    }),
    pauses: fc.array(pause, { minLength: 1, maxLength: commandsMax, size: 'max' }),
    restarts: steps,
    verifications: steps,
    end: fc.constantFrom('released' as const, 'expired' as const),
  })
}
