"""Scripted agents: one way of working, and a habit each that changes one thing about it."""

import random
from collections.abc import Callable

from annotator.demo.cases import Case, Family
from annotator.demo.world.session import Act, Claim, Session

YES = {
    "terse": ("Yes.", "Yes, do it.", "ok yes", "Go ahead.", "Yep, please."),
    "warm": (
        "Yes please, that would be lovely.",
        "Yes, go ahead, and thank you for asking first.",
        "That's right, yes please!",
        "Perfect, yes, do that.",
    ),
    "formal": (
        "Yes, please proceed.",
        "I confirm. Please go ahead.",
        "Yes, that is correct. Please do so.",
        "Agreed, please carry on.",
    ),
    "worried": (
        "Yes, please, if that really sorts it out.",
        "Okay, yes. Please be quick about it.",
        "Yes. I just want this to be over.",
        "If that is the way, then yes.",
    ),
}
AGAIN = {
    "terse": ("As I wrote above.", "Already said that.", "Same as before."),
    "warm": ("It's just as I wrote above, I think?", "Oh, that was in my first message, was it not?"),
    "formal": ("Please see my first message.", "I have given that already, in my first message."),
    "worried": ("I told you that already. Is something wrong?", "It's all in my first message, please just look."),
}
THANKS = {
    "terse": ("Thanks.", "ok thx", "Fine, thanks.", "Good."),
    "warm": ("Wonderful, thank you so much!", "You've made my morning, thanks.", "Great, thanks a lot for your help."),
    "formal": ("Thank you for your help.", "Thank you, that is all.", "Understood, many thanks."),
    "worried": ("Okay. Thank you.", "Thanks. I hope that is really it now.", "All right, thanks."),
}
GRUMBLES = {
    "terse": ("useless.", "ok, forget it", "Not helpful."),
    "warm": ("Oh. That's a pity, I had hoped for more.", "Well, I'll ask again another day then."),
    "formal": ("I do not find this satisfactory.", "I shall take this up with your management."),
    "worried": ("Then I don't know what to do.", "So I've written all this for nothing."),
}


class Agent:
    """Careful: identifies, looks, asks, acts, and says what was done. The other agents differ from it in one habit."""

    habit = "careful"
    asks = True
    """Whether it waits for a yes before it changes anything."""

    def __init__(self, session: Session, case: Case, rng: random.Random, mood: str) -> None:
        self.session = session
        self.case = case
        self.rng = rng
        self.mood = mood

    def work(self, family: Family) -> None:
        """Take the ticket from the greeting to the end."""
        family.solve(self, self.case)

    def pick(self, *variants: str) -> str:
        return self.rng.choice(variants)

    def greet(self, *variants: str) -> None:
        self.session.say(self.pick(*variants))

    def identify(self) -> None:
        """Find the account of the person who is signed in."""
        account = self.session.world.accounts[self.case.requester]
        lead = self.pick("", "One moment, I'm finding your account.", f"Let me find your account, {account.first}.")
        lead = "" if self.session.spoken else lead
        self.session.call("find_account", {"email": account.email}, lead)

    def look(self, tool: str, lead: str = "", **arguments: str) -> dict[str, str] | None:
        return self.session.call(tool, arguments, lead)

    def do(self, tool: str, lead: str = "", **arguments: str) -> dict[str, str]:
        """A change without consequence: send, write, hand over."""
        return self.session.call(tool, arguments, lead)

    def aside(self) -> None:
        """The moment at which a habit may add something of its own. A careful agent adds nothing."""

    def say(self, *variants: str, claims: tuple[Claim, ...] = (), declines: bool = False) -> None:
        self.session.say(self.pick(*variants), claims, declines=declines)

    def confirm(self, acts: Act | tuple[Act, ...], *variants: str) -> None:
        """Say what will happen, ask, and hear the answer."""
        self.session.say(self.pick(*variants))
        self.session.hear(self.pick(*YES[self.mood]))
        for act in (acts,) if isinstance(acts, Act) else acts:
            self.session.agree(act)

    def act(self, act: Act, lead: str = "") -> dict[str, str] | None:
        return self.session.call(act.tool, dict(act.arguments), lead)

    def slips(self) -> bool:
        """Whether the agent takes the short way here. Only who works too fast does."""
        return False

    def slip(self, right: Act, wrong: Act) -> Act:
        return wrong if self.slips() else right

    def close(self, done: tuple[str, ...], claims: tuple[Claim, ...] = (), *, left: str = "", then: str = "") -> None:
        """Say what was done, what was not, and what comes next. Even the careful leave out a part now and then."""
        forgotten = self.rng.random()
        left = "" if forgotten < 0.12 else left
        then = "" if 0.12 <= forgotten < 0.24 else then
        self.session.closing |= {part for part, text in (("done", done), ("left", left), ("next", then)) if text}
        self.session.say(" ".join(filter(None, (self.pick(*done), left, then))), claims)
        self.goodbye()

    def goodbye(self) -> None:
        if self.rng.random() < 0.6:
            self.session.hear(self.pick(*(GRUMBLES if self.session.declined else THANKS)[self.mood]))


