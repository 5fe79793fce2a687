-- How often and when searches found a memory. Beside the memories, because counting is no change of them.
CREATE TABLE recalls (
    shard     bigint NOT NULL,
    memory_id uuid NOT NULL,
    tenant_id text NOT NULL,
    times     bigint NOT NULL,
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (shard, memory_id),
    FOREIGN KEY (shard, memory_id) REFERENCES memories (shard, id) ON DELETE CASCADE
);
ALTER TABLE recalls ENABLE ROW LEVEL SECURITY;
ALTER TABLE recalls FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON recalls USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
