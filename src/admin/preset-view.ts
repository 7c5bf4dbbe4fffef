/** The known vendors, as operators see them. */
import { presets } from '../vendors/presets.ts'

export type PresetView = {
  readonly id: string
  readonly label: string
  readonly base_url: string | null
  readonly key_variable: string | null
}

export const presetViews = (): readonly PresetView[] =>
  presets.map(({ id, label, baseUrl, keyVariable }) => ({
    id,
    label,
    base_url: baseUrl ?? null,
    key_variable: keyVariable ?? null,
  }))
