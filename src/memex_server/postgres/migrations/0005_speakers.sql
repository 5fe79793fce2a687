-- Whether a word of a query is the name of somebody who speaks: asked once by every search.
CREATE INDEX memory_terms_speakers ON memory_terms (shard, term) INCLUDE (tenant_id) WHERE passage = -1;
