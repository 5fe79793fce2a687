-- When else a memory was told than at occurred_at, oldest first: what was told again may have been untrue in between.
ALTER TABLE memories ADD COLUMN told_at timestamptz[] NOT NULL DEFAULT '{}';

-- What has ended makes room for the same text, whether or not something has taken its place.
DROP INDEX memories_same;
CREATE UNIQUE INDEX memories_same ON memories (shard, same_key)
    WHERE deleted_at IS NULL AND condensed_into IS NULL AND valid_to IS NULL;
