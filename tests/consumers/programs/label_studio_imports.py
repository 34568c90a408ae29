"""A real Label Studio, on a file of SQLite of its own, makes a project of the config and imports the tasks.

Its SDK looks at every answer first. What it holds then is exported from it again and told.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import label_studio

folder, data = Path(sys.argv[1]), tempfile.mkdtemp()
# Nothing is sent anywhere.
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
    "LABEL_STUDIO_BASE_DATA_DIR": data,
    "DJANGO_DB": "sqlite",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "COLLECT_ANALYTICS": "0",
    "LATEST_VERSION_CHECK": "0",
    "LOG_LEVEL": "ERROR",
}
sys.path.insert(0, str(Path(label_studio.__file__).parent))

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from label_studio_sdk.label_interface import LabelInterface  # noqa: E402

call_command("migrate", verbosity=0)

from organizations.models import Organization  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402
from users.models import User  # noqa: E402

config = (folder / "label_studio.xml").read_text(encoding="utf-8")
tasks = json.loads((folder / "label_studio.json").read_text(encoding="utf-8"))


def problems() -> list[str]:
    """What the SDK has against the config or an answer; it tells more of predictions, which have the same answers."""
    interface = LabelInterface(config)
    interface.validate()
    results = [annotation["result"] for task in tasks for annotation in task["annotations"]]
    return [found for one in results for found in interface.validate_prediction({"result": one}, return_errors=True)]


def imported() -> list[dict[str, Any]]:
    user = User.objects.create_user("lead@example.com", "password")
    user.active_organization = Organization.create_organization(created_by=user, title="Consumers")
    user.save()
    client = APIClient()
    client.force_authenticate(user)
    project = ok(client.post("/api/projects/", {"title": "Labels", "label_config": config}, format="json"))["id"]
    ok(client.post(f"/api/projects/{project}/import", tasks, format="json"))
    answer = client.get(f"/api/projects/{project}/export?exportType=JSON")
    assert answer.status_code == 200, answer.content
    whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return json.loads(whole)


def ok(answer: Any) -> dict[str, Any]:
    assert answer.status_code in (200, 201), answer.content[:2000]
    return answer.json()


print("\nREAD", json.dumps({"problems": problems(), "tasks": imported()}))
