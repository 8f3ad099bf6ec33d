"""A network measured from its answers has the figures that it has from its weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet.data import open_dataset
from t2onet.data.records import AnswerSet, RecordedPictures, read_questions
from t2onet.errors import DataError, TrainingError
from t2onet.evaluation.compare import compare_systems
from t2onet.evaluation.measure import MeasurementOptions
from t2onet.evaluation.systems import IdentitySystem, Question, QuestionRecorder, SystemAnswer, open_system
from t2onet.metrics.distances import load_inception_extractor, read_lpips
from t2onet.models.answering import answer_runs
from t2onet.models.baselines import BASELINES
from t2onet.models.discriminator import Discriminator, DiscriminatorConfig
from t2onet.models.files import describe_network, write_tensors
from tests.evaluation.helpers import SENTENCES
from tests.evaluation.paper_helpers import small_pairs
from tests.evaluation.test_systems import VOCABULARY, t2onet_file
from tests.metrics.test_distances_lpips import random_weights
from tests.metrics.test_features import write_scripted_network
from tests.models.baselines.helpers import SMALL as SMALL_BASELINES

LEVEL = 1 / 255


def steps(made: SystemAnswer) -> list[str] | None:
    return None if made.recipe is None else [step.operation for step in made.recipe.steps]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def gan_file(path: Path) -> Path:
    torch.manual_seed(0)
    baseline = BASELINES["pix2pixaug"]
    config = baseline.config(**SMALL_BASELINES["pix2pixaug"])
    network = baseline.generator(config, len(VOCABULARY))
    write_tensors(path, network.state_dict(), describe_network("pix2pixaug", config, VOCABULARY))
    return path


MADE = {"paper": t2onet_file, "gan": gan_file}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, make in MADE.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        make(tmp_path / "runs" / name / "best.safetensors")
    return tmp_path / "runs"


def write_questions(folder: Path) -> tuple[Path, list[Question]]:
    """A file of what measuring four pairs asks, and the same as questions."""
    noting = QuestionRecorder()
    data = open_dataset(small_pairs(folder), splits=["val"])
    compare_systems([noting], data, SENTENCES, MeasurementOptions(each=2))
    path = folder / "questions.zip"
    path.write_bytes(noting.to_question_set(data.fingerprint).to_zip())
    return path, [Question(picture, request, "literal") for picture, request in noting.recorded]


@pytest.mark.slow
def test_painted_answers_have_fid_and_lpips(tmp_path: Path) -> None:
    """A GAN's recorded pictures are measured like any others: here they are the photos themselves."""
    path, _ = write_questions(tmp_path)
    questions = read_questions(path)
    pictures = [one.picture for one in questions.asked.values()]
    (tmp_path / "gan.zip").write_bytes(
        AnswerSet(list(questions.asked), RecordedPictures(pictures), {}).to_zip()
    )
    random_weights(tmp_path / "alexnet.ckpt")
    found = compare_systems(
        [open_system(str(tmp_path / "gan.zip")), IdentitySystem()],
        open_dataset(tmp_path / "pairs", splits=["val"]),
        SENTENCES,
        MeasurementOptions(
            each=2,
            extractors=[load_inception_extractor(write_scripted_network(tmp_path / "inception.pt"))],
            lpips=read_lpips(tmp_path / "alexnet.ckpt"),
        ),
    )
    for figure in ("expert: FID", "expert: LPIPS"):
        gan, photos = found.estimates[figure]
        assert gan is not None
        assert photos is not None
        assert gan.value == pytest.approx(photos.value, rel=0.02)
        assert gan.value > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_figures_from_answers_are_those_from_weights(runs: Path, tmp_path: Path, name: str) -> None:
    path, questions = write_questions(tmp_path)
    answer_runs(path, runs, tmp_path / "answers", only=[name], report=str)
    weights, answers = (
        open_system(f"{name}={at}") for at in (runs / name, tmp_path / "answers" / f"{name}.zip")
    )
    off = 1e-4 if name == "paper" else LEVEL / 2 + 1e-6
    some = questions[::9]
    for one, other in zip(weights.answer(some), answers.answer(some), strict=True):
        np.testing.assert_allclose(one.picture, other.picture, atol=off)
        assert steps(one) == steps(other)
    data = open_dataset(tmp_path / "pairs", splits=["val"])
    found = [
        compare_systems([system], data, SENTENCES, MeasurementOptions(each=2))
        for system in (weights, answers)
    ]
    first, second = (
        {key: row[0].value for key, row in one.estimates.items() if row[0] is not None} for one in found
    )
    assert first.keys() == second.keys()
    assert first["expert: L1"] == pytest.approx(second["expert: L1"], abs=off)


def test_what_was_never_asked_is_refused(runs: Path, tmp_path: Path) -> None:
    noting = QuestionRecorder()
    picture = np.zeros((3, 32, 32), np.float32)
    noting.answer([Question(picture, "brighter", "literal")])
    (tmp_path / "q.zip").write_bytes(noting.to_question_set().to_zip())
    answer_runs(tmp_path / "q.zip", runs, tmp_path, only=["paper"], report=str)
    system = open_system(str(tmp_path / "paper.zip"))
    assert (system.name, system.has_modes, system.side) == ("paper", False, 128)
    assert len(system.answer([Question(picture, "brighter", "expert")])) == 1
    with pytest.raises(
        DataError, match=r"paper\.zip has no answer to 'darker' .* --ask and the same options"
    ):
        system.answer([Question(picture, "darker", "literal")])


def test_runs_answer_once_until_weights_or_questions_change(runs: Path, tmp_path: Path) -> None:
    questions, said = tmp_path / "q.zip", list[str]()
    noting = QuestionRecorder()
    noting.answer([Question(np.zeros((3, 32, 32), np.float32), "brighter", "literal")])
    questions.write_bytes(noting.to_question_set().to_zip())
    (runs / "critic").mkdir()
    critic = Discriminator(DiscriminatorConfig(), len(VOCABULARY))
    facts = describe_network("discriminator", DiscriminatorConfig(), VOCABULARY)
    write_tensors(runs / "critic" / "best.safetensors", critic.state_dict(), facts)
    answer_runs(questions, runs, tmp_path / "a", report=said.append)
    assert [line.split(",")[0] for line in said] == [
        "critic: skipped",
        "gan: 1 answers",
        "paper: 1 answers",
    ]
    said.clear()
    (tmp_path / "a" / "gan.zip").write_bytes(b"half of a file")
    answer_runs(questions, runs, tmp_path / "a", only=["gan", "paper"], report=said.append)
    assert said[0].startswith("gan: 1 answers, ")
    assert said[1] == "paper: already answered"
    said.clear()
    noting.answer([Question(np.ones((3, 32, 32), np.float32), "brighter", "literal")])
    questions.write_bytes(noting.to_question_set().to_zip())
    gan_file(runs / "paper" / "best.safetensors")
    answer_runs(questions, runs, tmp_path / "a", only=["paper"], report=said.append)
    assert said[0].startswith("paper: 2 answers, ")


def test_runs_that_are_not_there_are_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "q.zip").write_bytes(QuestionRecorder().to_question_set().to_zip())
    with pytest.raises(TrainingError, match="has no weights of papers; there are gan, paper"):
        answer_runs(tmp_path / "q.zip", runs, tmp_path, only=["papers"], report=str)
    with pytest.raises(TrainingError, match=r"no folder in .* has best\.safetensors"):
        answer_runs(tmp_path / "q.zip", tmp_path / "a", tmp_path, report=str)
