"""The documentation page, with its scripts from an installed package, so that it needs no network."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

__all__ = ["add_docs"]

_ASSETS = "/docs/assets"


def add_docs(app: FastAPI) -> None:
    """Add `/docs` and the files that it loads."""
    assets = Path(str(files("fastapi_offline"))) / "static"

    async def docs(request: Request) -> HTMLResponse:
        root = request.scope.get("root_path", "").rstrip("/")
        return get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=f"{app.title} - API",
            swagger_js_url=f"{root}{_ASSETS}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{_ASSETS}/swagger-ui.css",
            swagger_favicon_url=f"{root}{_ASSETS}/favicon.png",
        )

    app.mount(_ASSETS, StaticFiles(directory=assets), name="docs-assets")
    app.add_route("/docs", docs, include_in_schema=False)
