-- What a model makes; a request is refused on a route that wants another kind.
ALTER TABLE model ADD COLUMN kind TEXT NOT NULL DEFAULT 'text' CHECK (kind IN ('text', 'embedding', 'image', 'video'));
