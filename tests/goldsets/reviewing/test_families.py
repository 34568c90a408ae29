"""No split but by family, the same for everybody who asks."""

from hypothesis import given
from hypothesis import strategies as st

from goldsets.reviewing.families import SHARES, Part, split_families
from tests.goldsets.reviewing.made import labelled


@given(n=st.integers(0, 120), families=st.integers(1, 30), seed=st.text(max_size=5))
def test_every_example_is_in_one_part_and_every_family_too(n, families, seed):
    examples = labelled(n, families=families)
    parts = split_families(examples, seed=seed)
    assert sorted(e.position for part in parts.values() for e in part) == list(range(n))
    of = {part: {example.family for example in found} for part, found in parts.items()}
    assert sum(len(found) for found in of.values()) == len(set.union(*of.values()))
    assert split_families(examples, seed=seed) == parts


def test_the_parts_come_close_to_their_shares_of_passes_and_of_fails():
    examples = labelled(2000, families=60, passing=0.2)
    parts = split_families(examples, seed="")
    for label in (0, 1):
        n = sum(example.label == label for example in examples)
        for part in Part:
            share = sum(example.label == label for example in parts[part]) / n
            assert abs(share - SHARES[part]) < 0.05


def test_what_is_sealed_goes_to_the_test_alone():
    sealed = {"family-3", "family-7"}
    parts = split_families(labelled(400), seed="", sealed=sealed)
    assert sealed <= {example.family for example in parts[Part.TEST]}
    assert not any(e.family in sealed for part in Part if part is not Part.TEST for e in parts[part])


def test_what_is_sealed_or_for_calibration_stays_so_and_the_rest_is_spread_over_the_other_parts():
    examples = labelled(1000, families=40)
    sealed, certifying = [f"family-{n}" for n in range(4)], [f"family-{n}" for n in range(4, 20)]
    parts = split_families(examples, seed="s", sealed=sealed, certifying=certifying)
    families = {part: {example.family for example in found} for part, found in parts.items()}
    # 40% are given to calibration, twice its share: the others get less, in proportion.
    assert families[Part.CALIBRATION] == set(certifying)
    assert set(sealed) <= families[Part.TEST]
    assert [len(families[part]) for part in (Part.TRAIN, Part.DEVELOPMENT, Part.TEST)] == [12, 3, 9]
