"""One file a step; Alembic finds them."""
