"""JSON as it is sent: plain ASCII, so that no text in it can fail to be written."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class Answer(JSONResponse):
    """JSON in ASCII: half characters in names and requests are escaped like any other."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
