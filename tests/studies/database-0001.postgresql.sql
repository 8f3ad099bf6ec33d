CREATE TABLE t2o_outputs (
    id integer NOT NULL,
    sample_id integer NOT NULL,
    system character varying(200) NOT NULL,
    path text NOT NULL
);
CREATE SEQUENCE t2o_outputs_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_outputs_id_seq OWNED BY t2o_outputs.id;
CREATE TABLE t2o_pages (
    id integer NOT NULL,
    token character varying(40) NOT NULL,
    person_id integer NOT NULL,
    sample_id integer NOT NULL,
    number integer NOT NULL,
    kind character varying(20) NOT NULL,
    given double precision NOT NULL,
    answered double precision
);
CREATE SEQUENCE t2o_pages_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_pages_id_seq OWNED BY t2o_pages.id;
CREATE TABLE t2o_people (
    id integer NOT NULL,
    study_id integer NOT NULL,
    token character varying(40) NOT NULL,
    name character varying(100) NOT NULL,
    state character varying(20) NOT NULL,
    created double precision NOT NULL
);
CREATE SEQUENCE t2o_people_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_people_id_seq OWNED BY t2o_people.id;
CREATE TABLE t2o_ratings (
    id integer NOT NULL,
    token character varying(40) NOT NULL,
    page_id integer NOT NULL,
    place integer NOT NULL,
    output_id integer,
    known character varying(20),
    stars integer,
    CONSTRAINT ck_t2o_ratings_stars CHECK (((stars >= 1) AND (stars <= 5)))
);
CREATE SEQUENCE t2o_ratings_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_ratings_id_seq OWNED BY t2o_ratings.id;
CREATE TABLE t2o_requests (
    id integer NOT NULL,
    page_id integer NOT NULL,
    text text NOT NULL,
    review character varying(20) NOT NULL,
    note text NOT NULL,
    reviewed double precision
);
CREATE SEQUENCE t2o_requests_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_requests_id_seq OWNED BY t2o_requests.id;
CREATE TABLE t2o_samples (
    id integer NOT NULL,
    study_id integer NOT NULL,
    name character varying(500) NOT NULL,
    dataset character varying(200) NOT NULL,
    split character varying(10) NOT NULL,
    request text NOT NULL,
    input text NOT NULL,
    qualifying boolean NOT NULL,
    said json NOT NULL
);
CREATE SEQUENCE t2o_samples_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_samples_id_seq OWNED BY t2o_samples.id;
CREATE TABLE t2o_studies (
    id integer NOT NULL,
    name character varying(200) NOT NULL,
    kind character varying(20) NOT NULL,
    seed integer NOT NULL,
    token character varying(40) NOT NULL,
    root text NOT NULL,
    digest character varying(64) NOT NULL,
    settings json NOT NULL,
    created double precision NOT NULL
);
CREATE SEQUENCE t2o_studies_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE t2o_studies_id_seq OWNED BY t2o_studies.id;
CREATE TABLE t2o_version (
    version_num character varying(32) NOT NULL
);
ALTER TABLE ONLY t2o_outputs ALTER COLUMN id SET DEFAULT nextval('t2o_outputs_id_seq'::regclass);
ALTER TABLE ONLY t2o_pages ALTER COLUMN id SET DEFAULT nextval('t2o_pages_id_seq'::regclass);
ALTER TABLE ONLY t2o_people ALTER COLUMN id SET DEFAULT nextval('t2o_people_id_seq'::regclass);
ALTER TABLE ONLY t2o_ratings ALTER COLUMN id SET DEFAULT nextval('t2o_ratings_id_seq'::regclass);
ALTER TABLE ONLY t2o_requests ALTER COLUMN id SET DEFAULT nextval('t2o_requests_id_seq'::regclass);
ALTER TABLE ONLY t2o_samples ALTER COLUMN id SET DEFAULT nextval('t2o_samples_id_seq'::regclass);
ALTER TABLE ONLY t2o_studies ALTER COLUMN id SET DEFAULT nextval('t2o_studies_id_seq'::regclass);
INSERT INTO t2o_outputs VALUES (1, 1, 'target', 'a-c.jpg');
INSERT INTO t2o_outputs VALUES (2, 2, 'target', 'after/b.jpg');
INSERT INTO t2o_pages VALUES (1, 'page-1', 1, 1, 0, 'sample', 1700000003, 1700000004);
INSERT INTO t2o_pages VALUES (2, 'page-2', 2, 2, 0, 'qualification', 1700000003, 1700000004);
INSERT INTO t2o_people VALUES (1, 1, 'person-1', 'rater 1', 'accepted', 1700000001);
INSERT INTO t2o_people VALUES (2, 2, 'person-2', 'annotator-1', 'waiting', 1700000002);
INSERT INTO t2o_ratings VALUES (1, 'rating-1', 1, 0, 1, NULL, 4);
INSERT INTO t2o_requests VALUES (1, 2, 'make it brighter', 'pending', '', NULL);
INSERT INTO t2o_samples VALUES (1, 1, 'a', 'ma5k', '', 'warmer, über all', 'a.jpg', false, '[]');
INSERT INTO t2o_samples VALUES (2, 2, 'b', '', 'val', '', 'before/b.jpg', true, '["brighter"]');
INSERT INTO t2o_studies VALUES (1, 'portraits', 'rating', 3, 'join-portraits', 'photos', '0000000000000000000000000000000000000000000000000000000000000000', '{"samples": null, "ratings": 2, "checks": 0.1, "repeats": 0.05, "pages": null, "people": 1000}', 1700000000);
INSERT INTO t2o_studies VALUES (2, 'pairs', 'annotation', 0, 'join-pairs', 'pairs', '1111111111111111111111111111111111111111111111111111111111111111', '{"requests": 3, "qualification": 5, "people": 1000}', 1700000000.5);
INSERT INTO t2o_version VALUES ('0001');
SELECT pg_catalog.setval('t2o_outputs_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_pages_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_people_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_ratings_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_requests_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_samples_id_seq', 10, true);
SELECT pg_catalog.setval('t2o_studies_id_seq', 10, true);
ALTER TABLE ONLY t2o_outputs
    ADD CONSTRAINT pk_t2o_outputs PRIMARY KEY (id);
