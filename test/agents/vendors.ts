/** The strict vendors for foreign programs, one for each way in which vendors differ. */
import { profiles, type Profile } from '../vendors/fake.ts'

const rows: Readonly<Record<string, string>> = {
  OpenAI: 'openai gpt-5.6-sol',
  Anthropic: 'anthropic claude-opus-5',
  Gemini: 'gemini gemini-3-pro-preview',
  DeepSeek: 'deepseek deepseek-v4-pro',
  Mistral: 'mistral mistral-large-latest',
  Kimi: 'moonshot kimi-k2-thinking',
}

export const strictVendors: readonly { readonly name: string; readonly profile: Profile }[] = Object.entries(rows).map(
  ([name, row]) => {
    const profile = profiles.find(({ preset, model }) => `${preset} ${model}` === row)
    if (!profile) throw new Error(`there is no strict vendor ${row}`)
    return { name, profile }
  },
)
