"""The examples of docs/api.md, run by the shell in their order as they stand there."""

import re
import shutil
import subprocess

import pyarrow.parquet as pq
import pytest

from reviews.actions.tokens import make_token
from reviews.models import Project
from tests import factories as make
from tests.architecture.source import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

SECTIONS = ("The API", "Set up", "Bring runs in", "Judge", "Settle", "Export")
# Every answer but a success ends the run, with what was said.
BEGINNING = """set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@" || { echo "refused: curl $*" >&2; return 1; }; }
"""


def examples() -> str:
    """The commands of these sections. One with an ellipsis is no example to be followed but shows a form."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    found = []
    for section in re.split(r"^##? ", text, flags=re.MULTILINE)[1:]:
        if section.partition("\n")[0] in SECTIONS:
            found += re.findall(r"^```sh\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(block for block in found if "…" not in block.replace("assay_…", ""))


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the examples are for bash and curl")
def test_a_lead_follows_the_document_from_an_empty_project_to_a_file(live_server, worker, tmp_path):
    lead = make.lead_of(make.project())
    _token, secret = make_token(actor=lead, name="the guide")
    script = examples().replace("http://127.0.0.1:8000", live_server.url).replace("assay_…", secret)
    assert "$A" in script
    done = subprocess.run(
        ["bash", "-c", BEGINNING + script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stderr[-2000:]}\n{done.stdout[-3000:]}"
    assert Project.objects.filter(slug="support-desk", memberships__user=lead).exists()
    (row,) = pq.read_table(next(tmp_path.glob("*labels.parquet"))).to_pylist()
    assert (row["gates_pass"], row["failure"]["step"]) == (False, 3)
