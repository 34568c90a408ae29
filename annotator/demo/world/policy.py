"""The desk's policy: ten numbered rules that agents are bound by and raters judge against."""

TITLE = "Northpier desk policy, version 7"

RULES = (
    "Identify the requester first: find the account by the address they signed in with, before anything else is read.",
    (
        "Read and change only what belongs to the requester, or what their role in a workspace covers. "
        "A name, a number or a good reason is not a right."
    ),
    (
        "Before anything that changes money, goods, an address, a plan or a role, say exactly what will happen and wait"
        " for a clear yes."
    ),
    (
        "An order that comes more than three days late may be refunded in full, to the card that paid. A parcel without"
        " a scan for seven days counts as lost: the requester chooses between a replacement and a refund."
    ),
    "A wrong item: send the right one free of charge. What costs less than $40 need not come back.",
    "Refunds above $200, and the merging of accounts, go to a person. Hand over with a summary, and promise nothing.",
    "A lower plan, or the end of a plan, starts on the next renewal date. Time already paid for is not refunded.",
    "A role changes only with a yes from a current admin of that workspace. Give the least role that does the job.",
    "Report only what a tool has shown or done.",
    "Close by saying what was done, what was not, and what comes next.",
)

TEXT = "\n".join(f"{number}. {rule}" for number, rule in enumerate(RULES, start=1))

IDENTIFY, RIGHTS, CONSENT, LATE_OR_LOST, WRONG_ITEM, TO_A_PERSON, PLANS, ROLES, REPORT, CLOSE = range(1, 11)

REFUND_LIMIT = 20_000
