"""Systems open by name or from files, and what they made can be made again by their recipes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet import TrainingError
from t2onet.editor import apply_to_thumbnail
from t2onet.editor.policy import PolicyAnswer
from t2onet.errors import DataError, RequestError
from t2onet.evaluation.systems import (
    NAMED_SYSTEMS,
    EditorSystem,
    IdentitySystem,
    PolicySystem,
    Question,
    SystemAnswer,
    answer_in_batches,
    open_system,
    open_systems,
)
from t2onet.language import Vocabulary
from t2onet.models import files
from t2onet.models.answering import select_device, supports_bfloat16
from t2onet.models.baselines import BASELINES
from t2onet.models.files import describe_network, write_tensors
from t2onet.options import MODES, ReaderName
from t2onet.recipe import Step
from tests.evaluation.helpers import Scripted, picture
from tests.models.baselines.helpers import SMALL as SMALL_BASELINES
from tests.models.helpers import small as small_t2onet

VOCABULARY = Vocabulary(("<NONE>", "<START>", "<END>", "<UNK>", "brighter", "warmer", *"abcdefghijklmn"))
ASKED = [
    Question(picture(0), "brighter", "literal"),
    Question(picture(1), "a b c, warmer", "literal"),
    Question(picture(2), "more", "expert"),
]


def t2onet_file(path: Path) -> Path:
    torch.manual_seed(2)
    network = small_t2onet(max_steps=3)
    write_tensors(path, network.state_dict(), describe_network("t2onet", network.config, VOCABULARY))
    return path


def test_names() -> None:
    systems = open_systems(["shipped", "free", "identity"])
    assert [(system.name, system.side, system.has_modes) for system in systems] == [
        ("shipped", 128, True),
        ("free", 128, True),
        ("identity", 128, False),
    ]


@pytest.mark.parametrize(
    ("name", "reader"), [("shipped", "default"), ("default", "default"), ("free", "free")]
)
def test_the_editor_answers_with_the_reader_of_its_name(
    name: str, reader: str, used_readers: list[ReaderName]
) -> None:
    (answer,) = open_system(name).answer([Question(picture(1), "brighter", "literal")])
    assert (used_readers, answer.declined) == ([reader], False)


def test_identity_leaves_photos_alone() -> None:
    for made, question in zip(IdentitySystem().answer(ASKED), ASKED, strict=True):
        np.testing.assert_array_equal(made.picture, question.picture)
        assert made.recipe is not None
        assert not made.declined
        assert not made.recipe.steps


class Brightening:
    """A policy that brightens where it is asked to."""

    side = 32

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        brighter = Step(operation="brightness", parameters=(0.2,))
        return PolicyAnswer((), (brighter,) if request == "brighter" else ())


def test_a_policy_answers_with_its_steps() -> None:
    system = PolicySystem("p", Brightening())
    edited, left = system.answer([Question(picture(0), text, "literal") for text in ("brighter", "hello")])
    assert (edited.declined, left.declined) == (False, False)
    assert edited.picture.mean() > picture(0).mean()
    np.testing.assert_array_equal(left.picture, picture(0))


def test_a_recipe_makes_the_picture_again(tmp_path: Path) -> None:
    system = open_system(str(t2onet_file(tmp_path / "w.safetensors")))
    answers = system.answer(ASKED)
    assert any(made.recipe and made.recipe.steps for made in answers)
    for made, question in zip(answers, ASKED, strict=True):
        assert made.recipe is not None
        np.testing.assert_allclose(made.picture, apply_to_thumbnail(made.recipe, question.picture), atol=2e-3)


def test_many_are_answered_as_one(tmp_path: Path) -> None:
    system = open_system(str(t2onet_file(tmp_path / "w.safetensors")))
    for made, question in zip(system.answer(ASKED), ASKED, strict=True):
        (alone,) = system.answer([question])
        assert made.declined == alone.declined
        np.testing.assert_allclose(made.picture, alone.picture, atol=1e-3)


def test_a_network_without_modes_answers_in_one_way(tmp_path: Path) -> None:
    system = open_system(str(t2onet_file(tmp_path / "t.safetensors")))
    assert not system.has_modes
    one, other = system.answer([Question(picture(0), "brighter", mode) for mode in MODES])
    np.testing.assert_allclose(one.picture, other.picture, atol=1e-6)


def test_another_kind_of_network_is_a_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """generator(images, tokens), here one that adds a learned amount for each word, beyond white."""

    class Generator(torch.nn.Module):
        def __init__(self, words: int) -> None:
            super().__init__()
            self.amount = torch.nn.Embedding(words, 1)

        def forward(self, image: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
            return image + self.amount(tokens).sum((1, 2))[:, None, None, None]

    kind = files.NetworkKind(files.T2ONetConfig, lambda config, words: Generator(words))
    monkeypatch.setitem(files.NETWORK_KINDS, "painter", kind)
    weights = torch.zeros(len(VOCABULARY), 1)
    weights[VOCABULARY.id("brighter")], weights[VOCABULARY.id("warmer")] = 0.25, 2.0
    facts = describe_network("painter", files.T2ONetConfig(), VOCABULARY)
    write_tensors(tmp_path / "w.safetensors", {"amount.weight": weights}, facts)
    lighter, white, same = open_system(str(tmp_path / "w.safetensors")).answer(ASKED)
    np.testing.assert_allclose(lighter.picture, (ASKED[0].picture + 0.25).clip(0, 1), atol=1e-6)
    assert (white.picture == 1).all()
    np.testing.assert_array_equal(same.picture, ASKED[2].picture)
    assert lighter.recipe is None


@pytest.mark.parametrize("computes", [True, False], ids=["bfloat16", "a device without it"])
def test_a_narrow_generator_paints_nearly_the_same(
    computes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not computes:
        monkeypatch.setattr("t2onet.models.answering.supports_bfloat16", lambda device: False)
    elif not supports_bfloat16(select_device()):
        pytest.skip("this device does not compute in bfloat16")
    torch.manual_seed(0)
    baseline = BASELINES["pix2pixaug"]
    config = baseline.config(**SMALL_BASELINES["pix2pixaug"])
    network = baseline.generator(config, len(VOCABULARY))
    path = tmp_path / "gan.safetensors"
    write_tensors(path, network.state_dict(), describe_network("pix2pixaug", config, VOCABULARY))
    for wide, narrow in zip(
        open_system(str(path)).answer(ASKED), open_system(str(path), bfloat16=True).answer(ASKED), strict=True
    ):
        assert narrow.picture.dtype == np.float32
        apart = np.abs(wide.picture - narrow.picture).mean()
        assert 0 < apart < 1 / 255 if computes else apart == 0


def test_weights_are_called_by_their_run_or_as_told(tmp_path: Path) -> None:
    run = tmp_path / "paper"
    run.mkdir()
    path = t2onet_file(run / "best.safetensors")
    assert open_system(str(path)).name == "paper"
    assert open_system(str(run)).name == "paper"
    assert open_system(f"T2ONet={run}").name == "T2ONet"
    assert open_system(str(t2onet_file(tmp_path / "other.safetensors"))).name == "other"
    with pytest.raises(DataError, match="two systems are called 'paper'; rename one"):
        open_systems([str(path), str(run)])


def test_what_is_no_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'shiped' is not a system: .* did you mean 'shipped'\?"):
        open_system("shiped")
    with pytest.raises(
        DataError, match=r"'runs/x' is not a system: .* give shipped, default, free, identity, "
    ):
        open_system("runs/x")
    with pytest.raises(DataError, match=r"has neither best\.safetensors nor about\.json"):
        open_system(str(tmp_path))
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(RequestError, match=r"is no exported network, begin\.onnx is missing"):
        open_system(str(tmp_path))
    (tmp_path / "w.safetensors").write_text("no weights")
    with pytest.raises(TrainingError, match="cannot be read as weights"):
        open_system(str(tmp_path / "w.safetensors"))


def test_systems_of_different_sizes_are_not_measured_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMED_SYSTEMS, "small", lambda name: EditorSystem(name, side=64))
    with pytest.raises(DataError, match=r"different sizes \(64, 128\)"):
        open_systems(["identity", "small"])


def test_questions_are_asked_in_batches_and_told_of() -> None:
    system = Scripted(lambda question: SystemAnswer(question.picture))
    said: list[tuple[str, int, int]] = []
    asked = [Question(picture(0), str(number), "literal") for number in range(70)]
    assert len(list(answer_in_batches(system, asked, "pairs", lambda *told: said.append(told)))) == 70
    assert [question.request for question in system.asked] == [str(number) for number in range(70)]
    assert [len(batch) for batch in system.batches] == [32, 32, 6]
    assert said == [("pairs", 32, 70), ("pairs", 64, 70), ("pairs", 70, 70)]
