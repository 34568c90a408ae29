"""Pages of what events of reviews are about. Judgments and those who made them have none: raters stay unnamed there."""

from reviews.queries.targets import Place

IN_PROJECT = ("project__slug", "uid")
PLACES = {
    "guideline": Place("guideline", "reviews:guideline", IN_PROJECT, "view_items"),
    "guidelinechange": Place(
        "change to a guideline", "reviews:guideline_change", ("base__project__slug", "uid"), "write_rubric"
    ),
    "importjob": Place("import", "reviews:import", IN_PROJECT, "import"),
    "item": Place("item", "reviews:item", IN_PROJECT, "view_items"),
    "label": Place("label", "reviews:label", ("queue__project__slug", "uid"), "view_labels"),
    "membership": Place("people", "reviews:people", ("project__slug",), "change_members"),
    "queueitem": Place("item", "reviews:item", ("queue__project__slug", "item__uid"), "view_items"),
    "rubric": Place("rubric", "reviews:rubric", IN_PROJECT, "view_items"),
    "webhook": Place("webhook", "reviews:webhook", IN_PROJECT, "manage_webhooks"),
}
