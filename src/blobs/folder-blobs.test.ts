import { onSqlite } from '../store/sqlite-contract.ts'
import { describeBlobsContract } from './blobs-contract.ts'
import { openFolderBlobs } from './folder-blobs.ts'
import { openSqliteBlobRows } from './sqlite-blob-rows.ts'

describeBlobsContract(
  'The data folder',
  onSqlite((store) => openFolderBlobs(openSqliteBlobRows(store), store.folder, { isShort: false })),
)
