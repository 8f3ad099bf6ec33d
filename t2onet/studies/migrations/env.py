"""How Alembic runs the migrations: on the connection of the store that opens the database."""

from __future__ import annotations

from alembic import context

from t2onet.studies.models import Base

given = context.config.attributes
context.configure(
    connection=given["connection"],
    version_table=given["version_table"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
