/** What families of image models can do, as data. An operator or the price list names the family of a model. */
import { openImageFacts, type ImageFacts } from '../domain/image.ts'

const gptImage: ImageFacts = {
  sizes: ['auto', '1024x1024', '1536x1024', '1024x1536'],
  sizeDefault: 'auto',
  qualities: ['auto', 'low', 'medium', 'high'],
  qualityDefault: 'auto',
  formats: ['png', 'jpeg', 'webp'],
  backgrounds: ['auto', 'transparent', 'opaque'],
  moderations: ['auto', 'low'],
  styles: [],
  countMax: 10,
  isSingle: true,
  deliveries: ['b64_json'],
  promptCharsMax: 32_000,
  streams: true,
  partialsMax: 3,
  inputsMax: 16,
  // OpenAI's table for gpt-image-1, its longer side at 1536 (2026-08).
  tokens: { low: 408, medium: 1_584, high: 6_240 },
}

const dallE3: ImageFacts = {
  sizes: ['1024x1024', '1792x1024', '1024x1792'],
  sizeDefault: '1024x1024',
  qualities: ['standard', 'hd'],
  qualityDefault: 'standard',
  formats: [],
  backgrounds: [],
  moderations: [],
  styles: ['vivid', 'natural'],
  countMax: 1,
  isSingle: false,
  deliveries: ['url', 'b64_json'],
  promptCharsMax: 4_000,
  streams: false,
  partialsMax: 0,
  inputsMax: 0,
  tokens: {},
}

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

/** Google's table for gemini-3-pro-image (2026-11). */
const gemini3Pro: ImageFacts = {
  ...dallE3,
  surface: 'turn',
  sizes: ['auto', ...ratios],
  sizeDefault: 'auto',
  qualities: ['1K', '2K', '4K'],
  qualityDefault: '1K',
  styles: [],
  // For one candidate, the maximum that Google states.
  countMax: 10,
  deliveries: ['b64_json'],
  promptCharsMax: 32_000,
  streams: true,
  inputsMax: 14,
  tokens: { '1K': 1_120, '2K': 1_120, '4K': 2_000 },
}

/** Facts by family, from the vendors' documentation (August to November 2026). */
export const imageFamilies = {
  'gemini-2.5-flash-image': {
    ...gemini3Pro,
    qualities: ['1K'],
    tokens: { '1K': 1_290 },
    inputsMax: 3,
  },
  'gemini-3-pro-image': gemini3Pro,
  'gemini-3.1-flash-image': {
    ...gemini3Pro,
    sizes: [...gemini3Pro.sizes, '1:4', '4:1', '1:8', '8:1'],
    qualities: ['512', '1K', '2K', '4K'],
    tokens: { '512': 747, '1K': 1_120, '2K': 1_680, '4K': 2_520 },
  },
  'gpt-image': gptImage,
  'gpt-image-2': { ...gptImage, freeSizes: { multipleOf: 16, ratioMax: 3, pixelsMax: 3840 * 2160 } },
  'dall-e-3': dallE3,
  'dall-e-2': {
    ...dallE3,
    sizes: ['1024x1024', '512x512', '256x256'],
    qualities: ['standard'],
    styles: [],
    countMax: 10,
    promptCharsMax: 1_000,
    inputsMax: 1,
  },
  open: openImageFacts,
} as const satisfies Readonly<Record<string, ImageFacts>>

export type ImageFamily = keyof typeof imageFamilies
export const imageFamilyNames = Object.keys(imageFamilies) as ImageFamily[]
