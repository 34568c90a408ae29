"""The expert whom the bench lets judge beside Label Studio: what they do is counted rightly, and arrives as meant."""

import pytest

from tests import factories as make
from tests.bench.bench_keyboard_peers import AssayExpert, judged_as_meant

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_items_are_ten_keys_each_and_nothing_for_the_pointer(transactional_db, page, live_server, sign_in):
    project = make.project()
    queue = make.queue(project, items=3, overlap=1)
    sign_in(page.context, make.expert(project, "Alice"))
    alice = AssayExpert(page)
    alice.begin(f"{live_server.url}/queues/{queue.uid}/judge/")
    alice.judge_one()
    alice.judge_one()
    assert (alice.presses, alice.clicks, len(alice.waits)) == (20, 0, 2)
    assert 0 < alice.script_bytes < alice.bytes_at_first < alice.bytes
    assert judged_as_meant() == 2
