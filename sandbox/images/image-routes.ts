import type { VendorRoute } from '../route.ts'
import { answerEdits } from './edits.ts'
import { answerImages, showImage } from './images.ts'

export const imageRoutes: readonly VendorRoute[] = [
  { kind: 'vendor', method: 'POST', path: '/v1/images/generations', answer: answerImages },
  { kind: 'vendor', method: 'POST', path: '/v1/images/edits', answer: answerEdits },
  { kind: 'vendor', method: 'GET', path: '/v1/sandbox-images/*', answer: showImage },
]
