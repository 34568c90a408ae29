"""Pages of what events are about, as far as they stand in goldsets; a queue's page is one of them."""

from reviews.queries.targets import Place

PLACES = {
    "dataset": Place("data set", "goldsets:dataset", ("uid",), "export"),
    "datasetversion": Place("version of a data set", "goldsets:dataset_version", ("dataset__uid", "number"), "export"),
    "grader": Place("grader", "goldsets:grader", ("uid",), "view_graders"),
    "graderversion": Place("grader", "goldsets:grader", ("grader__uid",), "view_graders"),
    "judgerun": Place("run of a judge", "goldsets:judge_run", ("uid",), "view_graders"),
    "leakreport": Place("leak check", "goldsets:leaks", ("version__dataset__uid", "version__number"), "view_leaks"),
    "proberun": Place("probes", "goldsets:probe_run", ("uid",), "view_graders"),
    "queue": Place("queue", "goldsets:overview", ("uid",), "view_agreement"),
    "release": Place("release", "goldsets:release", ("version__dataset__uid", "version__number"), "view_leaks"),
    "reviewer": Place("reviewer", "goldsets:reviewer", ("uid",), "view_reviewers"),
    "stage": Place("stages", "goldsets:stages", ("queue__uid",), "manage_queue"),
}
