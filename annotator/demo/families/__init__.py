"""The kinds of tickets that come to the desk, thirteen of them."""

from annotator.demo.cases import Family
from annotator.demo.families.accounts import AddressChange, CancelPlan, Downgrade, MergeAccounts
from annotator.demo.families.money import DuplicateCharge, GiftCardBalance, InvoiceCopy
from annotator.demo.families.orders import LateRefund, LostParcel, RefundAboveLimit, WrongItem
from annotator.demo.families.workspaces import OthersTicket, RoleChange

FAMILIES: tuple[Family, ...] = (
    LateRefund(),
    WrongItem(),
    LostParcel(),
    RefundAboveLimit(),
    DuplicateCharge(),
    GiftCardBalance(),
    InvoiceCopy(),
    AddressChange(),
    Downgrade(),
    CancelPlan(),
    MergeAccounts(),
    RoleChange(),
    OthersTicket(),
)
