-- Whether the operator allows calls to private addresses. What was stored before is not allowed: nobody was asked.
ALTER TABLE provider ADD COLUMN allow_private INTEGER NOT NULL DEFAULT 0 CHECK (allow_private IN (0, 1));
