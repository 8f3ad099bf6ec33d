"""The web application: routes, guards and pages around one darkroom."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from .. import __version__
from . import edit_routes, errors, look_routes, photo_routes, place_routes
from .errors import AsciiJSONResponse
from .photo_routes import is_upload
from .running import DisconnectMiddleware
from .security import SecurityMiddleware
from .sessions import DarkroomService
from .settings import ServerSettings

_HTML_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t2onet API</title></head><body>'
)


def render_openapi_page(schema: dict[str, Any]) -> str:
    """An OpenAPI document as HTML."""
    info = schema["info"]
    parts = [_HTML_HEAD, f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"]
    parts.append(f"<p>{escape(info.get('description', ''))}</p>")
    parts.append('<p>For programs: <a href="/api/openapi.json">/api/openapi.json</a></p><ul>')
    routes = [(path, method, one) for path, kinds in schema["paths"].items() for method, one in kinds.items()]
    parts += [
        f'<li><a href="#{escape(one["operationId"])}">{method.upper()} {escape(path)}</a></li>'
        for path, method, one in routes
    ]
    parts.append("</ul>")
    parts += [_render_route(path, method, one) for path, method, one in routes]
    parts.append("<h2>Shapes</h2>")
    for name, shape in schema.get("components", {}).get("schemas", {}).items():
        parts.append(f'<h3 id="{escape(name)}">{escape(name)}</h3>{_render_schema(shape)}')
    return "".join([*parts, "</body></html>"])


def _render_route(path: str, method: str, one: dict[str, Any]) -> str:
    parts = [f'<h2 id="{escape(one["operationId"])}"><code>{method.upper()} {escape(path)}</code></h2>']
    parts.append(f"<p>{escape(one.get('description', one.get('summary', '')))}</p><dl>")
    for parameter in one.get("parameters", []):
        needed = "" if parameter.get("required") else ", optional"
        description = parameter.get("description") or parameter.get("schema", {}).get("description", "")
        parts.append(f"<dt><code>{escape(parameter['name'])}</code> ({parameter['in']}{needed})</dt>")
        parts.append(f"<dd>{escape(description)}</dd>")
    if body := one.get("requestBody"):
        parts.append(f"<dt>body</dt><dd>{_render_content(body)}</dd>")
    for status, answer in one.get("responses", {}).items():
        parts.append(f"<dt>{escape(status)}</dt><dd>{_render_content(answer)}</dd>")
    return "".join([*parts, "</dl>"])


def _render_content(one: dict[str, Any]) -> str:
    kinds = one.get("content", {})
    parts = [f"{escape(kind)} {_render_type(value.get('schema', {}))}" for kind, value in kinds.items()]
    return ", ".join(parts) or escape(one.get("description", ""))


def _render_type(shape: dict[str, Any]) -> str:
    """A link where a shape has a name of its own."""
    if reference := shape.get("$ref"):
        name = escape(str(reference).rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    if shape.get("type") == "array":
        return f"list of {_render_type(shape.get('items', {}))}"
    either = [_render_type(one) for one in shape.get("anyOf", []) if one.get("type") != "null"]
    return " or ".join(either) if either else escape(str(shape.get("type", "")))


def _render_schema(shape: dict[str, Any]) -> str:
    parts = [f"<p>{escape(shape.get('description', ''))}</p><dl>"]
    needed = shape.get("required", [])
    for name, one in shape.get("properties", {}).items():
        default = f", by default {escape(json.dumps(one['default']))}" if "default" in one else ""
        optional = "" if name in needed else f", optional{default}"
        values = f" ({', '.join(map(str, one['enum']))})" if "enum" in one else ""
        parts.append(f"<dt><code>{escape(name)}</code> {_render_type(one)}{escape(values)}{optional}</dt>")
        parts.append(f"<dd>{escape(one.get('description', ''))}</dd>")
    return "".join([*parts, "</dl>"])


API_V1_PREFIX = "/api/v1"


@cache
def make_router() -> APIRouter:
    """All routes of the darkroom; built once, as FastAPI takes a tenth of a second to analyse them."""
    whole = APIRouter(prefix=API_V1_PREFIX)
    for part in (
        photo_routes.operation_router,
        look_routes.look_router,
        photo_routes.session_router,
        photo_routes.photo_router,
        edit_routes.request_router,
        edit_routes.recipe_router,
        photo_routes.render_router,
        place_routes.place_router,
        edit_routes.plan_router,
        edit_routes.export_router,
        edit_routes.batch_router,
    ):
        whole.include_router(part)
    return whole


STATIC = Path(__file__).parent / "static" / "darkroom"
_DESCRIPTION = "The API of the web darkroom: sessions hold photos, photos hold edits, edits are recipes."
_EXPIRY_CHECK_SECONDS = 60.0
"""Seconds between two checks for expired sessions."""


def create_app(settings: ServerSettings | None = None, *, more: Sequence[APIRouter] = ()) -> FastAPI:
    """Create the application; `more` are further routes."""
    settings = settings or ServerSettings()
    app = FastAPI(
        title="t2onet",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        default_response_class=AsciiJSONResponse,
        generate_unique_id_function=_make_operation_id,
        lifespan=_lifespan,
    )
    app.state.darkroom = darkroom = DarkroomService.create(settings)
    errors.install_error_handlers(app, darkroom.sessions.hide_paths)
    app.add_middleware(DisconnectMiddleware)
    app.add_middleware(SecurityMiddleware, settings=settings, is_upload=is_upload)
    for router in (make_router(), *more):
        app.include_router(router)
    app.add_api_route("/api/docs", _make_docs_route(app), include_in_schema=False)
    app.mount("/", _RevalidatedFiles(directory=STATIC, html=True))
    return app


def _make_operation_id(route: APIRoute) -> str:
    return f"{route.tags[0] if route.tags else 'api'}-{route.name}"


def _make_docs_route(app: FastAPI) -> Any:
    def docs() -> HTMLResponse:
        return HTMLResponse(render_openapi_page(app.openapi()))

    return docs


class _RevalidatedFiles(StaticFiles):
    """Static files that browsers revalidate by their ETags."""

    async def get_response(self, path: str, scope: Scope) -> Any:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    darkroom: DarkroomService = app.state.darkroom
    darkroom.sessions.open()
    darkroom.sessions.tidy()  # only now: the session that is served is open, so it stays however old it is
    loop = asyncio.get_running_loop()
    stopping = threading.Event()
    warming = loop.run_in_executor(None, darkroom.warm_up, stopping)
    watching = asyncio.create_task(_expire_sessions(darkroom))
    try:
        yield
    finally:
        stopping.set()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await warming
        await loop.run_in_executor(None, darkroom.sessions.close_all)


async def _expire_sessions(darkroom: DarkroomService) -> None:
    """Remove expired sessions, once a minute."""
    while True:
        await asyncio.sleep(_EXPIRY_CHECK_SECONDS)
        await asyncio.to_thread(darkroom.sessions.tidy)
