from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.embedding_model import encoder, model_folder
from tests.integration.conftest import postgres, template
from tests.integration.support import Template
from tests.live import Live, live

__all__ = ["encoder", "model_folder", "postgres", "template"]


@pytest.fixture(scope="session")
def live_service(template: Template) -> Iterator[Live]:
    """The real service, which a test begins with an empty memory."""
    with live(template) as opened:
        yield opened
