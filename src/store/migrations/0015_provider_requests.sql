-- How many requests may be under way at a provider at once. Null: as many as anywhere.
ALTER TABLE provider ADD COLUMN concurrent_requests INTEGER CHECK (concurrent_requests > 0);
