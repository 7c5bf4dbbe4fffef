/** The kinds of models in every language. The dictionaries and the choices of a kind are made from these rows. */
export const kinds = {
  text: { en: 'Text', zh: '文本' },
  embedding: { en: 'Embedding', zh: '向量' },
  image: { en: 'Image', zh: '图片' },
  video: { en: 'Video', zh: '视频' },
} as const

type KindNames<Prefix extends string> = Readonly<Record<`${Prefix}${keyof typeof kinds}`, string>>

/** The names of the kinds under keys that begin with `prefix`. */
export const kindNames = <Prefix extends string>(language: 'en' | 'zh', prefix: Prefix): KindNames<Prefix> =>
  Object.fromEntries(
    Object.entries(kinds).map(([kind, names]) => [prefix + kind, names[language]]),
  ) as KindNames<Prefix>
