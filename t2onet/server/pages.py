"""The API described as a plain page, made from its own description: no script, and nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t2onet API</title></head><body>'


def described(schema: dict[str, Any]) -> str:
    """An OpenAPI document as HTML."""
    info = schema["info"]
    parts = [_HEAD, f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"]
    parts.append(f"<p>{escape(info.get('description', ''))}</p>")
    parts.append('<p>For programs: <a href="/api/openapi.json">/api/openapi.json</a></p><ul>')
    routes = [(path, method, one) for path, kinds in schema["paths"].items() for method, one in kinds.items()]
    parts += [
        f'<li><a href="#{escape(one["operationId"])}">{method.upper()} {escape(path)}</a></li>'
        for path, method, one in routes
    ]
    parts.append("</ul>")
    parts += [_route(path, method, one) for path, method, one in routes]
    parts.append("<h2>Shapes</h2>")
    for name, shape in schema.get("components", {}).get("schemas", {}).items():
        parts.append(f'<h3 id="{escape(name)}">{escape(name)}</h3>{_shape(shape)}')
    return "".join([*parts, "</body></html>"])


def _route(path: str, method: str, one: dict[str, Any]) -> str:
    parts = [f'<h2 id="{escape(one["operationId"])}"><code>{method.upper()} {escape(path)}</code></h2>']
    parts.append(f"<p>{escape(one.get('description', one.get('summary', '')))}</p><dl>")
    for parameter in one.get("parameters", []):
        needed = "" if parameter.get("required") else ", optional"
        told = parameter.get("description") or parameter.get("schema", {}).get("description", "")
        parts.append(f"<dt><code>{escape(parameter['name'])}</code> ({parameter['in']}{needed})</dt>")
        parts.append(f"<dd>{escape(told)}</dd>")
    if body := one.get("requestBody"):
        parts.append(f"<dt>body</dt><dd>{_contents(body)}</dd>")
    for status, answer in one.get("responses", {}).items():
        parts.append(f"<dt>{escape(status)}</dt><dd>{_contents(answer)}</dd>")
    return "".join([*parts, "</dl>"])


def _contents(one: dict[str, Any]) -> str:
    kinds = one.get("content", {})
    told = [f"{escape(kind)} {_named(value.get('schema', {}))}" for kind, value in kinds.items()]
    return ", ".join(told) or escape(one.get("description", ""))


def _named(shape: dict[str, Any]) -> str:
    """A link where a shape has a name of its own."""
    if reference := shape.get("$ref"):
        name = escape(str(reference).rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    if shape.get("type") == "array":
        return f"list of {_named(shape.get('items', {}))}"
    either = [_named(one) for one in shape.get("anyOf", []) if one.get("type") != "null"]
    return " or ".join(either) if either else escape(str(shape.get("type", "")))


def _shape(shape: dict[str, Any]) -> str:
    parts = [f"<p>{escape(shape.get('description', ''))}</p><dl>"]
    needed = shape.get("required", [])
    for name, one in shape.get("properties", {}).items():
        default = f", by default {escape(json.dumps(one['default']))}" if "default" in one else ""
        optional = "" if name in needed else f", optional{default}"
        values = f" ({', '.join(map(str, one['enum']))})" if "enum" in one else ""
        parts.append(f"<dt><code>{escape(name)}</code> {_named(one)}{escape(values)}{optional}</dt>")
        parts.append(f"<dd>{escape(one.get('description', ''))}</dd>")
    return "".join([*parts, "</dl>"])
