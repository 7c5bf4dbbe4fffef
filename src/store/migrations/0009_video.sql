-- Tasks that make a video. A row is written with its hold, before anything is sent to a vendor, and ends in the
-- transaction that resolves that hold. The id is all it takes to fetch the video: it is never logged. Neither prompts
-- nor media are kept, and no address of a vendor's.
CREATE TABLE video_task (
  id            TEXT PRIMARY KEY,
  account_id    TEXT NOT NULL,
  key_id        TEXT NOT NULL,
  request_id    TEXT NOT NULL UNIQUE, -- of the request that made it, and of its hold
  model         TEXT NOT NULL,
  stage         TEXT NOT NULL
    CHECK (stage IN ('submitting', 'queued', 'running', 'upscaling', 'storing', 'completed', 'failed')),
  progress      INTEGER NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  wish          TEXT NOT NULL, -- what was asked for, as far as its price depends on it
  terms         TEXT NOT NULL, -- the offers it goes to, and all prices as they were then
  held          INTEGER NOT NULL,
  offer_id      TEXT,          -- which of the offers took it
  upstream_id   TEXT,          -- NULL while it is not known whether a vendor has it
  upscale_id    TEXT,
  attempts      TEXT NOT NULL DEFAULT '[]',
  made          TEXT,          -- what the vendor said of the finished video
  usage         TEXT,          -- what was charged for
  reason        TEXT CHECK ((reason IS NOT NULL) = (stage = 'failed')),
  orphan        TEXT,          -- why a vendor may be at work, and bill, for nobody
  created_at    INTEGER NOT NULL,
  deadline_at   INTEGER NOT NULL,
  started_at    INTEGER,
  ended_at      INTEGER CHECK ((ended_at IS NOT NULL) = (stage IN ('completed', 'failed'))),
  deleted_at    INTEGER        -- by its client, who sees it no more
) STRICT, WITHOUT ROWID;
CREATE INDEX video_task_by_account ON video_task (account_id, request_id);
CREATE INDEX video_task_open ON video_task (id) WHERE ended_at IS NULL;
CREATE INDEX video_task_by_end ON video_task (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX video_task_orphans ON video_task (request_id) WHERE orphan IS NOT NULL;
-- A vendor's task belongs to one of ours: two that shared it would both be charged for one video.
CREATE UNIQUE INDEX video_task_upstream ON video_task (offer_id, upstream_id) WHERE upstream_id IS NOT NULL;
