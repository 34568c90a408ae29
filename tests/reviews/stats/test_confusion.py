"""Which answers are mixed up, and on which runs."""

from reviews.stats.confusion import confusions, disagreeing_units
from reviews.stats.counts import from_matrix


def test_the_most_frequent_confusion_comes_first():
    ratings = from_matrix([[1, 2], [2, 1], [2, 2], [0, 1], [1, 2]], scale=[0, 1, 2])
    first, second = confusions(ratings)
    assert (first.first, first.second, first.units) == (1, 2, (0, 1, 4))
    assert (second.first, second.second, second.units, second.n_units) == (0, 1, (3,), 1)
    assert disagreeing_units(ratings).tolist() == [0, 1, 3, 4]


def test_three_answers_on_one_run_are_three_confusions():
    assert len(confusions(from_matrix([[0, 1, 2]], scale=[0, 1, 2]))) == 3


def test_full_agreement_has_none():
    assert confusions(from_matrix([[1, 1]], scale=[0, 1])) == []
