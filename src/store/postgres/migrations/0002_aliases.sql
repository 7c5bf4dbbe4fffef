-- Other names for models. The model of an alias may be missing: it then stands for nothing. A model of the same id comes first.
CREATE TABLE alias (
  id            text COLLATE "C" CONSTRAINT "alias(id)" PRIMARY KEY,
  model_id      text COLLATE "C" NOT NULL,
  declared      bigint NOT NULL DEFAULT 0
);
