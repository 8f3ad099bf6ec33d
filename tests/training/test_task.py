"""Settings by name and value."""

from __future__ import annotations

import json

import pytest

from t2onet import TrainingError
from t2onet.training.paper import PaperSettings
from t2onet.training.task import apply_assignments, setting_names, settings_to_json


def test_settings_are_found_in_their_parts() -> None:
    given = ["image_loss=none", "h=0.1", "attention=false", "operations=tone, contrast", "batch=8"]
    settings = apply_assignments(PaperSettings(), given)
    assert (settings.image_loss, settings.h, settings.network.attention) == ("none", 0.1, False)
    assert settings.network.operations == ("tone", "contrast")
    assert settings.loop.batch == 8
    assert PaperSettings().loop.batch == 64


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("atention=false", "there is no setting 'atention'; did you mean 'attention'?"),
        ("batch", "'batch' is not a setting; settings are given as name=value"),
        ("batch=few", "batch must be a whole number, not 'few'"),
        ("h=wide", "h must be a number, not 'wide'"),
        ("image=no", "image must be true or false, not 'no'"),
        ("image_loss=l2", "image_loss must be one of none, l1, adversarial, both, not 'l2'"),
        ("hidden=5", "hidden=5 is refused: hidden is 5; each direction takes half of it, so it must be even"),
        ("operations=", "operations= is refused: a network needs at least one operation"),
        ("batch=0", "batch=0 is refused: batch is 0; it must be at least 1"),
        ("network=big", "there is no setting 'network'"),
    ],
)
def test_refusals(given: str, said: str) -> None:
    with pytest.raises(TrainingError) as refusal:
        apply_assignments(PaperSettings(), [given])
    assert str(refusal.value).startswith(said)


def test_a_name_means_one_setting() -> None:
    every = list(setting_names(PaperSettings()))
    assert len(every) == len(set(every))


def test_as_json() -> None:
    data = json.loads(settings_to_json(PaperSettings()))
    assert data["network"]["hidden"] == 512
    assert data["loop"]["learning_rate"] == 1e-3
