"""Tables printed in the literature, with the values printed beside them. Numbers are facts; the sources are named."""

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C:
# 12 units, 4 observers; the last unit has one rating only.
KRIPPENDORFF_C = [
    [1, 1, None, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [None, 5, 5, 5],
    [None, None, 1, 1],
    [None, None, 3, None],
]

# The example of the Wikipedia article on Krippendorff's alpha: 15 units, 3 observers.
WIKIPEDIA = [
    [None, 1, None],
    [None, None, None],
    [None, 2, 2],
    [None, 1, 1],
    [None, 3, 3],
    [3, 3, 4],
    [4, 4, 4],
    [1, 3, None],
    [2, None, 2],
    [1, None, 1],
    [1, None, 1],
    [3, None, 3],
    [3, None, 3],
    [None, None, None],
    [3, None, 4],
]

# Krippendorff, Content Analysis (2004), p. 224: two observers, ten units.
KRIPPENDORFF_BINARY = [[1, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [0, 0]]

# Fleiss, Psychological Bulletin 76 (1971) 378: 30 patients, 6 psychiatrists, 5 diagnoses; counts per patient.
FLEISS_COUNTS = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1],
    [3, 0, 0, 1, 2],
    [5, 1, 0, 0, 0],
    [0, 2, 0, 4, 0],
    [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6],
    [0, 1, 0, 5, 0],
    [0, 2, 0, 1, 3],
    [2, 0, 0, 4, 0],
    [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0],
    [4, 0, 0, 0, 2],
    [0, 2, 0, 4, 0],
    [1, 0, 5, 0, 0],
    [0, 0, 0, 0, 6],
]

# Cohen, Educational and Psychological Measurement 20 (1960) 37 and 45.
# The second table again, with weights, in Psychological Bulletin 70 (1968) 213.
COHEN_P37 = [[25, 12, 3], [13, 2, 15], [12, 16, 2]]
COHEN_P45 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
COHEN_1968_WEIGHTS = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]

# SAS PROC FREQ, as printed in the tests of statsmodels; one column is empty.
SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]

# Gwet, Handbook of Inter-Rater Reliability (2014), example 3.2: two raters, 11 units, three ordered categories.
GWET_ORDERED = [[1, None], [2, 3], [3, 3], [3, 3], [2, 2], [2, None], [1, 1], [1, 2], [2, 2], [2, 2], [None, 3]]

# A skewed table: 85% agreement, and chance-corrected values that fall apart (values by R irrCAC 1.4).
GWET_SKEWED = [[80, 7], [8, 5]]
GWET_NEAR_DIAGONAL = [[20, 5, 1, 0], [4, 15, 6, 1], [0, 5, 18, 4], [0, 1, 3, 12]]

# Landis and Koch, Biometrics 33 (1977): two pathologists, 118 slides; kappa and its error in Agresti (1992).
PATHOLOGISTS = [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]

# Gwet, two abstractors and 100 women, three categories (README of R irrCAC 1.4).
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]

# Artstein and Poesio, Computational Linguistics 34 (2008) 558 and 568.
ARTSTEIN_P558 = [[20, 10], [20, 50]]
ARTSTEIN_P568 = [[46, 0, 0], [6, 32, 6], [0, 0, 10]]

# Sets of choices by two raters; alpha with two distances is printed in the tests of DKPro Statistics.
SETS = [
    ["", ""],
    ["A", ""],
    ["A", "A"],
    ["A", "B"],
    ["AB", "A"],
    ["AB", "AC"],
    ["ABC", "ABC"],
    ["C", "AC"],
    ["C", "AC"],
]

# Dawid and Skene, Applied Statistics 28 (1979) 20: 45 patients and five observers, the first of whom saw each patient
# three times. A row holds a patient's labels: three by the first observer, then one by each of the others.
ANAESTHESIA = [
    "1111111", "3334334", "1122122", "2223121", "2223222", "2223322", "1222111", "3333433", "2222223", "2322223",
    "4444444", "2223343", "1111111", "2223212", "1211111", "1112111", "1111111", "1111111", "2222221", "2221322",
    "2222222", "2222221", "2223222", "2212222", "1111111", "1111111", "2322222", "1111111", "1111111", "1121121",
    "1111111", "3333233", "1111111", "2222222", "2223232", "4334343", "2212232", "2323233", "3333432", "1111111",
    "1111111", "1212111", "2322222", "1211111", "2222222",
]  # fmt: skip

# Krippendorff, Sociological Methodology 25 (1995) 57: spans as (begin, length, observer) on a continuum of 24, with the
# disagreement observed.
UNITIZING = {
    "A": ([(2, 8, 0), (14, 6, 0), (4, 4, 1), (15, 2, 1)], 0.03125, 0.553),
    "B": (
        [(0, 18, 0), (0, 2, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1), (6, 3, 1), (9, 1, 1)],
        2.26736,
        -0.926,
    ),
    "C": (
        [(2, 6, 0), (10, 2, 0), (14, 4, 0), (20, 2, 0), (0, 2, 1), (4, 4, 1), (10, 4, 1), (16, 2, 1), (20, 2, 1)],
        0.02777,
        0.679,
    ),
    "D": (
        [
            (0, 2, 0), (2, 8, 0), (10, 4, 0), (14, 6, 0), (20, 4, 0),
            (0, 4, 1), (4, 4, 1), (8, 7, 1), (15, 2, 1), (17, 7, 1),
        ],
        0.38715,
        0.066,
    ),
}  # fmt: skip
