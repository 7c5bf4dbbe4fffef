/**
 * The names that OpenTelemetry has for vendors: the values of `gen_ai.provider.name` (semantic conventions 1.41.1,
 * 2026-05-11, model/gen-ai/registry.yaml). A vendor that it does not name has the id of its preset.
 */
const names: ReadonlyMap<string, string> = new Map(
  Object.entries({
    azure: 'azure.ai.openai',
    'azure-deployments': 'azure.ai.openai',
    bedrock: 'aws.bedrock',
    'bedrock-anthropic': 'aws.bedrock',
    'bedrock-converse': 'aws.bedrock',
    gemini: 'gcp.gemini',
    mistral: 'mistral_ai',
    vertex: 'gcp.vertex_ai',
    'vertex-anthropic': 'gcp.vertex_ai',
    xai: 'x_ai',
  }),
)

/** For a test. */
export const presetsWithNames: readonly string[] = [...names.keys()]

export const semanticNameOf = (presetId: string): string => names.get(presetId) ?? presetId
