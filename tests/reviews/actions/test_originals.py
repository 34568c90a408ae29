"""Originals: the row as it came in, byte for byte, for those who may see how the run ended, and never in silence."""

import json

import pytest

from reviews.actions.dealing import claim
from reviews.actions.importing import run_import, start_import
from reviews.actions.judging import submit
from reviews.actions.originals import read_original
from reviews.errors import Forbidden, NotFound
from reviews.models import Event, Item
from tests import factories as make

pytestmark = pytest.mark.django_db

ROW = '{"messages": [{"role": "user",   "content": "Hëllo 👋"}, {"role": "assistant", "content": "Hi"}], "x": 1e0}'


@pytest.fixture
def engineer(project):
    user = make.person("Enno")
    make.member(project, user, "engineer")
    return user


@pytest.fixture
def item(project, engineer, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(f"{ROW}\n")
    job = start_import(actor=engineer, project=project, name="runs.jsonl", path=file)
    run_import(job_id=job.pk)
    return Item.objects.get(project=project)


def test_the_original_comes_back_byte_for_byte_and_leaves_an_event(engineer, item):
    _, content = read_original(actor=engineer, uid=item.uid)
    assert content == ROW.encode()
    assert json.loads(content)["x"] == 1.0
    assert Event.objects.filter(verb="original.read", actor=engineer, target_id=item.pk).count() == 1


def test_a_lead_gets_it_only_once_the_item_is_settled(project, item):
    lead = make.lead_of(project)
    with pytest.raises(Forbidden, match="once the item is settled"):
        read_original(actor=lead, uid=item.uid)
    queue = make.queue(project, items=[item], overlap=1)
    alice = make.expert(project, "Alice")
    submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=make.passing(), idempotency_key="k")
    assert read_original(actor=lead, uid=item.uid)[1] == ROW.encode()


@pytest.mark.parametrize("role", ["expert", "admin"])
def test_raters_and_admins_never_get_it(project, item, role):
    user = make.person("Eve")
    make.member(project, user, role)
    with pytest.raises(Forbidden):
        read_original(actor=user, uid=item.uid)
    assert not Event.objects.filter(verb="original.read").exists()


def test_a_stranger_is_told_nothing(item):
    with pytest.raises(NotFound):
        read_original(actor=make.person("Sam"), uid=item.uid)
