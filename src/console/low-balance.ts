/** How long a balance lasts, and the warning to an account whose balance is below its threshold. */
import { z } from 'zod'
import type { Account } from '../domain/account.ts'
import { utc } from '../lib/primitives/time-zone.ts'
import { addUp } from '../records/usage-rollups.ts'
import type { ConsoleContext } from './context.ts'
import { nano } from './shapes.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

/** The pace is that of a whole week, because weekdays differ. */
const PACE_HOURS = 7 * 24
const PARTS = 1_000_000

/** Days to one decimal. Null if nothing was spent. */
export function daysLeft(available: bigint, spent: bigint, hours: number): number | null {
  if (spent <= 0n) return null
  const parts = (available * BigInt(hours) * BigInt(PARTS)) / (spent * 24n)
  return Math.round((Number(parts) / PARTS) * 10) / 10
}

export const lowBalanceShape = z
  .strictObject({
    threshold_nano_usd: nano,
    available_nano_usd: nano,
    days_left: z
      .number()
      .nullable()
      .meta({ description: 'at the pace of the last seven days; null: nothing was spent' }),
  })
  .meta({ id: 'LowBalance' })

/** Null if the balance is not below the threshold, or there is no threshold. */
export async function lowBalanceOf(
  { services }: ConsoleContext,
  { id, lowBalance }: Account,
): Promise<z.infer<typeof lowBalanceShape> | null> {
  const { available } = services.ledger.balance(id)
  if (lowBalance === undefined || available >= lowBalance) return null
  const toHour = Math.ceil((Date.now() + 1) / HOUR_MS)
  const range = { fromHour: toHour - PACE_HOURS, toHour, stepHours: 24, shifts: utc } as const
  const { sums } = addUp(await services.rollups.rows({ ...range, accountId: id, by: undefined }))
  return {
    threshold_nano_usd: lowBalance.toString(),
    available_nano_usd: available.toString(),
    days_left: daysLeft(available, sums.charged, PACE_HOURS),
  }
}