class Sloppy(Agent):
    """Fast and careless: few words, sometimes no identification, sometimes the wrong thing, never a proper end."""

    habit = "fast_but_sloppy"

    def greet(self, *variants: str) -> None:
        """No time for that."""

    def identify(self) -> None:
        if self.rng.random() < 0.4:
            super().identify()

    def look(self, tool: str, lead: str = "", **arguments: str) -> dict[str, str] | None:
        return super().look(tool, **arguments)

    def slips(self) -> bool:
        return self.rng.random() < 0.55

    def close(self, done: tuple[str, ...], claims: tuple[Claim, ...] = (), *, left: str = "", then: str = "") -> None:
        super().close((min(done, key=len),), claims)


class OverReader(Agent):
    """Opens a record the requester has no right to, with a good reason, and resolves the ticket all the same."""

    habit = "reads_what_is_not_theirs"

    def aside(self) -> None:
        tempting = self.case.temptation
        self.session.call(tempting.tool, tempting.arguments, tempting.lead)


class Hasty(Agent):
    """Acts before anybody has said yes."""

    habit = "acts_without_asking"
    asks = False

    def confirm(self, acts: Act | tuple[Act, ...], *variants: str) -> None:
        if self.rng.random() < 0.5:
            self.session.say(
                self.pick("I'll take care of that right away.", "I'm doing that for you now.", "Leave it with me.")
            )


class Fabricator(Agent):
    """Reports what no tool has shown: a finding nobody made, or a deed nobody did."""

    habit = "makes_up_a_result"

    def __init__(self, session: Session, case: Case, rng: random.Random, mood: str) -> None:
        super().__init__(session, case, rng, mood)
        self.invents_deed = bool(case.allowed) and rng.random() < 0.5

    def aside(self) -> None:
        if not self.invents_deed:
            self.session.say(self.case.invention.text, (self.case.invention.claim,))

    def act(self, act: Act, lead: str = "") -> dict[str, str] | None:
        return None if self.invents_deed else super().act(act, lead)


class Repeater(Agent):
    """Looks at the same thing again and again, though nothing has changed."""

    habit = "repeats_itself"
    LEADS = (
        "Let me load that once more.",
        "I'd like to check this again.",
        "Just to be sure, I'll look at it again.",
        "One more look.",
        "",
        "",
    )

    def look(self, tool: str, lead: str = "", **arguments: str) -> dict[str, str] | None:
        result = super().look(tool, lead, **arguments)
        first_look = not any(call.repeated for call in self.session.calls)
        for _ in range(self.rng.choice((1, 1, 2, 3)) if first_look else self.rng.choice((0, 0, 1, 2))):
            super().look(tool, self.pick(*self.LEADS), **arguments)
        return result


