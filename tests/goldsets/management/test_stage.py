"""`manage.py stage`: a reviewer put to work, looked after and taken out from the shell."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests import factories as make
from tests.factories import stages
from tests.factories.stages import REFUND

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    return stages.keeping_queue(make.project())


def said(queue, *options):
    out = io.StringIO()
    call_command("stage", f"{queue.project.slug}/{queue.slug}", *options, stdout=out)
    return out.getvalue()


def test_begun_looked_at_and_retired(queue):
    assert "No reviewer has been at work" in said(queue)
    reviewer = stages.signed(queue)
    stages.more(queue, REFUND)
    assert (
        json.loads(said(queue, "--start", str(reviewer.number), "--audit-share", "0.2", "--json"))["state"] == "shadow"
    )
    seen = said(queue, "--look")
    assert "1 watched" in seen
    assert "13 more without an error would bear it out" in seen
    assert "retired. Another will do." in said(queue, "--retire", "Another will do.")


def test_a_refusal_is_a_sentence_and_an_exit(queue):
    with pytest.raises(CommandError, match="no single signed reviewer"):
        said(queue, "--start", "7")
    with pytest.raises(CommandError, match="No reviewer is at work"):
        said(queue, "--decide")
    stages.shadow(queue)
    with pytest.raises(CommandError, match="would bear it out"):
        said(queue, "--decide")
    with pytest.raises(CommandError, match="Only one that decides"):
        said(queue, "--roll-back", "Why not")
