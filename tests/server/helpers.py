"""Photos as bytes, and someone who uses the API."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import PIL.Image
from starlette.testclient import TestClient

from t2onet.server.folders import MARKER_FILE
from tests.planning.scenes import scene

API = "/api/v1"


def pixels(side: int = 96) -> np.ndarray:
    return np.uint8(255 * scene(side).transpose(1, 2, 0))


def picture(side: int = 96, format: str = "PNG", **options: Any) -> bytes:
    """A photo as a file."""
    return encode(pixels(side), format, **options)


def encode(array: np.ndarray, format: str = "PNG", **options: Any) -> bytes:
    stream = io.BytesIO()
    PIL.Image.fromarray(array).save(stream, format, **options)
    return stream.getvalue()


def decode(data: bytes) -> np.ndarray:
    """As someone else reads the file."""
    with PIL.Image.open(io.BytesIO(data)) as file:
        return np.asarray(file.convert("RGB"))


def recipe(*steps: tuple[str, Any]) -> dict[str, Any]:
    return {"steps": [{"operation": name, "parameters": values} for name, values in steps]}


@dataclass
class Visitor:
    """One session."""

    client: TestClient
    session: str = ""

    def begin(self) -> str:
        answer = self.client.post(f"{API}/sessions")
        assert answer.status_code == 201
        self.session = f"{API}/sessions/{answer.json()['session']}"
        return self.session

    def bring(self, data: bytes, name: str = "sea.png") -> str:
        """The address of a photo."""
        answer = self.upload(data, name)
        assert answer.status_code == 201, answer.text
        return f"{self.session}/photos/{answer.json()['photo']}"

    def upload(self, data: bytes, name: str = "sea.png") -> httpx2.Response:
        return self.client.post(f"{self.session}/photos", params={"name": name}, content=data)

    def post(self, address: str, **body: Any) -> httpx2.Response:
        return self.client.post(address, json=body)

    def say(self, photo: str, request: str, revision: int) -> dict[str, Any]:
        """The answer to a request that must be taken."""
        answer = self.post(f"{photo}/requests", request=request, revision=revision)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def put(self, photo: str, revision: int, *steps: tuple[str, Any]) -> httpx2.Response:
        return self.client.put(f"{photo}/recipe", json={"recipe": recipe(*steps), "revision": revision})

    def state(self, photo: str) -> dict[str, Any]:
        answer = self.client.get(photo)
        assert answer.status_code == 200, answer.text
        state: dict[str, Any] = answer.json()
        return state


def read_refusal(answer: httpx2.Response) -> tuple[int, str]:
    """Status and kind of a refusal, which has a message too."""
    error = answer.json()["error"]
    assert error["message"]
    return answer.status_code, error["kind"]


def files(folder: Path) -> list[Path]:
    """Files below a folder, without the marker that every server writes."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MARKER_FILE)


def session_folders(server: Path) -> list[Path]:
    """Folders of the sessions in the folder of one server."""
    return sorted(path for path in server.iterdir() if path.is_dir())
