/**
 * What Amazon Bedrock refuses in its Converse format, in its words. The shapes, patterns and bounds are those of the
 * service model of bedrock-runtime, 2023-09-30 (boto/botocore, 2026-08-07). The other refusals name their reports, read
 * on 2026-11-26. Written independently of src/vendors/converse-families.ts, so that both do not share a mistake.
 */
import { CONVERSE_SEAL, type Check, type Refusal, type VendorRequest } from './refusals.ts'
import { fieldsOf, listOf, textOf, type Fields } from './seen.ts'

const refusal = (type: string, status: number, message: string): Refusal => ({
  status,
  body: { message },
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
})
class RefusedRequest extends Error {}
const refuse = (message: string): never => {
  throw new RefusedRequest(message)
}
const need = (holds: boolean, message: string): void => {
  if (!holds) refuse(message)
}

const TOP = 'messages system inferenceConfig toolConfig additionalModelRequestFields outputConfig'.split(' ')
const BLOCKS =
  'text image document audio toolUse toolResult cachePoint reasoningContent citationsContent guardContent'.split(' ')
const ID = /^[a-zA-Z0-9_.:-]{1,64}$/
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/

const kindOf = (block: Fields): string => Object.keys(block)[0] ?? ''
const isToolBlock = (block: Fields): boolean => 'toolUse' in block || 'toolResult' in block

/** The models of the fakes. */
type Ability = {
  readonly isClaude: boolean
  readonly isNova: boolean
  readonly isTemplate: boolean
}
const abilityOf = (model: string): Ability => ({
  isClaude: model.includes('claude'),
  isNova: model.includes('nova'),
  isTemplate: model.includes('llama'),
})

export const converseRequests: Check = (sent) => {
  try {
    check(sent, abilityOf(sent.model))
    return undefined
  } catch (error) {
    if (error instanceof RefusedRequest) return refusal('ValidationException', 400, error.message)
    throw error
  }
}

function check({ body, model, path = '' }: VendorRequest, can: Ability): void {
  const extra = Object.keys(body).find((key) => !TOP.includes(key))
  need(extra === undefined, `Unknown parameter in input: "${extra}"`)
  const messages = listOf(body['messages'])
  checkRoles(messages, model)
  const names = new Set<string>()
  for (const [i, { role, content }] of messages.entries()) {
    need(listOf(content).length > 0, `The content field in the Message object at messages.${i} is empty.`)
    checkBlocks(listOf(content), { at: `messages.${i}.content`, role: textOf(role), can, names })
  }
  for (const block of listOf(body['system'])) {
    need('text' in block || 'cachePoint' in block, 'system: unknown block')
    need(!('text' in block) || textOf(block['text']).trim() !== '', 'The text field in the ContentBlock is blank.')
  }
  checkResults(messages)
  checkTools(body, messages, can)
  checkCachePoints([listOf(body['system']), ...messages.map(({ content }) => listOf(content))], can)
  checkFields(body, can)
  // https://github.com/earendil-works/pi/issues/3739
  const isBarred = can.isTemplate && path.endsWith('/converse-stream') && 'toolConfig' in body
  need(!isBarred, "This model doesn't support tool use in streaming mode.")
}