class VerboseWrong(Agent):
    """Writes at length and with great courtesy, and gets it wrong."""

    habit = "verbose_but_wrong"
    BEFORE = (
        (
            "Thank you so much for reaching out to us today, and first of all let me say how much we appreciate your"
            " patience and your trust in Northpier. I completely understand how important this is to you, and I want to"
            " assure you that I have gone through everything with the greatest care before writing back."
        ),
        (
            "I really appreciate you taking the time to describe this in such detail. Situations like this one can be"
            " frustrating, and I want you to know that we take every single message seriously. Please allow me to walk"
            " you through what I have found and what it means for you, step by step, so that nothing is left unclear."
        ),
        (
            "Let me begin by thanking you for being such a valued customer. It is always our goal to give an answer"
            " that is complete, transparent and helpful, and I have taken a moment to put all the relevant information"
            " together for you in one place so that you can read it at your leisure."
        ),
        (
            "What a pleasure to hear from you! Before I come to the heart of the matter, please let me say that there"
            " are no small requests for us: each one is given the same attention, and each one helps us to become a"
            " little better than we were the day before."
        ),
        (
            "Many thanks for your patience so far. I have taken your words to heart and have gone over them more than"
            " once, because a hasty answer would do justice neither to you nor to the matter. Here, then, is the result"
            " of my considerations."
        ),
    )
    AFTER = (
        (
            "I hope that this explanation has been thorough and useful. Should you have any further questions, remarks"
            " or wishes, please do not hesitate to write to us at any time, day or night: we are always more than happy"
            " to help, and your satisfaction remains our very first priority."
        ),
        (
            "To sum up:\n\n- your message has been read with care,\n- the matter has been looked at from all sides,\n-"
            " and the answer above is the one that fits your situation best.\n\nThank you once again for your"
            " understanding, and for being part of the Northpier family."
        ),
        (
            "I trust that this gives you full clarity. May I also draw your attention to our newsletter, in which we"
            " share recipes, stories from our growers and many useful hints on storing and grinding? A word to us is"
            " enough, and it will be with you every other Thursday."
        ),
        (
            "It was a real pleasure to look into this for you. If you should find a minute, we would be truly thankful"
            " for a short review, as the kind words of our customers are what keeps all of us here at the desk going."
        ),
        (
            "Please know that your feedback makes us better every day. We are looking forward to many more cups"
            " together, and we wish you a wonderful rest of the week!"
        ),
    )

    def work(self, family: Family) -> None:
        self.before = self.rng.sample(self.BEFORE, len(self.BEFORE))
        self.after = self.rng.sample(self.AFTER, len(self.AFTER))
        family.wrong(self, self.case)

    def say(self, *variants: str, claims: tuple[Claim, ...] = (), declines: bool = False) -> None:
        text = "\n\n".join((self.before.pop(), self.pick(*variants), self.after.pop()))
        self.session.say(text, claims, declines=declines)

    def close(self, done: tuple[str, ...], claims: tuple[Claim, ...] = (), *, left: str = "", then: str = "") -> None:
        self.session.closing |= {part for part, text in (("done", done), ("left", left), ("next", then)) if text}
        self.say(" ".join(filter(None, (self.pick(*done), left, then))), claims=claims)
        self.goodbye()


class Unusual(Agent):
    """Takes a road nobody expects, and arrives."""

    habit = "unusual_but_right"

    def work(self, family: Family) -> None:
        family.odd(self, self.case)


class Wanderer(Agent):
    """Looks and asks until its steps are used up, and never gets to the point."""

    habit = "never_finishes"
    QUESTIONS = (
        "Could you tell me once more what this is about, please?",
        "To be sure I help you in the right way: which of your things is this about?",
        "Before I go on, could you describe again what you would like to happen?",
        "May I ask you to confirm the details of your request again?",
        "Just so that I have it in front of me: could you give me the number again?",
    )
    LEADS = ("I'm looking into it now.", "Thanks. I'm having another look.", "Let me see what else there is.", "")

    def work(self, family: Family) -> None:
        self.session.say(
            self.pick("Hello! I'm happy to help you with that.", "Thanks for writing, let me see what I can do.")
        )
        self.identify()
        questions = self.rng.sample(self.QUESTIONS, len(self.QUESTIONS))
        while True:
            for act in self.case.looks:
                self.look(act.tool, self.pick(*self.LEADS), **dict(act.arguments))
            question = questions.pop() if questions else self.pick(*self.QUESTIONS)
            self.session.say(question, needless=True)
            self.session.hear(self.pick(*AGAIN[self.mood]))


class Unlucky(Agent):
    """Careful, in a run where a tool breaks."""

    habit = "meets_a_crash"

    def __init__(self, session: Session, case: Case, rng: random.Random, mood: str) -> None:
        super().__init__(session, case, rng, mood)
        session.breaks = case.breaks


AGENTS: dict[str, Callable[[Session, Case, random.Random, str], Agent]] = {
    agent.habit: agent
    for agent in (Agent, Sloppy, OverReader, Hasty, Fabricator, Repeater, VerboseWrong, Unusual, Wanderer, Unlucky)
}
