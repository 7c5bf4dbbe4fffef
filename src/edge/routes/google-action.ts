/** Google's clients call `v1beta` or `v1alpha`. Its SDK for JavaScript calls `v1` since its third major (2026-11). */
export const googleAction = (action: string): { readonly path: string; readonly aliases: readonly string[] } => ({
  path: `/v1beta/models/{model}:${action}`,
  aliases: [`/v1/models/{model}:${action}`, `/v1alpha/models/{model}:${action}`],
})