/** https://github.com/langgenius/dify/issues/12340, https://github.com/Portkey-AI/gateway/issues/748 */
function checkRoles(messages: readonly Fields[], model: string): void {
  need(
    messages[0]?.['role'] === 'user',
    'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  )
  const isOdd = messages.some(({ role }, i) => role !== (i % 2 === 0 ? 'user' : 'assistant'))
  need(
    !isOdd,
    'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
  )
  // https://github.com/NousResearch/hermes-agent/pull/101401
  const isPrefilled = messages.at(-1)?.['role'] === 'assistant' && !/claude-sonnet-4-5/.test(model)
  need(!isPrefilled, 'The model returned the following errors: The conversation must end with a user message.')
}

type Place = {
  readonly at: string
  readonly role: string
  readonly can: Ability
  /** The names of the documents of the request. */
  readonly names: Set<string>
}

function checkBlocks(blocks: readonly Fields[], place: Place): void {
  const { at, can } = place
  for (const [i, block] of blocks.entries()) {
    const where = `${at}.${i}`
    need(Object.keys(block).length === 1 && BLOCKS.includes(kindOf(block)), `${where}: not one member of a union`)
    checkBlock(block, { ...place, at: where })
  }
  // https://github.com/archestra-ai/archestra/pull/4220
  const hasDocument = blocks.some((block) => 'document' in block)
  need(!hasDocument || blocks.some((block) => 'text' in block), 'A text block must be included when using documents.')
  // https://github.com/strands-agents/harness-sdk/issues/1223, https://github.com/quarkiverse/quarkus-langchain4j/issues/1983
  const isMixed = blocks.some(isToolBlock) && !blocks.every(isToolBlock)
  need(
    !(can.isTemplate && isMixed),
    `${at}: Conversation blocks and tool result blocks cannot be provided in the same turn.`,
  )
}

function checkBlock(block: Fields, place: Place): void {
  const { at, role, can } = place
  const value = fieldsOf(block[kindOf(block)])
  switch (kindOf(block)) {
    case 'text':
      // https://github.com/earendil-works/pi/issues/4975
      return need(
        textOf(block['text']).trim() !== '',
        `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`,
      )
    case 'image':
      need(role === 'user', `${at}: images only in user messages`)
      need(['png', 'jpeg', 'gif', 'webp'].includes(textOf(value['format'])), `${at}.image.format`)
      return need(textOf(fieldsOf(value['source'])['bytes']) !== '', `${at}.image.source`)
    case 'document':
      return checkDocument(value, place)
    case 'toolUse':
      need(role === 'assistant', `${at}: User messages cannot contain tool uses.`)
      need(ID.test(textOf(value['toolUseId'])), `${at}.toolUse.toolUseId must satisfy the pattern`)
      need(NAME.test(textOf(value['name'])), `${at}.toolUse.name must satisfy regular expression pattern`)
      return need(
        typeof value['input'] === 'object' && value['input'] !== null && !Array.isArray(value['input']),
        `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`,
      )
    case 'toolResult':
      need(role === 'user', `${at}: only in user messages`)
      return checkResult(value, place)
    case 'reasoningContent':
      return checkThought(value, place)
    case 'cachePoint':
      return need(can.isClaude || can.isNova, "This model doesn't support the cachePoint field.")
    default:
      return
  }
}

/** https://github.com/vercel/ai/issues/20365, https://github.com/anomalyco/opencode/pull/48756 (no name twice). */
function checkDocument({ name, format, source }: Fields, { at, names }: Place): void {
  need(
    DOCUMENT_NAME.test(textOf(name)),
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
  )
  need(!names.has(textOf(name)), 'The provided request contains duplicate document names.')
  names.add(textOf(name))
  need(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'].includes(textOf(format)), `${at}.format`)
  need(textOf(fieldsOf(source)['bytes']) !== '', `${at}.source`)
}

function checkResult({ toolUseId, content, status }: Fields, place: Place): void {
  const { at, can } = place
  need(ID.test(textOf(toolUseId)), `${at}.toolResult.toolUseId must satisfy the pattern`)
  const blocks = listOf(content)
  need(blocks.length > 0, `The content field at ${at}.toolResult cannot be empty when status value is error.`)
  const isRich = can.isClaude || can.isNova
  for (const block of blocks) {
    need(['text', 'json', 'image', 'document'].includes(kindOf(block)), `${at}.toolResult.content: unknown block`)
    need(isRich || 'text' in block || 'json' in block, "This model doesn't support images in tool results.")
  }
  need(status === undefined || isRich, "This model doesn't support the toolResult.status field.")
  checkBlocks(
    blocks.filter((block) => !('json' in block)),
    { ...place, at: `${at}.toolResult.content`, can: { ...can, isTemplate: false } },
  )
}

/** https://github.com/langchain-ai/langchain-aws/issues/401 */
function checkThought({ reasoningText, redactedContent }: Fields, { at, role, can }: Place): void {
  need(
    role === 'assistant' && can.isClaude,
    'User messages cannot contain reasoning content. Please remove the reasoning content and try again.',
  )
  const { signature } = fieldsOf(reasoningText)
  const isSigned = redactedContent !== undefined || textOf(signature).startsWith(CONVERSE_SEAL)
  need(isSigned, `The model returned the following errors: ${at}: Invalid \`signature\` in \`thinking\` block`)
}

/** https://github.com/langgenius/dify-official-plugins/issues/765, https://github.com/NousResearch/hermes-agent/pull/108585 */
function checkResults(messages: readonly Fields[]): void {
  const idsIn = (message: Fields | undefined, kind: string): string[] =>
    listOf(message?.['content']).flatMap((block) =>
      block[kind] === undefined ? [] : [textOf(fieldsOf(block[kind])['toolUseId'])],
    )
  for (const [i, message] of messages.entries()) {
    const uses = idsIn(messages[i - 1], 'toolUse')
    const results = idsIn(message, 'toolResult')
    need(
      results.length <= uses.length,
      `The number of toolResult blocks at messages.${i}.content exceeds the number of toolUse blocks of previous turn.`,
    )
    const missing = uses.filter((id) => !results.includes(id))
    need(
      missing.length === 0,
      `Expected toolResult blocks at messages.${i}.content for the following Ids: ${missing.join()}`,
    )
    const first = listOf(message['content']).findIndex((block) => !('toolResult' in block))
    const behind = first < 0 ? [] : listOf(message['content']).slice(first)
    need(!behind.some((block) => 'toolResult' in block), `messages.${i}: tool_result blocks must come first`)
  }
  const uses = messages.flatMap((message) => idsIn(message, 'toolUse'))
  need(new Set(uses).size === uses.length, '`tool_use` ids must be unique')
  need(idsIn(messages.at(-1), 'toolUse').length === 0, 'Expected toolResult blocks')
}

/** https://github.com/aws-samples/bedrock-access-gateway/pull/239 */
function checkTools(body: Fields, messages: readonly Fields[], can: Ability): void {
  const config = body['toolConfig']
  const hasBlocks = messages.some(({ content }) => listOf(content).some(isToolBlock))
  need(
    !hasBlocks || config !== undefined,
    'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
  )
  if (config === undefined) return
  const { tools, toolChoice, ...rest } = fieldsOf(config)
  need(Object.keys(rest).length === 0, 'toolConfig: unknown member')
  need(listOf(tools).length > 0, 'toolConfig.tools: valid min length: 1')
  for (const [i, tool] of listOf(tools).entries()) checkTool(fieldsOf(tool['toolSpec']), `toolConfig.tools.${i}`, can)
  const kind = toolChoice === undefined ? undefined : kindOf(fieldsOf(toolChoice))
  // https://github.com/strands-agents/harness-sdk/issues/1241
  need(
    kind === undefined || can.isClaude || can.isNova,
    `This model doesn't support the toolConfig.toolChoice.${kind} field. Remove toolConfig.toolChoice.${kind} and try again.`,
  )
}

function checkTool({ name, description, inputSchema, ...rest }: Fields, at: string, can: Ability): void {
  need(NAME.test(textOf(name)), `Value at '${at}.toolSpec.name' failed to satisfy constraint: ${textOf(name)}`)
  need(description === undefined || textOf(description) !== '', `${at}.toolSpec.description: valid min length: 1`)
  const schema = fieldsOf(fieldsOf(inputSchema)['json'])
  need(
    schema['type'] === 'object',
    `The value at ${at}.toolSpec.inputSchema.json.type must be one of the following: object.`,
  )
  need(
    Object.keys(rest).every((key) => key === 'strict' && can.isClaude),
    `${at}.toolSpec: unknown member`,
  )
  // https://github.com/zed-industries/zed/issues/28521
  const extra = Object.keys(schema).find((key) => !['type', 'properties', 'required'].includes(key))
  need(
    !can.isNova || extra === undefined,
    `The model returned the following errors: Malformed input request: #/${at.replaceAll('.', '/')}/toolSpec/inputSchema/json: extraneous key [${extra}] is not permitted, please reformat your input and try again.`,
  )
}

/** langchain-ai/langchain-aws, `_apply_cache_points`. */
function checkCachePoints(contents: readonly (readonly Fields[])[], { isNova }: Ability): void {
  const marked = contents.filter((blocks) => blocks.some((block) => 'cachePoint' in block))
  const points = contents.flat().filter((block) => 'cachePoint' in block)
  need(points.length <= 4, 'A maximum of 4 blocks with cache_control may be provided.')
  need(!isNova || !marked.some((blocks) => blocks.some(isToolBlock)), 'Malformed input request: cachePoint')
  need(!isNova || !points.some(({ cachePoint }) => 'ttl' in fieldsOf(cachePoint)), 'Malformed input request: ttl')
}

function checkFields(body: Fields, can: Ability): void {
  const { maxTokens, temperature, topP, stopSequences, ...rest } = fieldsOf(body['inferenceConfig'])
  need(Object.keys(rest).length === 0, 'inferenceConfig: unknown member')
  need(maxTokens === undefined || (typeof maxTokens === 'number' && maxTokens >= 1), 'inferenceConfig.maxTokens')
  for (const value of [temperature, topP]) {
    need(value === undefined || (typeof value === 'number' && value >= 0 && value <= 1), 'inferenceConfig: above 1')
  }
  need(!(can.isClaude && temperature !== undefined && topP !== undefined), '`temperature` and `top_p` cannot both be')
  const stops: unknown[] = Array.isArray(stopSequences) ? stopSequences : []
  need(!stops.includes(''), 'inferenceConfig.stopSequences: valid min length: 1')
  need(body['outputConfig'] === undefined || can.isClaude, "This model doesn't support the outputConfig field.")
  const fields = Object.keys(fieldsOf(body['additionalModelRequestFields']))
  const known = can.isClaude ? ['thinking', 'output_config', 'top_k'] : can.isNova ? ['inferenceConfig'] : []
  const extra = fields.find((field) => !known.includes(field))
  need(
    extra === undefined,
    `The model returned the following errors: Malformed input request: extraneous key [${extra}] is not permitted, please reformat your input and try again.`,
  )
}
