/** Counts tokens off the serving thread: a megabyte of prose takes it 100 ms and more. */
import { readFileSync } from 'node:fs'
import { Tokenizer } from '../lib/tokenizer.ts'

declare const self: Worker

export type CountRequest = { readonly id: number; readonly texts: readonly string[] }
export type CountReply = { readonly id: number; readonly counts: readonly number[] }

const vocabulary = new URL(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'))
const tokenizer = new Tokenizer(readFileSync(vocabulary))

self.onmessage = ({ data: { id, texts } }: MessageEvent<CountRequest>) =>
  self.postMessage({ id, counts: texts.map((text) => tokenizer.count(text)) } satisfies CountReply)
