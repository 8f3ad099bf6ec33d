"""The exported graphs say what the network says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet.editor.policy import EDIT, NETWORK_FILES, open_policy
from t2onet.inference import import_onnxruntime
from t2onet.language.grams import spelt
from t2onet.models.export import export_retoucher
from t2onet.models.retoucher import OPERATION_ORDER, RETOUCHER_SIDE
from tests.models.made_retoucher import VERDICTS, network

pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graphs of the small network."""
    folder = tmp_path_factory.mktemp("exported")
    export_retoucher(network(), folder, VERDICTS)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_", ["", "a bit brighter", "brighter and then, please, much less yellow than it is"]
)
def test_graphs_agree_with_torch(request_: str, exported: Path) -> None:
    told_by = network()
    begin, step = (import_onnxruntime().InferenceSession(exported / name) for name in NETWORK_FILES[:2])
    pieces, told = (part.astype(np.int64) for part in spelt([request_]))
    image = np.random.default_rng(0).random((1, 3, RETOUCHER_SIDE, RETOUCHER_SIDE), np.float32)
    manner = np.ones(1, np.int64)
    with torch.no_grad():
        look = told_by.glance(torch.from_numpy(image))
        context = told_by.begin(*map(torch.from_numpy, (pieces, told, image)), look, torch.ones(1).long())
    found = begin.run(None, {"pieces": pieces, "told": told, "image": image, "manner": manner})
    for ours, theirs in zip(context[:4], found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, atol=2e-3)
    words, mask, whole, _ = found
    for number in range(len(OPERATION_ORDER)):
        given = {"words": words, "mask": mask, "whole": whole, "picture": image, "state": whole}
        said = step.run(None, {**given, "number": np.array([number])})
        with torch.no_grad():
            expected = told_by.step(context, look, torch.tensor([number]), context.whole)
        for ours, theirs in zip(expected, said, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, atol=5e-3)


@pytest.mark.slow
def test_a_cautious_network_declines_sooner_but_only_where_it_is_taken_at_its_word(
    exported: Path, tmp_path: Path
) -> None:
    picture = np.random.default_rng(0).random((3, RETOUCHER_SIDE, RETOUCHER_SIDE), np.float32)
    policies = {0.0: open_policy(exported)}
    for caution in (100.0, -100.0):
        (tmp_path / str(caution)).mkdir()
        export_retoucher(network(), tmp_path / str(caution), VERDICTS, caution)
        policies[caution] = open_policy(tmp_path / str(caution))
        declined = policies[caution].answer(picture, "brighter", "literal").verdict != EDIT
        assert declined == (caution > 0)
    assert len({policies[caution].answer(picture, "crop", "expert").verdict for caution in (0.0, 100.0)}) == 1
