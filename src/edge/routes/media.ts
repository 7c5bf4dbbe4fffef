/** Routes of embeddings, images and videos. */
import { videoBounds } from '../../domain/video.ts'
import { formBody, jsonBody, noBody } from '../request-body.ts'
import { generate } from '../generate.ts'
import { readers } from '../lazy-parsers.ts'
import { serveImage, serveVideo } from '../media.ts'
import type { PublicRoute } from '../route.ts'
import { deleteVideo, listVideos, NO_TASK, showVideo, showVideoAlias } from '../videos.ts'
import { googleAction } from './google-action.ts'
import { listParameters } from './list-parameters.ts'

const googleEmbeddings = jsonBody(({ text }, { head: { path } }) =>
  readers.geminiEmbeddings(({ readGeminiEmbeddings }) => readGeminiEmbeddings({ text, path })),
)

const embeddings: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/embeddings',
    reads: jsonBody(({ text }) => readers.embeddings(({ readEmbeddingClient }) => readEmbeddingClient(text))),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'embeddings',
    documentation: {
      tag: 'Embeddings',
      summary: 'Vectors of a text, of texts, or of token arrays.',
      request: {
        shape: 'EmbeddingRequest',
        example: { model: 'sandbox-embedding-small', input: ['one', 'two'] },
      },
      answer: 'Embeddings',
    },
  },
  {
    method: 'POST',
    ...googleAction('embedContent'),
    reads: googleEmbeddings,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'gemini',
    documentation: {
      tag: 'Embeddings',
      summary: 'The vector of a text, in the dialect of Gemini.',
      model: 'sandbox-embedding-small',
      request: { shape: 'EmbedContentRequest', example: { content: { parts: [{ text: 'one' }] } } },
      answer: 'ContentEmbedding',
    },
  },
  {
    method: 'POST',
    ...googleAction('batchEmbedContents'),
    reads: googleEmbeddings,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'gemini',
    documentation: {
      tag: 'Embeddings',
      summary: 'Vectors of texts, in the dialect of Gemini.',
      model: 'sandbox-embedding-small',
      request: {
        shape: 'BatchEmbedContentsRequest',
        example: { requests: [{ content: { parts: [{ text: 'one' }] } }] },
      },
      answer: 'ContentEmbeddings',
    },
  },
]

const file = { type: 'string', format: 'binary' }
const editForm = {
  type: 'object',
  required: ['model', 'prompt', 'image'],
  properties: {
    model: { type: 'string' },
    prompt: { type: 'string' },
    image: { ...file, description: 'PNG, JPEG or WebP; several as image[]' },
    mask: { ...file, description: 'PNG or WebP; transparent where to repaint; as large as the first image' },
    size: { type: 'string' },
    quality: { type: 'string' },
    stream: { type: 'string', enum: ['true', 'false'] },
  },
}

const images: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/images/generations',
    reads: jsonBody(({ text }) => readers.images(({ readImageClient }) => readImageClient(text))),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'images.generations',
    documentation: {
      tag: 'Images',
      summary: 'Images of a prompt.',
      request: {
        shape: 'ImageRequest',
        example: { model: 'sandbox-image', prompt: 'a lighthouse', size: '1024x1024' },
      },
      answer: 'Images',
      stream: 'partial images and the completed one',
    },
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    reads: formBody((form, claim) => readers.edits(({ readEditClient }) => readEditClient(form, claim))),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'images.edits',
    documentation: {
      tag: 'Images',
      summary: 'Images made of images, with a mask of what to repaint.',
      request: { form: editForm },
      answer: 'Images',
      stream: 'partial images and the completed one',
    },
  },
  {
    method: 'GET',
    path: '/v1/images/files/{file}',
    reads: noBody,
    limits: 'files',
    handler: serveImage,
    documentation: {
      tag: 'Images',
      summary: 'An image that was asked for as a URL, for 60 minutes.',
      answer: 'file',
      failures: ['not_found', 'expired'],
    },
  },
]

const videoBody = jsonBody(
  ({ text, bytes }) => readers.videos(({ readVideoClient }) => readVideoClient(text, bytes)),
  videoBounds.bodyBytesMax,
)
const film = {
  shape: 'VideoRequest',
  example: { model: 'sandbox-video-fast', content: [{ type: 'text', text: 'a lighthouse' }], duration: 4 },
} as const

const videos: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/videos',
    reads: videoBody,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'videos',
    documentation: { tag: 'Videos', summary: 'A task that makes a video.', request: film, answer: 'Video' },
  },
  {
    method: 'GET',
    path: '/v1/videos',
    reads: noBody,
    limits: 'free_reads',
    handler: listVideos,
    documentation: {
      tag: 'Videos',
      summary: 'The tasks of the account.',
      answer: 'VideoList',
      parameters: listParameters,
      failures: ['invalid_value'],
    },
  },
  {
    method: 'GET',
    path: '/v1/videos/{id}',
    reads: noBody,
    limits: 'free_reads',
    handler: showVideo,
    documentation: {
      tag: 'Videos',
      summary: 'A task: how far it is, and where its video is.',
      answer: 'Video',
      failures: [NO_TASK],
    },
  },
  {
    method: 'DELETE',
    path: '/v1/videos/{id}',
    reads: noBody,
    limits: 'free_reads',
    handler: deleteVideo,
    documentation: {
      tag: 'Videos',
      summary: 'Delete a task that has ended, and its video.',
      answer: 'Deletion',
      failures: [NO_TASK, 'not_completed'],
    },
  },
  {
    method: 'GET',
    path: '/v1/videos/{id}/content',
    reads: noBody,
    limits: 'files',
    handler: serveVideo,
    documentation: {
      tag: 'Videos',
      summary: 'The video, whole or in part (Range), once it is made.',
      answer: 'file',
      failures: [NO_TASK, 'not_completed', 'expired', 'invalid_value'],
    },
  },
  {
    method: 'POST',
    path: '/v1/video/generations',
    reads: videoBody,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'videos',
    documentation: {
      tag: 'Videos',
      summary: 'The same as POST /v1/videos, for clients that ask there.',
      request: film,
      answer: 'Video',
    },
  },
  {
    method: 'GET',
    path: '/v1/video/generations/{id}',
    reads: noBody,
    limits: 'free_reads',
    handler: showVideoAlias,
    documentation: {
      tag: 'Videos',
      summary: 'A task in the envelope that those clients read.',
      answer: 'VideoEnvelope',
      failures: [NO_TASK],
    },
  },
]

export const mediaRoutes: readonly PublicRoute[] = [...embeddings, ...images, ...videos]
