"""Plan through a discriminator: the cost 1 - D(I0, I, Q) of a picture I, for photos without a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from ..errors import PlanError
from ..image import Image, open_image
from ..language import Vocabulary
from .discriminator import Discriminator
from .files import load_network

if TYPE_CHECKING:
    from ..executor import PhotoLike

# Planning through a discriminator: the cost 1 - D(I0, I, Q) of a picture I, for photos without a target.
#
# A discriminator that was trained beside T2ONet (`image_loss=adversarial` or `both`) says of every picture on
# the way how much it looks like what was asked for; the planner searches for the steps it likes best.


class DiscriminatorCost:
    """What a discriminator has against edits of one photo for one request; a cost of `t2onet.plan`.

    Pictures (3, H, W), NumPy arrays or tensors, are averaged to `size` x `size` pixels first, as the photos
    were that it learned from.
    """

    def __init__(
        self,
        discriminator: Discriminator,
        vocabulary: Vocabulary,
        photo: PhotoLike,
        request: str,
        *,
        size: int = 128,
    ) -> None:
        self.discriminator = discriminator.eval().requires_grad_(False)
        self.size = size
        self._photo: Image = open_image(photo)
        self._tokens = torch.tensor([vocabulary.encode(request)])
        self._before = torch.empty(0)
        self._shape: tuple[int, ...] = ()

    def __call__(self, picture: Any, /) -> Any:
        if isinstance(picture, np.ndarray):
            return float(self(torch.from_numpy(np.array(picture, np.float32))))
        return 1 - self.discriminator.score(self._as_it_came(picture), self._seen(picture), self._tokens)[0]

    def _seen(self, picture: Tensor) -> Tensor:
        return adaptive_avg_pool2d(picture[None], self.size)

    def _as_it_came(self, picture: Tensor) -> Tensor:
        """The photo, made as small as the picture and then averaged alike."""
        if self._shape != picture.shape:
            from ..planning.pictures import to_working_picture

            came = to_working_picture(self._photo, *picture.shape[1:])
            self._shape, self._before = tuple(picture.shape), self._seen(torch.from_numpy(came))
        return self._before


def load_discriminator_cost(
    path: Path, photo: PhotoLike, request: str, *, size: int = 128
) -> DiscriminatorCost:
    """The same, of the discriminator in a file of weights."""
    loaded = load_network(path)
    if not isinstance(loaded.network, Discriminator):
        raise PlanError(
            f"{path} holds a {loaded.metadata['network']}; give the discriminator.safetensors of a run with "
            "image_loss=adversarial or both"
        )
    return DiscriminatorCost(loaded.network, loaded.vocabulary, photo, request, size=size)
