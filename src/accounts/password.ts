/**
 * Passwords: argon2id with OWASP's minimum parameters (19 MiB, 2 passes, 1 lane; 30 to 50 ms of a core). They are
 * hashed one at a time, on a thread of the runtime's pool, so that sign-ins take neither cores nor memory from
 * requests.
 */
import { limit } from '../lib/primitives/limit.ts'

const PARAMETERS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** With this many waiting, a further sign-in is refused. */
const WAITING_MAX = limit('passwordsWaitingMax', 16, 'A further sign-in is refused.')

export const PASSWORD_CHARS = { min: 10, max: 200 } as const

type PasswordCheck = 'right' | 'wrong' | 'busy'

export class Passwords {
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0
  /** The hash of a password that nobody has. */
  private nobody: string | undefined

  /** Hashes a password. Resolves to undefined if too many are waiting. */
  async hash(password: string): Promise<string | undefined> {
    return this.inTurn(() => Bun.password.hash(password, PARAMETERS))
  }

  /** Checks a password. Without a hash it does the same work, so the time does not reveal whether an account exists. */
  async check(password: string, hash: string | undefined): Promise<PasswordCheck> {
    const isRight = await this.inTurn(async () => {
      this.nobody ??= await Bun.password.hash(crypto.randomUUID(), PARAMETERS)
      return (await Bun.password.verify(password, hash ?? this.nobody)) && hash !== undefined
    })
    return isRight === undefined ? 'busy' : isRight ? 'right' : 'wrong'
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.waiting >= WAITING_MAX) return undefined
    this.waiting++
    const turn = this.last.then(work)
    this.last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.waiting--
    }
  }
}
