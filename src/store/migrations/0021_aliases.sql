-- Other names for models. The model of an alias may be missing: it then stands for nothing. A model of the same id comes first.
CREATE TABLE alias (
  id            TEXT PRIMARY KEY,
  model_id      TEXT NOT NULL,
  declared      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