ALTER TABLE ONLY t2o_pages
    ADD CONSTRAINT pk_t2o_pages PRIMARY KEY (id);
ALTER TABLE ONLY t2o_people
    ADD CONSTRAINT pk_t2o_people PRIMARY KEY (id);
ALTER TABLE ONLY t2o_ratings
    ADD CONSTRAINT pk_t2o_ratings PRIMARY KEY (id);
ALTER TABLE ONLY t2o_requests
    ADD CONSTRAINT pk_t2o_requests PRIMARY KEY (id);
ALTER TABLE ONLY t2o_samples
    ADD CONSTRAINT pk_t2o_samples PRIMARY KEY (id);
ALTER TABLE ONLY t2o_studies
    ADD CONSTRAINT pk_t2o_studies PRIMARY KEY (id);
ALTER TABLE ONLY t2o_version
    ADD CONSTRAINT t2o_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY t2o_outputs
    ADD CONSTRAINT uq_t2o_outputs_sample_id UNIQUE (sample_id, system);
ALTER TABLE ONLY t2o_pages
    ADD CONSTRAINT uq_t2o_pages_person_id UNIQUE (person_id, number);
ALTER TABLE ONLY t2o_pages
    ADD CONSTRAINT uq_t2o_pages_token UNIQUE (token);
ALTER TABLE ONLY t2o_people
    ADD CONSTRAINT uq_t2o_people_study_id UNIQUE (study_id, name);
ALTER TABLE ONLY t2o_people
    ADD CONSTRAINT uq_t2o_people_token UNIQUE (token);
ALTER TABLE ONLY t2o_ratings
    ADD CONSTRAINT uq_t2o_ratings_page_id UNIQUE (page_id, place);
ALTER TABLE ONLY t2o_ratings
    ADD CONSTRAINT uq_t2o_ratings_token UNIQUE (token);
ALTER TABLE ONLY t2o_requests
    ADD CONSTRAINT uq_t2o_requests_page_id UNIQUE (page_id);
ALTER TABLE ONLY t2o_samples
    ADD CONSTRAINT uq_t2o_samples_study_id UNIQUE (study_id, name);
ALTER TABLE ONLY t2o_studies
    ADD CONSTRAINT uq_t2o_studies_name UNIQUE (name);
ALTER TABLE ONLY t2o_studies
    ADD CONSTRAINT uq_t2o_studies_token UNIQUE (token);
CREATE INDEX ix_t2o_pages_sample_id ON t2o_pages USING btree (sample_id);
ALTER TABLE ONLY t2o_outputs
    ADD CONSTRAINT fk_t2o_outputs_sample_id FOREIGN KEY (sample_id) REFERENCES t2o_samples(id);
ALTER TABLE ONLY t2o_pages
    ADD CONSTRAINT fk_t2o_pages_person_id FOREIGN KEY (person_id) REFERENCES t2o_people(id);
ALTER TABLE ONLY t2o_pages
    ADD CONSTRAINT fk_t2o_pages_sample_id FOREIGN KEY (sample_id) REFERENCES t2o_samples(id);
ALTER TABLE ONLY t2o_people
    ADD CONSTRAINT fk_t2o_people_study_id FOREIGN KEY (study_id) REFERENCES t2o_studies(id);
ALTER TABLE ONLY t2o_ratings
    ADD CONSTRAINT fk_t2o_ratings_output_id FOREIGN KEY (output_id) REFERENCES t2o_outputs(id);
ALTER TABLE ONLY t2o_ratings
    ADD CONSTRAINT fk_t2o_ratings_page_id FOREIGN KEY (page_id) REFERENCES t2o_pages(id);
ALTER TABLE ONLY t2o_requests
    ADD CONSTRAINT fk_t2o_requests_page_id FOREIGN KEY (page_id) REFERENCES t2o_pages(id);
ALTER TABLE ONLY t2o_samples
    ADD CONSTRAINT fk_t2o_samples_study_id FOREIGN KEY (study_id) REFERENCES t2o_studies(id);
