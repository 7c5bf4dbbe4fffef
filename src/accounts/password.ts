/**
 * Passwords: argon2id with OWASP's least parameters (19 MiB, 2 passes, 1 lane; 30 to 50 ms of a core). One at a time,
 * on a thread of the runtime's pool: signing in must not take the cores from requests, nor the memory.
 */
import { limit } from '../lib/primitives/limit.ts'

const PARAMETERS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Who comes when so many wait is sent away. */
const WAITING_MAX = limit('passwordsWaitingMax', 16, 'A further sign-in is refused.')

export const PASSWORD_CHARS = { min: 10, max: 200 } as const

type PasswordCheck = 'right' | 'wrong' | 'busy'

export class Passwords {
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0
  /** Of a password that nobody has. */
  private nobody: string | undefined

  /** Undefined when too many are waiting. */
  async hash(password: string): Promise<string | undefined> {
    return this.inTurn(() => Bun.password.hash(password, PARAMETERS))
  }

  /** Does the same work whether there is a hash or not: the time says nothing about who has an account here. */
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
