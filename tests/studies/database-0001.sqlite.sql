BEGIN TRANSACTION;
CREATE TABLE t2o_outputs (
	id INTEGER NOT NULL, 
	sample_id INTEGER NOT NULL, 
	system VARCHAR(200) NOT NULL, 
	path TEXT NOT NULL, 
	CONSTRAINT pk_t2o_outputs PRIMARY KEY (id), 
	CONSTRAINT fk_t2o_outputs_sample_id FOREIGN KEY(sample_id) REFERENCES t2o_samples (id), 
	CONSTRAINT uq_t2o_outputs_sample_id UNIQUE (sample_id, system)
);
INSERT INTO "t2o_outputs" VALUES(1,1,'target','a-c.jpg');
INSERT INTO "t2o_outputs" VALUES(2,2,'target','after/b.jpg');
CREATE TABLE t2o_pages (
	id INTEGER NOT NULL, 
	token VARCHAR(40) NOT NULL, 
	person_id INTEGER NOT NULL, 
	sample_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	given DOUBLE NOT NULL, 
	answered DOUBLE, 
	CONSTRAINT pk_t2o_pages PRIMARY KEY (id), 
	CONSTRAINT fk_t2o_pages_person_id FOREIGN KEY(person_id) REFERENCES t2o_people (id), 
	CONSTRAINT fk_t2o_pages_sample_id FOREIGN KEY(sample_id) REFERENCES t2o_samples (id), 
	CONSTRAINT uq_t2o_pages_person_id UNIQUE (person_id, number), 
	CONSTRAINT uq_t2o_pages_token UNIQUE (token)
);
INSERT INTO "t2o_pages" VALUES(1,'page-1',1,1,0,'sample',1700000003.0,1700000004.0);
INSERT INTO "t2o_pages" VALUES(2,'page-2',2,2,0,'qualification',1700000003.0,1700000004.0);
CREATE TABLE t2o_people (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	token VARCHAR(40) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	created DOUBLE NOT NULL, 
	CONSTRAINT pk_t2o_people PRIMARY KEY (id), 
	CONSTRAINT fk_t2o_people_study_id FOREIGN KEY(study_id) REFERENCES t2o_studies (id), 
	CONSTRAINT uq_t2o_people_study_id UNIQUE (study_id, name), 
	CONSTRAINT uq_t2o_people_token UNIQUE (token)
);
INSERT INTO "t2o_people" VALUES(1,1,'person-1','rater 1','accepted',1700000001.0);
INSERT INTO "t2o_people" VALUES(2,2,'person-2','annotator-1','waiting',1700000002.0);
CREATE TABLE t2o_ratings (
	id INTEGER NOT NULL, 
	token VARCHAR(40) NOT NULL, 
	page_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	output_id INTEGER, 
	known VARCHAR(20), 
	stars INTEGER, 
	CONSTRAINT pk_t2o_ratings PRIMARY KEY (id), 
	CONSTRAINT ck_t2o_ratings_stars CHECK (stars BETWEEN 1 AND 5), 
	CONSTRAINT fk_t2o_ratings_output_id FOREIGN KEY(output_id) REFERENCES t2o_outputs (id), 
	CONSTRAINT fk_t2o_ratings_page_id FOREIGN KEY(page_id) REFERENCES t2o_pages (id), 
	CONSTRAINT uq_t2o_ratings_page_id UNIQUE (page_id, place), 
	CONSTRAINT uq_t2o_ratings_token UNIQUE (token)
);
INSERT INTO "t2o_ratings" VALUES(1,'rating-1',1,0,1,NULL,4);
CREATE TABLE t2o_requests (
	id INTEGER NOT NULL, 
	page_id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	review VARCHAR(20) NOT NULL, 
	note TEXT NOT NULL, 
	reviewed DOUBLE, 
	CONSTRAINT pk_t2o_requests PRIMARY KEY (id), 
	CONSTRAINT fk_t2o_requests_page_id FOREIGN KEY(page_id) REFERENCES t2o_pages (id), 
	CONSTRAINT uq_t2o_requests_page_id UNIQUE (page_id)
);
INSERT INTO "t2o_requests" VALUES(1,2,'make it brighter','pending','',NULL);
CREATE TABLE t2o_samples (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	name VARCHAR(500) NOT NULL, 
	dataset VARCHAR(200) NOT NULL, 
	split VARCHAR(10) NOT NULL, 
	request TEXT NOT NULL, 
	input TEXT NOT NULL, 
	qualifying BOOLEAN NOT NULL, 
	said JSON NOT NULL, 
	CONSTRAINT pk_t2o_samples PRIMARY KEY (id), 
	CONSTRAINT fk_t2o_samples_study_id FOREIGN KEY(study_id) REFERENCES t2o_studies (id), 
	CONSTRAINT uq_t2o_samples_study_id UNIQUE (study_id, name)
);
INSERT INTO "t2o_samples" VALUES(1,1,'a','ma5k','','warmer, über all','a.jpg',0,'[]');
INSERT INTO "t2o_samples" VALUES(2,2,'b','','val','','before/b.jpg',1,'["brighter"]');
CREATE TABLE t2o_studies (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	seed INTEGER NOT NULL, 
	token VARCHAR(40) NOT NULL, 
	root TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	settings JSON NOT NULL, 
	created DOUBLE NOT NULL, 
	CONSTRAINT pk_t2o_studies PRIMARY KEY (id), 
	CONSTRAINT uq_t2o_studies_name UNIQUE (name), 
	CONSTRAINT uq_t2o_studies_token UNIQUE (token)
);
INSERT INTO "t2o_studies" VALUES(1,'portraits','rating',3,'join-portraits','photos','0000000000000000000000000000000000000000000000000000000000000000','{"samples": null, "ratings": 2, "checks": 0.1, "repeats": 0.05, "pages": null, "people": 1000}',1700000000.0);
INSERT INTO "t2o_studies" VALUES(2,'pairs','annotation',0,'join-pairs','pairs','1111111111111111111111111111111111111111111111111111111111111111','{"requests": 3, "qualification": 5, "people": 1000}',1700000000.5);
CREATE TABLE t2o_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT t2o_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "t2o_version" VALUES('0001');
CREATE INDEX ix_t2o_pages_sample_id ON t2o_pages (sample_id);
COMMIT;
