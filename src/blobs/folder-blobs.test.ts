import { onSqlite } from '../store/sqlite-contract.ts'
import { describeBlobsContract } from './blobs-contract.ts'
import { openFolderBlobs } from './folder-blobs.ts'

describeBlobsContract(
  'The data folder',
  onSqlite((store) => openFolderBlobs(store, { isShort: false })),
)
