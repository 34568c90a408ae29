"""What can go wrong in words a person understands: every error an action raises, each with its HTTP status."""


class AssayError(Exception):
    """Something was refused. The message says what happened and what to do; `field` names the input at fault."""

    status = 400

    def __init__(self, message: str, *, field: str | None = None):
        super().__init__(message)
        self.message = message
        self.field = field


class Forbidden(AssayError):
    """This person may not do this."""

    status = 403


class NotFound(AssayError):
    """There is no such thing, or this person may not know of it."""

    status = 404


class Conflict(AssayError):
    """Somebody or something else was first; `current` holds what now stands, where it helps."""

    status = 409

    def __init__(self, message: str, *, field: str | None = None, current: object = None):
        super().__init__(message, field=field)
        self.current = current


class Invalid(AssayError):
    """The input breaks one or more rules; `errors` holds every one of them as field -> sentence."""

    status = 422

    def __init__(self, errors: dict[str, str]):
        super().__init__(" ".join(errors.values()), field=next(iter(errors), None))
        self.errors = errors


class NothingToDeal(Conflict):
    """There is no item for this rater now; the message says why. `qualification` names one they have yet to pass."""

    def __init__(self, message: str, *, qualification: object = None):
        super().__init__(message)
        self.qualification = qualification
