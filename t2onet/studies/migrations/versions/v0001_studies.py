"""The first tables of studies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "t2o_studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=40), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_studies")),
        sa.UniqueConstraint("name", name=op.f("uq_t2o_studies_name")),
        sa.UniqueConstraint("token", name=op.f("uq_t2o_studies_token")),
    )
    op.create_table(
        "t2o_people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["t2o_studies.id"], name=op.f("fk_t2o_people_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_people")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_t2o_people_study_id")),
        sa.UniqueConstraint("token", name=op.f("uq_t2o_people_token")),
    )
    op.create_table(
        "t2o_samples",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("dataset", sa.String(length=200), nullable=False),
        sa.Column("split", sa.String(length=10), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("qualifying", sa.Boolean(), nullable=False),
        sa.Column("said", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["t2o_studies.id"], name=op.f("fk_t2o_samples_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_samples")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_t2o_samples_study_id")),
    )
    op.create_table(
        "t2o_outputs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sample_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(length=200), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["sample_id"], ["t2o_samples.id"], name=op.f("fk_t2o_outputs_sample_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_outputs")),
        sa.UniqueConstraint("sample_id", "system", name=op.f("uq_t2o_outputs_sample_id")),
    )
    op.create_table(
        "t2o_pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=40), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("sample_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("given", sa.Double(), nullable=False),
        sa.Column("answered", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["t2o_people.id"], name=op.f("fk_t2o_pages_person_id")),
        sa.ForeignKeyConstraint(["sample_id"], ["t2o_samples.id"], name=op.f("fk_t2o_pages_sample_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_pages")),
        sa.UniqueConstraint("person_id", "number", name=op.f("uq_t2o_pages_person_id")),
        sa.UniqueConstraint("token", name=op.f("uq_t2o_pages_token")),
    )
    op.create_index(op.f("ix_t2o_pages_sample_id"), "t2o_pages", ["sample_id"])
    op.create_table(
        "t2o_ratings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=40), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("output_id", sa.Integer(), nullable=True),
        sa.Column("known", sa.String(length=20), nullable=True),
        sa.Column("stars", sa.Integer(), nullable=True),
        sa.CheckConstraint("stars BETWEEN 1 AND 5", name=op.f("ck_t2o_ratings_stars")),
        sa.ForeignKeyConstraint(["output_id"], ["t2o_outputs.id"], name=op.f("fk_t2o_ratings_output_id")),
        sa.ForeignKeyConstraint(["page_id"], ["t2o_pages.id"], name=op.f("fk_t2o_ratings_page_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_ratings")),
        sa.UniqueConstraint("page_id", "place", name=op.f("uq_t2o_ratings_page_id")),
        sa.UniqueConstraint("token", name=op.f("uq_t2o_ratings_token")),
    )
    op.create_table(
        "t2o_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("review", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("reviewed", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["t2o_pages.id"], name=op.f("fk_t2o_requests_page_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_t2o_requests")),
        sa.UniqueConstraint("page_id", name=op.f("uq_t2o_requests_page_id")),
    )


def downgrade() -> None:
    for table in (
        "t2o_requests",
        "t2o_ratings",
        "t2o_pages",
        "t2o_outputs",
        "t2o_samples",
        "t2o_people",
        "t2o_studies",
    ):
        op.drop_table(table)
