import { describeRecordFeedContract } from './feed-contract.ts'
import { openLocalFeed } from './local-feed.ts'

describeRecordFeedContract('The feed of one process', async () => {
  const feed = openLocalFeed()
  return {
    feed,
    publish: async (record) => feed.published(record),
    close: async () => feed.close(),
  }
})
