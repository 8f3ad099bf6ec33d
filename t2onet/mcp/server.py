"""The protocol: tools and resources of the darkroom, over stdin and stdout, by the official SDK."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from .. import __version__
from ..errors import T2OError
from .declarations import ToolAnswer, ToolDeclaration
from .tools import Darkroom

OPERATIONS_URI = "t2onet://operations"
INSTRUCTIONS = """A darkroom for the photos below the folders of this server. Photos are never modified.

list_photos gives names; describe_photo measures one; edit does what a sentence asks for and says what became
of each wish; follow, adjust, remove_step, set_strength, undo and reset change the edit; render shows it;
export writes the result as a new file. Requests are read in English. A number that a request states is kept
exactly. Look at `answered` and at the outcome of each wish before you say that something was done."""
_LOG = logging.getLogger(__name__)


def build_server(darkroom: Darkroom, worker: Executor) -> Server[Any]:
    """The MCP server of a darkroom, whose calls run in the one thread of `worker`."""

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_to_tool(one) for one in darkroom.declared.values()])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        cancel = threading.Event()
        try:
            answer = await asyncio.get_running_loop().run_in_executor(
                worker, darkroom.call, params.name, params.arguments or {}, cancel
            )
        except T2OError as error:
            return _refuse(darkroom.folders.hide_paths(str(error)))
        except (RecursionError, OverflowError):
            return _refuse("an argument is nested too deeply or has far too many digits; make it simpler")
        except OSError as error:
            return _refuse(f"the system refuses that ({error.strerror}); check the name and the disk")
        except Exception as error:
            _LOG.exception("the tool %r failed", params.name)
            return _refuse(
                f"{params.name} failed unexpectedly ({type(error).__name__}); stderr has the details"
            )
        finally:
            cancel.set()  # where the client gave up, the thread stops at its next band of rows
        return _to_result(answer)

    async def list_resources(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        about = "The operations that steps are made of, with their ranges."
        found = types.Resource(
            uri=OPERATIONS_URI, name="operations", description=about, mime_type="application/json"
        )
        return types.ListResourcesResult(resources=[found])

    async def read_resource(
        context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if str(params.uri) != OPERATIONS_URI:
            message = f"there is no resource {str(params.uri)[:200]!r}; there is {OPERATIONS_URI}"
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        text = json.dumps(darkroom.list_operations())
        contents = types.TextResourceContents(uri=OPERATIONS_URI, text=text, mime_type="application/json")
        return types.ReadResourceResult(contents=[contents])

    return Server(
        "t2onet",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _to_tool(declared: ToolDeclaration) -> types.Tool:
    annotations = types.ToolAnnotations(
        read_only_hint=declared.kind.reads_only, destructive_hint=declared.kind.writes, open_world_hint=False
    )
    return types.Tool(
        name=declared.name,
        description=declared.help,
        input_schema=declared.arguments.model_json_schema(),
        annotations=annotations,
    )


def _to_result(answer: ToolAnswer) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=json.dumps(answer.data))]
    if answer.picture is not None:
        data = base64.b64encode(answer.picture).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type=answer.media_type))
    return types.CallToolResult(content=content, structured_content=answer.data)


def _refuse(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


async def serve_stdio(darkroom: Darkroom) -> None:
    """Serve one client over stdin and stdout until it closes stdin."""
    worker = ThreadPoolExecutor(1, "darkroom")
    server = build_server(darkroom, worker)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        worker.shutdown(wait=False, cancel_futures=True)
