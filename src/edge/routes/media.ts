/** Routes of embeddings, images and videos. */
import { videoBounds } from '../../domain/video.ts'
import { hintFields } from '../../formats/core/hint-fields.ts'
import { editForm } from '../../formats/images/edit-form.ts'
import { late } from '../../lib/primitives/lazy.ts'
import { formBody, jsonBody, noBody } from '../request-body.ts'
import { generate } from '../generate.ts'
import { serveImage, serveVideo } from '../media.ts'
import type { DocumentedRequest, PublicRoute } from '../route.ts'
import { deleteVideo, listVideos, NO_TASK, showVideo, showVideoAlias } from '../videos.ts'
import { googleAction } from './google-action.ts'
import { listParameters } from './list-parameters.ts'

const documents = async () => (await import('../documented-requests.ts')).documentedRequests

const embeddingsReader = late(() => import('../../formats/embeddings/request.ts'))
const geminiEmbeddingsReader = late(() => import('../../formats/embeddings/gemini.ts'))

const googleEmbeddings = jsonBody(geminiEmbeddingsReader, ({ readGeminiEmbeddings }, { text }, { head: { path } }) =>
  readGeminiEmbeddings({ text, path }),
)

const embeddings: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/embeddings',
    reads: jsonBody(embeddingsReader, ({ readEmbeddingClient }, { text }) => readEmbeddingClient(text), {
      hints: hintFields,
    }),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'embeddings',
    documentation: {
      tag: 'Embeddings',
      summary: 'Create embeddings of one or more texts or token arrays.',
      request: {
        shape: 'EmbeddingRequest',
        schema: async () => (await documents()).embeddings,
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
      summary: 'Create the embedding of a text in Gemini’s format.',
      model: 'sandbox-embedding-small',
      request: {
        shape: 'EmbedContentRequest',
        schema: async () => (await geminiEmbeddingsReader.load()).embedContentSchema,
        example: { content: { parts: [{ text: 'one' }] } },
      },
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
      summary: 'Create embeddings of several texts in Gemini’s format.',
      model: 'sandbox-embedding-small',
      request: {
        shape: 'BatchEmbedContentsRequest',
        schema: async () => (await geminiEmbeddingsReader.load()).batchEmbedSchema,
        example: { requests: [{ content: { parts: [{ text: 'one' }] } }] },
      },
      answer: 'ContentEmbeddings',
    },
  },
]

const imagesReader = late(() => import('../../formats/images/client.ts'))
const editsReader = late(() => import('../../formats/images/edit.ts'))

const file = { type: 'string', format: 'binary' }
const editSchema = {
  type: 'object',
  required: ['model', 'prompt', 'image'],
  properties: {
    model: { type: 'string' },
    prompt: { type: 'string' },
    image: { ...file, description: 'PNG, JPEG or WebP. Send several as `image[]`.' },
    mask: { ...file, description: 'PNG or WebP in the size of the first image. Transparent areas are repainted.' },
    size: { type: 'string' },
    quality: { type: 'string' },
    stream: { type: 'string', enum: ['true', 'false'] },
  },
}

const images: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/images/generations',
    reads: jsonBody(imagesReader, ({ readImageClient }, { text }) => readImageClient(text), { hints: hintFields }),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'images.generations',
    documentation: {
      tag: 'Images',
      summary: 'Create images from a prompt.',
      request: {
        shape: 'ImageRequest',
        schema: async () => (await documents()).images,
        example: { model: 'sandbox-image', prompt: 'a lighthouse', size: '1024x1024' },
      },
      answer: 'Images',
      stream: 'partial images, then the completed image',
    },
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    reads: formBody(editForm, editsReader, ({ readEditClient }, form, slot) => readEditClient(form, slot)),
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'images.edits',
    documentation: {
      tag: 'Images',
      summary: 'Edit images. A mask can limit the area that is repainted.',
      request: { form: editSchema },
      answer: 'Images',
      stream: 'partial images, then the completed image',
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
      summary: 'Get an image by its URL, which is valid for an hour by default.',
      answer: 'file',
      failures: ['not_found', 'expired', 'unavailable'],
    },
  },
]

const videosReader = late(() => import('../../formats/videos/client.ts'))

const videoBody = jsonBody(videosReader, ({ readVideoClient }, { text, bytes }) => readVideoClient(text, bytes), {
  bytesMax: videoBounds.bodyBytesMax,
})
const film: DocumentedRequest = {
  shape: 'VideoRequest',
  schema: async () => (await import('../../formats/videos/request.ts')).videoRequest,
  example: { model: 'sandbox-video-fast', content: [{ type: 'text', text: 'a lighthouse' }], duration: 4 },
}

const videos: readonly PublicRoute[] = [
  {
    method: 'POST',
    path: '/v1/videos',
    reads: videoBody,
    limits: 'key_and_account',
    handler: generate,
    recordedAs: 'videos',
    documentation: { tag: 'Videos', summary: 'Create a video. The answer is a task.', request: film, answer: 'Video' },
  },
  {
    method: 'GET',
    path: '/v1/videos',
    reads: noBody,
    limits: 'free_reads',
    handler: listVideos,
    documentation: {
      tag: 'Videos',
      summary: 'List the video tasks of the account.',
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
      summary: 'Get a video task with its progress and the URL of its video.',
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
      summary: 'Delete a finished task and its video.',
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
      summary: 'Download a finished video, whole or in part (`Range`).',
      answer: 'file',
      failures: [NO_TASK, 'not_completed', 'expired', 'invalid_value', 'unavailable'],
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
      summary: 'Create a video. An alias of `POST /v1/videos`.',
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
      summary: 'Get a video task in the envelope that clients of this path read.',
      answer: 'VideoEnvelope',
      failures: [NO_TASK],
    },
  },
]

export const mediaRoutes: readonly PublicRoute[] = [...embeddings, ...images, ...videos]
