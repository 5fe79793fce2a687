"""PostgreSQL with pgvector: the embedded server, the pool, migrations and the repository."""
