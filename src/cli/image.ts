import { Stop } from '../outbound/stop.ts'
import { safeText } from '../lib/primitives/safe-text.ts'
import { accessOf, accessOptions, costOnRecord, unreached } from './access.ts'
import { command } from './command.ts'
import { callImage, findImageModel, type ImageEnd } from './image-call.ts'
import { exitWith, refusedCall, shown, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { usd } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text } from './values.ts'

const INTERRUPTED = 130
const PARTIALS = 2
const FORMATS = new Map(Object.entries({ png: 'png', jpg: 'jpeg', jpeg: 'jpeg', webp: 'webp' }))

export const image = command({
  name: 'image',
  summary: 'Makes an image over the public API and writes it to a file.',
  examples: [
    ["tollgate image 'a lighthouse at dusk' --size 1024x1024 -o out.png"],
    ["tollgate image 'a paper boat' --model sandbox-image --background transparent -o boat.webp"],
  ],
  positionals: [{ name: 'prompt', summary: 'what to show', value: text('PROMPT'), takes: 'many' }],
  options: {
    output: {
      summary: 'file to write; its extension sets the format',
      value: {
        placeholder: 'FILE',
        problem: (given: string) => (formatOf(given) ? undefined : 'must end in .png, .jpg, .jpeg or .webp'),
      },
      takes: 'needed',
      short: 'o',
    },
    model: { summary: 'model to ask (default: the first that makes images)', value: text('MODEL') },
    size: { summary: 'WIDTHxHEIGHT', value: text('SIZE') },
    quality: { summary: 'quality, in the terms of the model: low, high, hd …', value: text('QUALITY') },
    background: { summary: 'transparent or opaque', value: text('BACKGROUND') },
    ...accessOptions,
  },
  run: async ({ args, options, program, terminal }) => {
    const access = await accessOf('image', options, program)
    if (access.kind === 'none') return access.outcome
    const prompt = args.prompt.join(' ')
    if (prompt === '') return usage('image: the prompt is empty')
    const format = formatOf(options.output)
    const { size, quality, background } = options
    const asked = { size, quality, background, output_format: format === 'png' ? undefined : format }
    const stop = new Stop()
    process.once('SIGINT', () => stop.stop())
    const { baseUrl, key } = access
    const server = { baseUrl: baseUrl.replace(/\/+$/, ''), key, stop }
    const place = { program, terminal, baseUrl, output: options.output }
    const found = options.model === undefined ? await findImageModel(server) : undefined
    if (found && found.kind !== 'found') return conclude(found, place)
    const model = options.model ?? found?.model
    if (model === undefined) return usage(`image: --model is needed: ${baseUrl} lists no model for images`)
    const body = { model, prompt, ...asked, stream: true, partial_images: PARTIALS }
    if (!terminal.json) terminal.talk(`asking ${model} …\n`)
    const end = await callImage({ ...server, body }, (count) => {
      if (!terminal.json) terminal.talk(`preview ${count} of ${PARTIALS}\n`)
    })
    return conclude(end, place)
  },
})

const formatOf = (file: string): string | undefined => FORMATS.get(/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '')

type Place = {
  readonly program: Program
  readonly terminal: Terminal
  readonly baseUrl: string
  readonly output: string
}

async function conclude(end: ImageEnd, { program, terminal, baseUrl, output }: Place): Promise<CommandOutcome> {
  switch (end.kind) {
    case 'interrupted':
      if (!terminal.json) terminal.talk('tollgate: interrupted\n')
      return exitWith(INTERRUPTED)
    case 'unreachable':
      return unreached(baseUrl, end.message)
    case 'refused':
      return refusedCall(end, terminal)
    case 'answered': {
      await Bun.write(output, end.file)
      const costUsd = await costOnRecord(program, end.requestId, baseUrl)
      const { size, usage: tokens, requestId, revisedPrompt, tookMs, file } = end
      const value = {
        file: output,
        bytes: file.length,
        size,
        usage: tokens,
        cost_usd: costUsd,
        request_id: requestId,
        revised_prompt: revisedPrompt,
      }
      const facts = [
        ...(size === null ? [] : [size]),
        `${Math.ceil(file.length / 1024)} KiB`,
        ...(tokens ? [`${tokens.output_tokens} tokens`] : []),
        ...(costUsd === null ? [] : [usd(costUsd)]),
        `${(tookMs / 1000).toFixed(1)} s`,
      ]
      return shown(value, `${safeText(output)}\n`, { talk: `[${facts.join(', ')}]` })
    }
  }
}
