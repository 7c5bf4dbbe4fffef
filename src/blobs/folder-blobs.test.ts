import { onSqlite } from '../store/sqlite-contract.ts'
import { describeBlobsContract } from './blobs-contract.ts'
import { openFolderBlobs } from './folder-blobs.ts'
import { openSqlBlobRows } from './sql-blob-rows.ts'

describeBlobsContract(
  'The data folder',
  onSqlite((store) => openFolderBlobs(openSqlBlobRows(store), store.folder, { room: { isShort: false } })),
)
